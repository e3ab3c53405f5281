//! Driving load in interleaved slots.
//!
//! `lane` runs events on one client's way to one target, at a `pace`, where a test says so each on a connection of its own
//! (`anew`); `client` is a thread with its connections, `crew` all of them, `roles` the kinds of them; `test` is an open test,
//! `rows` alternates its targets in slots as `part` defines them, or in `slices` of work with an end; `check` compares their
//! `answers`. `series` tells what happens second by second, from what clients show in `live`. `target` is a server: frozen,
//! drained, and the threads of it that serve us; `data` is what is put into it.

pub mod affinity;
mod anew;
mod answers;
pub mod check;
pub mod client;
pub mod clock;
pub mod contender;
pub mod crew;
pub mod data;
pub mod lane;
pub mod live;
pub mod pace;
pub mod part;
pub mod roles;
pub mod rows;
pub mod series;
pub mod slices;
pub mod test;
pub mod trouble;

#[cfg(test)]
mod fake;
