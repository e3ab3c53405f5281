//! Driving load in interleaved slots.
//!
//! `lane` runs events on one client's way to one target, `closed` and `open_loop` are the two paces at which it is driven,
//! `pausing` the first of them for events in which the client pauses;
//! `client` is a thread with its connections, `crew` all of them, `roles` the kinds of them; `test` is an open test, `rows`
//! alternates its targets in slots as `part` defines them, or in `slices` of work with an end; `check` compares their
//! `answers`, `drain` lets a server pay what was left. `load` fills tables, `script` runs what somebody else has cut into
//! statements. `series` tells what happens second by second, from what clients show in `live`. `target` is a server with its
//! `freeze`, `backends` finds those of its threads that serve us.

pub mod affinity;
mod answers;
pub mod backends;
pub mod check;
pub mod client;
pub mod clock;
pub mod closed;
pub mod crew;
pub mod drain;
pub mod freeze;
pub mod lane;
pub mod live;
pub mod load;
pub mod open_loop;
pub mod part;
pub mod pausing;
pub mod roles;
pub mod rows;
pub mod script;
pub mod series;
pub mod slices;
pub mod target;
pub mod test;
pub mod trouble;

#[cfg(test)]
mod fake;
