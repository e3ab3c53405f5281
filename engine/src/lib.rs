//! The load engine of dbversus: drives load against DBMS servers and accounts what it costs.
//!
//! `control` carries out commands, `guard` cleans up after servers; `drive` runs tests, `account` reads what they cost,
//! `record` is what is kept of that; `wire` speaks the protocols of DBMSs, `workload` says what to send. Imports go one way,
//! and modules import each other in no circle, as tests/test_engine_imports.py makes sure:
//! control, guard → drive → account → record → wire → workload.

pub mod account;
pub mod control;
pub mod drive;
pub mod guard;
pub mod record;
pub mod wire;
pub mod workload;

#[cfg(test)]
#[path = "../tests/support/skip.rs"]
mod skip;
#[cfg(test)]
#[path = "../tests/support/tree.rs"]
mod test_tree;
