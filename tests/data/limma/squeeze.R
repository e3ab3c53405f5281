# What limma makes of variances with equal and unequal degrees of freedom: Rscript squeeze.R > squeeze.csv
# (Debian 12: r-bioc-limma 3.54.1)
suppressPackageStartupMessages(library(limma))
set.seed(1)
cases <- list(
  spread = list(variance = c(12, 31, 8, 55, 21, 17, 42, 9, 27, 190) * 1e-5, df = rep(7, 10)),
  alike = list(variance = c(12, 31, 8, 55, 21, 17, 42, 9, 27, 190) * 1e-5, df = rep(3, 10)),
  unequal = list(variance = 2e-4 * exp(rnorm(30, 0, 1)), df = rep(c(3, 5, 11), 10)),
  many = list(variance = 2e-4 / (rchisq(42, 6) / 6) * rchisq(42, 3) / 3, df = rep(3, 42)),
  few = list(variance = c(1, 9, 90) * 1e-5, df = c(11, 3, 7))
)
cat("case,variance,df,prior_variance,prior_df,posterior\n")
for (name in names(cases)) {
  case <- cases[[name]]
  fit <- squeezeVar(case$variance, case$df)
  for (i in seq_along(case$variance)) {
    cat(sprintf("%s,%.15g,%g,%.15g,%.15g,%.15g\n", name, case$variance[i], case$df[i], fit$var.prior, fit$df.prior, fit$var.post[i]))
  }
}
