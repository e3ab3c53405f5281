//! The engine's program from outside: lines in, lines out; with real servers where the environment names them.

mod definitions;
mod guard;
mod harness;
mod mysql;
mod postgres;
mod program;
