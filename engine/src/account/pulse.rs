//! Whether a server has anything left to do.

/// A server that uses less than this share of one core is idle: housekeeping uses some 0.1 %.
const IDLE_SHARE: f64 = 0.02;

/// What tells whether a server is at work, at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Pulse {
    pub at_ns: u64,
    pub cpu_ns: Option<u64>,
    pub write_bytes: Option<u64>,
    /// A thread waits for a disk, so that neither of the others need move.
    pub waits_for_disk: bool,
}

impl Pulse {
    /// Whether it has used next to no CPU since `earlier`, wrote nothing and does not wait for a disk now. What the host
    /// cannot tell is taken for idle.
    pub fn is_idle_since(&self, earlier: &Self) -> bool {
        let grown = |now: Option<u64>, before: Option<u64>| {
            now.zip(before).map_or(0, |(now, before)| now.saturating_sub(before))
        };
        let elapsed_ns = self.at_ns.saturating_sub(earlier.at_ns);
        let cpu_ns = grown(self.cpu_ns, earlier.cpu_ns);
        (cpu_ns as f64) < IDLE_SHARE * elapsed_ns as f64
            && grown(self.write_bytes, earlier.write_bytes) == 0
            && !self.waits_for_disk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_seen_in_cpu_in_writes_and_in_waiting() {
        let before = Pulse {
            at_ns: 0,
            cpu_ns: Some(50),
            write_bytes: Some(4096),
            waits_for_disk: false,
        };
        let idle = Pulse {
            at_ns: 1_000_000,
            cpu_ns: Some(19_999),
            ..before
        };
        assert!(idle.is_idle_since(&before));
        let busy = Pulse {
            cpu_ns: Some(20_050),
            ..idle
        };
        let writing = Pulse {
            write_bytes: Some(8192),
            ..idle
        };
        let waiting = Pulse {
            waits_for_disk: true,
            ..idle
        };
        for at_work in [busy, writing, waiting] {
            assert!(!at_work.is_idle_since(&before), "{at_work:?}");
        }
        let unknown = Pulse {
            cpu_ns: None,
            write_bytes: None,
            ..idle
        };
        assert!(unknown.is_idle_since(&before));
    }
}
