//! CPU, IO, faults and switches of servers, clients and the host, read at the edges of slots.
//!
//! `gauge` re-reads counter files, `tree` finds processes, `process` reads one, `family` sums over those of a server, `cgroup`
//! reads a control group, `cpu_lines` the CPUs, `disk` the device below the page cache, `kernel_threads` the kernel's own work;
//! `server`, `client` and `host` put them together for the three parties of a measurement. `kind` names what threads are for, `probe` finds those that serve our connections, `pulse` tells whether a server is at work.

pub mod cgroup;
pub mod client;
pub mod cpu_lines;
pub mod disk;
pub mod family;
pub mod gauge;
pub mod host;
pub mod kernel_threads;
pub mod kind;
pub mod probe;
pub mod process;
pub mod pulse;
pub mod server;
pub mod tree;

#[cfg(test)]
pub mod fake_server;
#[cfg(test)]
pub mod test_group;

pub use client::ThreadMeter;
pub use disk::{DiskMeter, DiskSpec};
pub use host::HostMeter;
pub use kind::Kinds;
pub use server::{AccountSpec, ServerMeter};
