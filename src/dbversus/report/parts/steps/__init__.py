"""Measures of tests that last: stalls, rates held, response times in fixed buckets, columns of the Insert Benchmark."""
