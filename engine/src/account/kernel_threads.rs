//! CPU time of the kernel's own threads. They work for whoever needs it, the measured servers first of all: for their disk
//! writes, their network, their memory. So what they use is no work of others.

use std::cmp::Reverse;
use std::io;
use std::mem::zeroed;
use std::path::Path;

use super::gauge::Gauge;
use super::process::{Sched, tick_ns};
use super::tree::{self, Stat};

/// One that has used less than this since boot is passed over: a large host has hundreds that never do anything.
const LEAST_USED_NS: u64 = 10_000_000;

/// No more than these, the busiest since boot, are read: each reading takes about a microsecond.
const MOST: usize = 64;

/// And no more than this part of the files that may be open: servers and clients need theirs.
const SHARE_OF_FILES: usize = 16;

/// Kernel threads, found once. None where `/proc` shows none, as in a container.
#[derive(Debug, Default)]
pub struct KernelThreads {
    threads: Vec<Thread>,
    used_ns: u64,
}

/// One of them; `cpu_ns` is what it had used when last read.
#[derive(Debug)]
struct Thread {
    file: Gauge,
    parse: fn(&[u8]) -> Option<u64>,
    cpu_ns: u64,
}

impl KernelThreads {
    pub fn find() -> Self {
        Self::find_below(Path::new("/proc")).unwrap_or_default()
    }

    fn find_below(proc: &Path) -> io::Result<Self> {
        let mut found = Vec::new();
        for pid in tree::numeric_names(proc)? {
            let directory = proc.join(pid.to_string());
            let stat = Stat::at(directory.join("stat"))?.filter(Stat::is_kernel_thread);
            let used_ns = stat.map_or(0, |stat| used_ns(&stat));
            if used_ns >= LEAST_USED_NS {
                found.push((used_ns, directory));
            }
        }
        found.sort_by_key(|(used_ns, _)| Reverse(*used_ns));
        found.truncate(MOST.min(open_files() / SHARE_OF_FILES));
        let threads = found.iter().filter_map(|(_, directory)| Thread::open(directory));
        Ok(Self {
            threads: threads.collect(),
            used_ns: 0,
        })
    }

    /// CPU time that they have used since they were found. What one that has ended did after it was last read is not known,
    /// and counts as nothing.
    pub fn read_ns(&mut self) -> u64 {
        self.threads.retain_mut(|thread| match thread.file.read(thread.parse) {
            Ok(now) => {
                self.used_ns += now.saturating_sub(thread.cpu_ns);
                thread.cpu_ns = now;
                true
            }
            Err(_) => false,
        });
        self.used_ns
    }
}

impl Thread {
    /// By `schedstat`, which counts ns, or where the kernel has none by the ticks of `stat`; None when it is gone.
    fn open(directory: &Path) -> Option<Self> {
        let of_sched = |content: &[u8]| Sched::parse(content).map(|sched| sched.cpu_ns);
        let of_stat = |content: &[u8]| Stat::parse(content).map(|stat| used_ns(&stat));
        Self::read_from(&directory.join("schedstat"), of_sched)
            .or_else(|| Self::read_from(&directory.join("stat"), of_stat))
    }

    fn read_from(path: &Path, parse: fn(&[u8]) -> Option<u64>) -> Option<Self> {
        let file = Gauge::open(path).ok()?;
        let cpu_ns = file.read(parse).ok()?;
        Some(Self { file, parse, cpu_ns })
    }
}

/// As many as this process may have open.
fn open_files() -> usize {
    // SAFETY: an rlimit is plain integers, for which zero is valid, and it outlives the call.
    let limit = unsafe {
        let mut limit: libc::rlimit = zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur
    };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn used_ns(stat: &Stat) -> u64 {
    (stat.user_ticks + stat.system_ticks) * tick_ns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skip::skip;
    use std::fs;
    use std::path::PathBuf;

    const KERNEL: u64 = 0x0020_8040;
    const USER: u64 = 0x0040_0000;

    /// Looks like `/proc`; removed in the end.
    struct Proc(PathBuf);

    impl Proc {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("dbversus-proc-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn write(&self, pid: i32, flags: u64, ticks: u64) {
            let line = format!("{pid} (kworker/u4:1) S 2 0 0 0 -1 {flags} 0 0 0 0 0 {ticks} 0 0 20 0 1 0 25 0 0");
            self.put(pid, "stat", &line);
        }

        fn put(&self, pid: i32, file: &str, content: &str) {
            fs::create_dir_all(self.0.join(pid.to_string())).unwrap();
            fs::write(self.0.join(pid.to_string()).join(file), content).unwrap();
        }
    }

    impl Drop for Proc {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn what_kernel_threads_use_grows_and_that_of_others_does_not_count() {
        let proc = Proc::new("grows");
        for (pid, flags, ticks) in [(2, KERNEL, 0), (7, KERNEL, 3), (8, KERNEL, 2), (9, USER, 500)] {
            proc.write(pid, flags, ticks);
        }
        proc.put(7, "schedstat", "30000123 55 9\n");
        let mut threads = KernelThreads::find_below(&proc.0).unwrap();
        assert_eq!((threads.threads.len(), threads.read_ns()), (2, 0));
        proc.put(7, "schedstat", "30500123 60 12\n");
        proc.write(8, KERNEL, 4);
        proc.write(9, USER, 900);
        assert_eq!(threads.read_ns(), 500_000 + 2 * tick_ns());
    }

    #[test]
    fn one_that_is_gone_counts_as_nothing_from_then_on() {
        let proc = Proc::new("gone");
        for pid in [7, 8] {
            proc.write(pid, KERNEL, 5);
            proc.put(pid, "schedstat", "50000000 0 1\n");
        }
        let mut threads = KernelThreads::find_below(&proc.0).unwrap();
        proc.put(7, "schedstat", "50000100 0 1\n");
        proc.put(8, "schedstat", "");
        assert_eq!(threads.read_ns(), 100);
        proc.put(7, "schedstat", "50000150 0 1\n");
        proc.put(8, "schedstat", "70000000 0 1\n");
        assert_eq!(threads.read_ns(), 150);
    }

    #[test]
    fn where_none_are_shown_nothing_is_used() {
        let proc = Proc::new("container");
        proc.write(9, USER, 900);
        assert_eq!(KernelThreads::find_below(&proc.0).unwrap().read_ns(), 0);
    }

    #[test]
    fn this_host_has_some_and_they_are_read_at_little_cost() {
        let mut threads = KernelThreads::find();
        if threads.threads.is_empty() {
            return skip("no kernel threads are shown here");
        }
        let mut readings: Vec<_> = (0..100)
            .map(|_| {
                let began = std::time::Instant::now();
                threads.read_ns();
                began.elapsed()
            })
            .collect();
        readings.sort();
        println!(
            "{} kernel threads: {:?} a reading (median)",
            threads.threads.len(),
            readings[50]
        );
        assert!(threads.threads.len() <= MOST);
    }
}
