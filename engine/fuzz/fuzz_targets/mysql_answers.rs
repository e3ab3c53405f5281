//! Whatever a server sends, from its greeting on, the mysql wire neither panics nor takes memory on its word.
//!
//! `cargo +nightly fuzz run mysql_answers CORPUS`, or with a stable compiler, without sanitizers:
//!
//! ```sh
//! export RUSTFLAGS="--cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
//!   -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
//!   -Cllvm-args=-sanitizer-coverage-trace-compares"
//! cargo build --target x86_64-unknown-linux-gnu
//! target/x86_64-unknown-linux-gnu/debug/mysql_answers -max_len=4096 -malloc_limit_mb=16 CORPUS
//! ```
//!
//! A good corpus is what `tests/mysql_mutations.rs`, which does the same with mutations of its own, writes to the directory
//! that DBVERSUS_FUZZ_CORPUS names.

#![no_main]

#[path = "../../tests/support/mysql_conversation.rs"]
mod mysql_conversation;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|sent: &[u8]| {
    let _ = mysql_conversation::hold(sent.to_vec());
});
