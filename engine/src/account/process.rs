//! What one process has used so far, itself and with the children it has waited for.

use std::fs;
use std::io;

use super::gauge::{Gauge, number, value_of, words};
use super::kind;
use super::tree::{self, Stat};

/// Counters of a process. When a child dies and is waited for, its parent's counters take over the child's, so that the
/// sum over a family changes only by what was used meanwhile.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub cpu_ns: u64,
    pub user_ns: u64,
    pub system_ns: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub read_calls: u64,
    pub write_calls: u64,
}

impl Usage {
    /// `self + now - before`; sums may fall for a moment, when a child has died and its parent was read before.
    pub fn moved(self, now: Self, before: Self) -> Self {
        let moved = |sum: u64, now: u64, before: u64| sum.wrapping_add(now).wrapping_sub(before);
        Self {
            cpu_ns: moved(self.cpu_ns, now.cpu_ns, before.cpu_ns),
            user_ns: moved(self.user_ns, now.user_ns, before.user_ns),
            system_ns: moved(self.system_ns, now.system_ns, before.system_ns),
            minor_faults: moved(self.minor_faults, now.minor_faults, before.minor_faults),
            major_faults: moved(self.major_faults, now.major_faults, before.major_faults),
            read_bytes: moved(self.read_bytes, now.read_bytes, before.read_bytes),
            write_bytes: moved(self.write_bytes, now.write_bytes, before.write_bytes),
            read_calls: moved(self.read_calls, now.read_calls, before.read_calls),
            write_calls: moved(self.write_calls, now.write_calls, before.write_calls),
        }
    }
}

/// The first three numbers of a `schedstat` file.
#[derive(Debug, Default, Clone, Copy)]
pub struct Sched {
    pub cpu_ns: u64,
    pub wait_ns: u64,
    pub timeslices: u64,
}

impl Sched {
    pub fn parse(content: &[u8]) -> Option<Self> {
        let mut numbers = words(content).map(number);
        let mut next = || numbers.next()?;
        Some(Self {
            cpu_ns: next()?,
            wait_ns: next()?,
            timeslices: next()?,
        })
    }
}

/// One thread of a server; `sched` is what it had used when last read.
#[derive(Debug)]
pub struct Thread {
    pub tid: i32,
    /// What it is for (see `kind`).
    pub kind: String,
    pub sched: Sched,
    pid: i32,
    schedstat: Gauge,
}

/// One process of a server; `usage` is what it had used when last read.
#[derive(Debug)]
pub struct Process {
    pub pid: i32,
    pub start_ticks: u64,
    pub usage: Usage,
    pub is_dead: bool,
    pub threads: Vec<Thread>,
    stat: Gauge,
    io: Option<Gauge>,
}

impl Process {
    /// Opens the files of a process and reads it once. Fails when it is gone.
    pub fn open(pid: i32) -> io::Result<Self> {
        let stat = Gauge::open(format!("/proc/{pid}/stat"))?;
        let start_ticks = stat.read(Stat::parse)?.start_ticks;
        // Needs the right to trace that process, hence root or the same user.
        let io = Gauge::open(format!("/proc/{pid}/io")).ok();
        let io = io.filter(|file| file.read(|_| Some(())).is_ok());
        let mut process = Self {
            pid,
            start_ticks,
            usage: Usage::default(),
            is_dead: false,
            stat,
            io,
            threads: Vec::new(),
        };
        process.find_threads();
        process.read();
        Ok(process)
    }

    pub fn tells_io(&self) -> bool {
        self.io.is_some()
    }

    /// Reads all counters anew. A process that is gone has used nothing: its parent has taken over its counters.
    pub fn read(&mut self) {
        match self.read_usage() {
            Ok(usage) => self.usage = usage,
            Err(_) => {
                self.usage = Usage::default();
                self.is_dead = true;
            }
        }
    }

    fn read_usage(&self) -> io::Result<Usage> {
        // The clock first: reading the other files takes a few microseconds.
        let cpu_ns = process_cpu_ns(self.pid)?;
        let stat = self.stat.read(Stat::parse)?;
        let tick_ns = tick_ns();
        let mut usage = Usage {
            cpu_ns: cpu_ns + (stat.children_user_ticks + stat.children_system_ticks) * tick_ns,
            user_ns: (stat.user_ticks + stat.children_user_ticks) * tick_ns,
            system_ns: (stat.system_ticks + stat.children_system_ticks) * tick_ns,
            minor_faults: stat.minor_faults + stat.children_minor_faults,
            major_faults: stat.major_faults + stat.children_major_faults,
            ..Usage::default()
        };
        if let Some(io) = &self.io {
            io.read(|content| add_io(&mut usage, content))?;
        }
        Ok(usage)
    }

    /// Reads the run-queue wait and the timeslices of all threads; returns what came on top since the last time.
    pub fn read_sched(&mut self) -> Sched {
        let mut grown = Sched::default();
        for thread in &mut self.threads {
            let Ok(now) = thread.schedstat.read(Sched::parse) else {
                continue;
            };
            grown.cpu_ns += now.cpu_ns.saturating_sub(thread.sched.cpu_ns);
            grown.wait_ns += now.wait_ns.saturating_sub(thread.sched.wait_ns);
            grown.timeslices += now.timeslices.saturating_sub(thread.sched.timeslices);
            thread.sched = now;
        }
        grown
    }

    /// Opens threads that are new; gives those that are gone.
    pub fn find_threads(&mut self) -> Vec<Thread> {
        let many = self.stat.read(Stat::parse).is_ok_and(|stat| stat.threads > 1);
        let present = if many { tree::threads(self.pid) } else { vec![self.pid] };
        let known = std::mem::take(&mut self.threads);
        let (there, gone): (Vec<_>, Vec<_>) = known.into_iter().partition(|thread| present.contains(&thread.tid));
        self.threads = there;
        for tid in present {
            if self.threads.iter().all(|thread| thread.tid != tid) {
                self.threads.extend(Thread::open(self.pid, tid));
            }
        }
        gone
    }

    /// Whether one of its threads is in the middle of reading or writing a disk.
    pub fn waits_for_disk(&self) -> bool {
        self.threads.iter().any(Thread::waits_for_disk)
    }
}

impl Thread {
    fn open(pid: i32, tid: i32) -> Option<Self> {
        let schedstat = Gauge::open(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
        let sched = schedstat.read(Sched::parse).ok()?;
        Some(Self {
            tid,
            kind: kind::of_thread(pid, tid, None)?,
            sched,
            pid,
            schedstat,
        })
    }

    /// Names it anew: what is just born has the name of its parent for a moment. `told`: what the server calls it.
    pub fn find_kind(&mut self, told: Option<&str>) {
        if let Some(kind) = kind::of_thread(self.pid, self.tid, told) {
            self.kind = kind;
        }
    }

    fn waits_for_disk(&self) -> bool {
        let stat = fs::read(format!("/proc/{}/task/{}/stat", self.pid, self.tid));
        stat.is_ok_and(|content| Stat::parse(&content).is_some_and(|stat| stat.state == b'D'))
    }
}

/// Adds the counters of an `io` file: storage traffic in bytes, and calls of read and write.
pub fn add_io(usage: &mut Usage, content: &[u8]) -> Option<()> {
    usage.read_bytes += value_of(content, "read_bytes")?;
    usage.write_bytes += value_of(content, "write_bytes")?;
    usage.read_calls += value_of(content, "syscr")?;
    usage.write_calls += value_of(content, "syscw")?;
    Some(())
}

/// CPU time of all threads of a process, living and dead, to the nanosecond (clock_getcpuclockid(3)).
pub fn process_cpu_ns(pid: i32) -> io::Result<u64> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` outlives the call.
    match unsafe { libc::clock_getcpuclockid(pid, &mut clock) } {
        0 => clock_ns(clock),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Present value of a clock in ns.
pub fn clock_ns(clock: libc::clockid_t) -> io::Result<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call.
    match unsafe { libc::clock_gettime(clock, &mut time) } {
        0 => Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Length of the clock tick in which `/proc/PID/stat` counts.
pub fn tick_ns() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(ticks_per_second).unwrap_or(100).max(1)
}

/// Whether this kernel tells run-queue wait and timeslices.
pub fn tells_sched() -> bool {
    fs::exists("/proc/self/schedstat").unwrap_or(false)
}
