//! What the rest of the host does meanwhile: other processes' CPU time, stolen time, pressure.

use super::cgroup::CgroupCpu;
use super::gauge::{Gauge, number, value_of, words};
use super::process::{clock_ns, tick_ns};
use crate::record::HostFigures;

/// Reads the host's counters at the edges of a row.
#[derive(Debug)]
pub struct HostMeter {
    cpu: Option<CgroupCpu>,
    stat: Option<Gauge>,
    /// CPU, IO, memory.
    pressure: [Option<Gauge>; 3],
}

/// Cumulative counters of the host.
#[derive(Debug, Clone, Copy)]
pub struct HostReading {
    wall_ns: u64,
    cpu_ns: Option<u64>,
    own_cpu_ns: u64,
    steal_ns: Option<u64>,
    pressure_us: [Option<u64>; 3],
}

impl HostMeter {
    pub fn new() -> Self {
        Self {
            cpu: CgroupCpu::of_host(),
            stat: Gauge::open("/proc/stat").ok(),
            pressure: ["cpu", "io", "memory"].map(|kind| Gauge::open(format!("/proc/pressure/{kind}")).ok()),
        }
    }

    pub fn read(&self) -> HostReading {
        let ticks = self.stat.as_ref().and_then(|file| file.read(busy_and_steal_ticks).ok());
        let in_ns = |ticks: u64| ticks * tick_ns();
        let cpu_of_root = self.cpu.as_ref().and_then(|root| root.busy_ns().ok());
        HostReading {
            wall_ns: clock_ns(libc::CLOCK_MONOTONIC).unwrap_or(0),
            cpu_ns: cpu_of_root.or(ticks.map(|(busy, _)| in_ns(busy))),
            own_cpu_ns: clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0),
            steal_ns: ticks.map(|(_, steal)| in_ns(steal)),
            pressure_us: std::array::from_fn(|kind| some_total_us(self.pressure[kind].as_ref()?)),
        }
    }
}

impl Default for HostMeter {
    fn default() -> Self {
        Self::new()
    }
}

impl HostReading {
    /// What happened since an earlier reading, in which the targets used `targets_cpu_ns`.
    pub fn since(&self, earlier: &Self, targets_cpu_ns: u64) -> HostFigures {
        let grown = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        let own_cpu_ns = self.own_cpu_ns - earlier.own_cpu_ns;
        let all_cpu_ns = grown(self.cpu_ns, earlier.cpu_ns);
        let pressure = |kind: usize| grown(self.pressure_us[kind], earlier.pressure_us[kind]);
        HostFigures {
            wall_ns: self.wall_ns - earlier.wall_ns,
            foreign_cpu_ns: all_cpu_ns.map(|all| all.saturating_sub(own_cpu_ns + targets_cpu_ns)),
            steal_ns: grown(self.steal_ns, earlier.steal_ns),
            psi_cpu_us: pressure(0),
            psi_io_us: pressure(1),
            psi_memory_us: pressure(2),
        }
    }
}

/// The first total of a pressure file is that of `some`: time in which at least one task waited.
fn some_total_us(file: &Gauge) -> Option<u64> {
    file.read(|content| value_of(content, "total")).ok()
}

/// From the first line of `/proc/stat`: user, nice, system, irq and softirq; steal.
fn busy_and_steal_ticks(content: &[u8]) -> Option<(u64, u64)> {
    let mut fields = [0; 8];
    let numbers = words(content).skip(1).map_while(number);
    fields
        .iter_mut()
        .zip(numbers)
        .for_each(|(field, number)| *field = number);
    let [user, nice, system, _idle, _iowait, irq, softirq, steal] = fields;
    Some((user + nice + system + irq + softirq, steal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tree::{BUSY, Tree};

    #[test]
    fn busy_time_leaves_out_idle_and_waiting() {
        let line = b"cpu  17537 1 3820 196745 1588 2 240 5280 0 0\ncpu0 1 1 1 1 1 1 1 1";
        assert_eq!(busy_and_steal_ticks(line), Some((17537 + 1 + 3820 + 2 + 240, 5280)));
    }

    #[test]
    fn a_busy_child_is_foreign_unless_it_is_a_target() {
        let meter = HostMeter::new();
        let before = meter.read();
        let child = Tree::start(BUSY);
        let pid = child.pid();
        let used = || super::super::process::process_cpu_ns(pid).unwrap();
        while used() < 100_000_000 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let targets = used();
        let after = meter.read();
        drop(child);
        let foreign = after.since(&before, 0).foreign_cpu_ns.unwrap();
        let without_it = after.since(&before, targets).foreign_cpu_ns.unwrap();
        assert!(foreign >= 90_000_000, "{foreign}");
        assert!(foreign - without_it >= 90_000_000, "{foreign} - {without_it}");
    }
}
