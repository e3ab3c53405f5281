//! Tests that need what not every host has.

#![allow(dead_code, reason = "every test program uses a part of it")]

/// Says that a test is left out, and why. Where `DBVERSUS_TEST_REQUIRE` is set, that is a failure.
pub fn skip(why: &str) {
    let required = std::env::var_os("DBVERSUS_TEST_REQUIRE").is_some();
    assert!(!required, "left out, though DBVERSUS_TEST_REQUIRE is set: {why}");
    eprintln!("skipped: {why}");
}

/// What the environment says of a server to test with; without it the test is left out.
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        skip(&format!("{name} is not set"));
    }
    value
}
