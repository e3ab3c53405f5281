//! CPU, IO, faults and switches of servers, clients and the host, read at the edges of slots.
//!
//! `gauge` re-reads counter files, `tree` finds processes, `process` reads one, `cgroup` a control group; `server`, `client`
//! and `host` put them together for the three parties of a measurement. `kind` names what threads are for, `probe` finds
//! those that serve our connections, `pulse` tells whether a server is at work.

pub mod cgroup;
pub mod client;
pub mod gauge;
pub mod host;
pub mod kind;
pub mod probe;
pub mod process;
pub mod pulse;
pub mod server;
pub mod tree;

#[cfg(test)]
pub mod fake_server;

pub use client::ThreadMeter;
pub use host::HostMeter;
pub use kind::Kinds;
pub use server::{AccountSpec, ServerMeter};
