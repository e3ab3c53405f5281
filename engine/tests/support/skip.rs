//! Tests that need what not every host has.

#![allow(dead_code, reason = "every test program uses a part of it")]

/// Says that a test is left out, and why. Where `DBVERSUS_TEST_REQUIRE` is set that is a failure (tests/left_out.py).
pub fn skip(why: &str) {
    leave_out(why, false);
}

/// What the environment says of a server to test with; without it the test is left out.
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        let script = if name.contains("_PG_") { "postgres" } else { "mysql" };
        leave_out(
            &format!("no build: {name} is not set; `python tests/with_{script}.py cargo test` starts a server"),
            true,
        );
    }
    value
}

fn leave_out(why: &str, is_build: bool) {
    let given = |name: &str| std::env::var(name).unwrap_or_default();
    let (demanded, without) = (given("DBVERSUS_TEST_REQUIRE"), given("DBVERSUS_TEST_WITHOUT"));
    let mut lacking = without.split(';').map(str::trim).filter(|words| !words.is_empty());
    let may_be = demanded.is_empty() || demanded == "builds" && !is_build || lacking.any(|words| why.contains(words));
    assert!(
        may_be,
        "left out, though DBVERSUS_TEST_REQUIRE is {demanded}: {why}; DBVERSUS_TEST_WITHOUT names what may be missing"
    );
    eprintln!("skipped: {why}");
}
