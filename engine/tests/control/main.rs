//! The engine's program from outside: lines in, lines out; with real servers where the environment names them.

mod definitions;
mod guard;
mod harness;
mod limits;
mod mysql;
mod postgres;
mod program;
#[path = "../support/skip.rs"]
mod skip;
#[path = "../support/tree.rs"]
mod tree;
