//! What the rest of the host does meanwhile: other processes' CPU time, stolen time, pressure.

use super::cgroup::CgroupCpu;
use super::cpu_lines::CpuLines;
use super::gauge::{Gauge, value_of};
use super::kernel_threads::KernelThreads;
use super::process::clock_ns;
use crate::record::HostFigures;

/// Reads the host's counters at the edges of a row.
#[derive(Debug)]
pub struct HostMeter {
    cpu: Option<CgroupCpu>,
    cpus: Option<CpuLines>,
    kernel_threads: KernelThreads,
    /// CPU, IO, memory.
    pressure: [Option<Gauge>; 3],
}

/// Cumulative counters of the host.
#[derive(Debug, Clone, Copy)]
pub struct HostReading {
    wall_ns: u64,
    cpu_ns: Option<u64>,
    own_cpu_ns: u64,
    kernel_cpu_ns: u64,
    steal_ns: Option<u64>,
    pressure_us: [Option<u64>; 3],
}

impl HostMeter {
    /// `foreground_cpus`: those whose stolen time counts; none named: all.
    pub fn new(foreground_cpus: &[usize]) -> Self {
        Self {
            cpu: CgroupCpu::of_host(),
            cpus: CpuLines::open(foreground_cpus).ok(),
            kernel_threads: KernelThreads::find(),
            pressure: ["cpu", "io", "memory"].map(|kind| Gauge::open(format!("/proc/pressure/{kind}")).ok()),
        }
    }

    pub fn read(&mut self) -> HostReading {
        let times = self.cpus.as_ref().and_then(|lines| lines.read().ok());
        let cpu_of_root = self.cpu.as_ref().and_then(|root| root.busy_ns().ok());
        HostReading {
            wall_ns: clock_ns(libc::CLOCK_MONOTONIC).unwrap_or(0),
            cpu_ns: cpu_of_root.or(times.map(|times| times.busy_ns)),
            own_cpu_ns: clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0),
            kernel_cpu_ns: self.kernel_threads.read_ns(),
            steal_ns: times.map(|times| times.steal_ns),
            pressure_us: std::array::from_fn(|kind| some_total_us(self.pressure[kind].as_ref()?)),
        }
    }
}

impl HostReading {
    /// What happened since an earlier reading, in which the targets used `targets_cpu_ns`.
    pub fn since(&self, earlier: &Self, targets_cpu_ns: u64) -> HostFigures {
        let grown = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        let own_cpu_ns = self.own_cpu_ns - earlier.own_cpu_ns;
        let kernel_cpu_ns = self.kernel_cpu_ns - earlier.kernel_cpu_ns;
        let all_cpu_ns = grown(self.cpu_ns, earlier.cpu_ns);
        let pressure = |kind: usize| grown(self.pressure_us[kind], earlier.pressure_us[kind]);
        HostFigures {
            wall_ns: self.wall_ns - earlier.wall_ns,
            foreign_cpu_ns: all_cpu_ns.map(|all| all.saturating_sub(own_cpu_ns + kernel_cpu_ns + targets_cpu_ns)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tree::{BUSY, Tree};

    #[test]
    fn what_kernel_threads_use_is_no_foreign_work() {
        let before = HostMeter::new(&[]).read();
        let after = HostReading {
            wall_ns: before.wall_ns + 100,
            cpu_ns: before.cpu_ns.map(|cpu_ns| cpu_ns + 100),
            kernel_cpu_ns: before.kernel_cpu_ns + 30,
            ..before
        };
        assert_eq!(after.since(&before, 20).foreign_cpu_ns, Some(50));
    }

    #[test]
    fn a_busy_child_is_foreign_unless_it_is_a_target() {
        let mut meter = HostMeter::new(&[]);
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
