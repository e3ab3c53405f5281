//! CPU, IO, faults and switches of servers, clients and the host, read at the edges of slots.
//!
//! `gauge` re-reads counter files, `tree` finds processes, `process` reads one, `cgroup` a control group; `server`, `client`
//! and `host` put them together for the three parties of a measurement.

pub mod cgroup;
pub mod client;
pub mod gauge;
pub mod host;
pub mod process;
pub mod server;
pub mod tree;

pub use client::ThreadMeter;
pub use host::HostMeter;
pub use server::{AccountSpec, ServerMeter};
