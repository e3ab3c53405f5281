//! Driving load in interleaved slots.
//!
//! `lane` runs events on one client's way to one target, `closed` and `open_loop` are the two paces at which it is driven;
//! `client` is a thread with its connections, `crew` all of them; `test` is an open test, `rows` alternates its targets in
//! slots as `part` defines them, `check` compares their answers, `drain` lets a server pay what was left. `load` fills
//! tables. `target` is a server with its `freeze`, `backends` finds those of its threads that serve us.

pub mod affinity;
pub mod arrivals;
pub mod backends;
pub mod check;
pub mod client;
pub mod clock;
pub mod closed;
pub mod crew;
pub mod drain;
pub mod freeze;
pub mod lane;
pub mod load;
pub mod open_loop;
pub mod part;
pub mod rows;
pub mod target;
pub mod test;
pub mod trouble;

#[cfg(test)]
mod fake;
