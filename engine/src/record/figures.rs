//! Counters of what a slot cost, under the names they have in answers. `None` is what this host cannot tell.

use serde::Serialize;

/// Growth of a cumulative counter. Sums over processes may fall, even below where they began, when a process dies without
/// being waited for; they wrap around then, and have not grown.
pub fn grown(now: u64, before: u64) -> u64 {
    (now.wrapping_sub(before) as i64).max(0) as u64
}

fn grown_if_known(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(grown(now?, before?))
}

fn sum(one: u64, other: u64) -> u64 {
    one.wrapping_add(other)
}

fn sum_if_known(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(sum(one?, other?))
}

/// Defines a struct of counters (`u64` or `Option<u64>`) that can be subtracted and added.
macro_rules! counters {
    ($(#[$doc:meta])* $name:ident: $type:ty, $difference:ident, $sum:ident { $($field:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
        pub struct $name { $(pub $field: $type),+ }

        impl $name {
            /// What came on top since an earlier reading.
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: $difference(self.$field, earlier.$field)),+ }
            }

            pub fn plus(&self, other: &Self) -> Self {
                Self { $($field: $sum(self.$field, other.$field)),+ }
            }
        }
    };
}

counters! {
    /// What the server used. Foreground: the processes or threads that serve our connections; background: the rest. `disk`: what
    /// the server asked of the disk that holds its data; `device`: that disk, whoever caused it.
    ServerFigures: Option<u64>, grown_if_known, sum_if_known {
        server_cpu_ns,
        server_user_ns,
        server_system_ns,
        server_foreground_cpu_ns,
        server_background_cpu_ns,
        server_wait_ns,
        server_switches,
        server_minor_faults,
        server_major_faults,
        server_read_bytes,
        server_write_bytes,
        server_read_calls,
        server_write_calls,
        server_read_call_bytes,
        server_write_call_bytes,
        disk_reads,
        disk_writes,
        disk_read_bytes,
        disk_write_bytes,
        device_reads,
        device_writes,
        device_read_bytes,
        device_write_bytes,
        device_read_ns,
        device_write_ns,
        device_busy_ns,
        device_queue_ns,
    }
}

impl ServerFigures {
    /// These, with the figures of the disk from another reading.
    pub fn with_disk(self, disk: Self) -> Self {
        Self {
            disk_reads: disk.disk_reads,
            disk_writes: disk.disk_writes,
            disk_read_bytes: disk.disk_read_bytes,
            disk_write_bytes: disk.disk_write_bytes,
            device_reads: disk.device_reads,
            device_writes: disk.device_writes,
            device_read_bytes: disk.device_read_bytes,
            device_write_bytes: disk.device_write_bytes,
            device_read_ns: disk.device_read_ns,
            device_write_ns: disk.device_write_ns,
            device_busy_ns: disk.device_busy_ns,
            device_queue_ns: disk.device_queue_ns,
            ..self
        }
    }
}

counters! {
    /// Bytes that the server read and wrote between its slots: what they left to it, and its settle part.
    SettleFigures: Option<u64>, grown_if_known, sum_if_known { settle_read_bytes, settle_write_bytes }
}

counters! {
    /// What the client threads used.
    ClientFigures: u64, grown, sum { client_cpu_ns, client_user_ns, client_system_ns, client_switches }
}

/// What the rest of the host did during a row.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct HostFigures {
    pub wall_ns: u64,
    pub foreign_cpu_ns: Option<u64>,
    pub steal_ns: Option<u64>,
    pub psi_cpu_us: Option<u64>,
    pub psi_io_us: Option<u64>,
    pub psi_memory_us: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_stays_unknown_and_nothing_grows_backwards() {
        let before = ServerFigures {
            server_cpu_ns: Some(5),
            server_switches: Some(9),
            ..Default::default()
        };
        let now = ServerFigures {
            server_cpu_ns: Some(7),
            server_switches: Some(8),
            ..Default::default()
        };
        let grown = now.since(&before);
        assert_eq!(
            (grown.server_cpu_ns, grown.server_switches, grown.server_wait_ns),
            (Some(2), Some(0), None)
        );
    }
}
