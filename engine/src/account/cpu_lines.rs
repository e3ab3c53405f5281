//! The CPUs of this host as `/proc/stat` tells of them: how long they worked, and how long a hypervisor kept them from it.

use std::fs;
use std::io;

use super::gauge::{Gauge, number, words};
use super::process::tick_ns;

/// Ten numbers of up to 20 digits and the CPU's name.
const LONGEST_LINE_BYTES: usize = 224;

/// Reads the lines of all CPUs together and of single ones.
#[derive(Debug)]
pub struct CpuLines {
    file: Gauge,
    longest_bytes: usize,
    foreground: Vec<usize>,
}

/// Time since boot in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTimes {
    /// Of all CPUs.
    pub busy_ns: u64,
    /// Of the foreground's.
    pub steal_ns: u64,
}

impl CpuLines {
    /// `foreground`: the CPUs whose stolen time is told; none named: all.
    pub fn open(foreground: &[usize]) -> io::Result<Self> {
        let content = fs::read("/proc/stat")?;
        let lines = content.split(|byte| *byte == b'\n');
        let of_cpus = lines.take_while(|line| line.starts_with(b"cpu")).count();
        Ok(Self {
            file: Gauge::open("/proc/stat")?,
            longest_bytes: of_cpus * LONGEST_LINE_BYTES,
            foreground: foreground.to_vec(),
        })
    }

    pub fn read(&self) -> io::Result<CpuTimes> {
        self.file
            .read_long(self.longest_bytes, |content| times(content, &self.foreground))
    }
}

fn times(content: &[u8], foreground: &[usize]) -> Option<CpuTimes> {
    let mut lines = content.split(|byte| *byte == b'\n');
    let [user, nice, system, _idle, _iowait, irq, softirq, steal] = ticks(lines.next()?);
    let steal_of_foreground =
        |line: &[u8]| cpu_of(line).map_or(0, |cpu| if foreground.contains(&cpu) { ticks(line)[7] } else { 0 });
    let steal = match foreground {
        [] => steal,
        _ => lines.map(steal_of_foreground).sum(),
    };
    Some(CpuTimes {
        busy_ns: (user + nice + system + irq + softirq) * tick_ns(),
        steal_ns: steal * tick_ns(),
    })
}

/// 12 of a line that begins with `cpu12`; None of other lines.
fn cpu_of(line: &[u8]) -> Option<usize> {
    let name = words(line).next()?;
    number(name.strip_prefix(b"cpu")?).map(|cpu| cpu as usize)
}

/// User, nice, system, idle, iowait, irq, softirq and steal; 0 for what an old kernel does not tell.
fn ticks(line: &[u8]) -> [u64; 8] {
    let mut fields = [0; 8];
    let numbers = words(line).skip(1).map_while(number);
    fields
        .iter_mut()
        .zip(numbers)
        .for_each(|(field, number)| *field = number);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &[u8] = b"cpu  17537 1 3820 196745 1588 2 240 5280 0 0\n\
        cpu0 1 1 1 1 1 1 1 5000 0 0\ncpu1 1 1 1 1 1 1 1 270 0 0\ncpu10 1 1 1 1 1 1 1 10 0 0\nintr 5 1 1 1 1 1 1 9 9\n";

    #[test]
    fn busy_time_is_of_all_cpus_and_leaves_out_idle_and_waiting() {
        for foreground in [&[][..], &[1]] {
            let busy_ns = times(CONTENT, foreground).unwrap().busy_ns;
            assert_eq!(busy_ns, (17537 + 1 + 3820 + 2 + 240) * tick_ns());
        }
    }

    #[test]
    fn stolen_time_is_that_of_the_foreground() {
        let stolen = |foreground: &[usize]| times(CONTENT, foreground).unwrap().steal_ns / tick_ns();
        assert_eq!((stolen(&[]), stolen(&[1]), stolen(&[0, 10])), (5280, 270, 5010));
    }

    #[test]
    fn all_lines_of_this_host_are_read() {
        let cpus = fs::read_to_string("/proc/stat").unwrap();
        let last = cpus.lines().take_while(|line| line.starts_with("cpu")).count() - 2;
        let lines = CpuLines::open(&[last]).unwrap();
        let read = lines.file.read_long(lines.longest_bytes, |content| {
            Some(
                content
                    .split(|byte| *byte == b'\n')
                    .any(|line| cpu_of(line) == Some(last)),
            )
        });
        assert!(read.unwrap());
        assert!(lines.read().unwrap().busy_ns > 0);
    }
}
