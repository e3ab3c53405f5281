//! The load engine of dbversus: drives load against DBMS servers and accounts what it costs.

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
