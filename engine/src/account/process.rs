//! What one process has used so far, itself and with the children it has waited for.

use std::fs;
use std::io;

use super::gauge::{Gauge, if_there, number, value_of, words};
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
    /// Those of children that were waited for: each child has some, so that they tell whether one has ended.
    pub children_minor_faults: u64,
    pub major_faults: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub read_calls: u64,
    pub write_calls: u64,
    pub read_call_bytes: u64,
    pub write_call_bytes: u64,
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
            children_minor_faults: moved(
                self.children_minor_faults,
                now.children_minor_faults,
                before.children_minor_faults,
            ),
            major_faults: moved(self.major_faults, now.major_faults, before.major_faults),
            read_bytes: moved(self.read_bytes, now.read_bytes, before.read_bytes),
            write_bytes: moved(self.write_bytes, now.write_bytes, before.write_bytes),
            read_calls: moved(self.read_calls, now.read_calls, before.read_calls),
            write_calls: moved(self.write_calls, now.write_calls, before.write_calls),
            read_call_bytes: moved(self.read_call_bytes, now.read_call_bytes, before.read_call_bytes),
            write_call_bytes: moved(self.write_call_bytes, now.write_call_bytes, before.write_call_bytes),
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

    /// Adds what `now` has over `before`.
    pub fn grow(&mut self, now: Self, before: Self) {
        self.cpu_ns += now.cpu_ns.saturating_sub(before.cpu_ns);
        self.wait_ns += now.wait_ns.saturating_sub(before.wait_ns);
        self.timeslices += now.timeslices.saturating_sub(before.timeslices);
    }
}

/// What a look at the threads of a process has brought.
#[derive(Debug, Default)]
pub struct Turnover {
    pub grown: Sched,
    /// Those that have ended; what they did after they were last read is not known.
    pub gone: Vec<Thread>,
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
    pub usage: Usage,
    pub is_dead: bool,
    /// Its parent is taking over its counters: both may have them now.
    pub is_reaped: bool,
    pub threads: Vec<Thread>,
    birth_ns: u64,
    stat: Gauge,
    io: Option<Gauge>,
}

impl Process {
    /// Opens the files of a process and reads it once, without its threads. Fails when it is gone.
    pub fn open(pid: i32) -> io::Result<Self> {
        let stat = Gauge::open(format!("/proc/{pid}/stat"))?;
        let birth_ns = birth_ns(&stat.read(Stat::parse)?);
        // Needs the right to trace that process, hence root or the same user.
        let io = if_there(Gauge::open(format!("/proc/{pid}/io")))?;
        let io = io.filter(|file| file.read(|_| Some(())).is_ok());
        let mut process = Self {
            pid,
            usage: Usage::default(),
            is_dead: false,
            is_reaped: false,
            threads: Vec::new(),
            birth_ns,
            stat,
            io,
        };
        process.read();
        Ok(process)
    }

    pub fn tells_io(&self) -> bool {
        self.io.is_some()
    }

    /// Whether it was born after this moment of the time since boot, or in the same tick.
    pub fn is_born_after(&self, boot_ns: u64) -> bool {
        self.birth_ns > boot_ns
    }

    /// Reads all counters anew. A process that is gone has used nothing: its parent has taken over its counters.
    pub fn read(&mut self) {
        match self.read_usage() {
            Ok((usage, state)) => {
                self.usage = usage;
                self.is_reaped = state == b'X';
            }
            Err(_) => {
                self.usage = Usage::default();
                self.is_dead = true;
                self.is_reaped = false;
            }
        }
    }

    /// Also its state, as it was when all else had been read.
    fn read_usage(&self) -> io::Result<(Usage, u8)> {
        // The clock first: reading the other files takes a few microseconds.
        let cpu_ns = process_cpu_ns(self.pid)?;
        let mut calls = Usage::default();
        if let Some(io) = &self.io {
            io.read(|content| add_io(&mut calls, content))?;
        }
        let stat = self.stat.read(Stat::parse)?;
        let tick_ns = tick_ns();
        let usage = Usage {
            cpu_ns: cpu_ns + (stat.children_user_ticks + stat.children_system_ticks) * tick_ns,
            user_ns: (stat.user_ticks + stat.children_user_ticks) * tick_ns,
            system_ns: (stat.system_ticks + stat.children_system_ticks) * tick_ns,
            minor_faults: stat.minor_faults + stat.children_minor_faults,
            children_minor_faults: stat.children_minor_faults,
            major_faults: stat.major_faults + stat.children_major_faults,
            ..calls
        };
        Ok((usage, stat.state))
    }

    /// Reads the run-queue wait and the timeslices of all threads: what came on top since the last time.
    pub fn read_sched(&mut self) -> Turnover {
        let mut turnover = Turnover::default();
        let gone = self
            .threads
            .extract_if(.., |thread| match thread.schedstat.read(Sched::parse) {
                Ok(now) => {
                    turnover.grown.grow(now, thread.sched);
                    thread.sched = now;
                    false
                }
                Err(_) => true,
            });
        turnover.gone = gone.collect();
        turnover
    }

    /// Opens threads that are new; what those have used that were born after `boot_ns` came on top.
    pub fn find_threads(&mut self, boot_ns: Option<u64>) -> io::Result<Turnover> {
        let many = self.stat.read(Stat::parse).is_ok_and(|stat| stat.threads > 1);
        let present = if many { tree::threads(self.pid)? } else { vec![self.pid] };
        let mut turnover = Turnover::default();
        let gone = self.threads.extract_if(.., |thread| !present.contains(&thread.tid));
        turnover.gone = gone.collect();
        for tid in present {
            if self.threads.iter().any(|thread| thread.tid == tid) {
                continue;
            }
            let Some(thread) = Thread::open(self.pid, tid)? else {
                continue;
            };
            if boot_ns.is_some_and(|boot_ns| thread.is_born_after(boot_ns)) {
                turnover.grown.grow(thread.sched, Sched::default());
            }
            self.threads.push(thread);
        }
        Ok(turnover)
    }

    /// Whether one of its threads is in the middle of reading or writing a disk.
    pub fn waits_for_disk(&self) -> bool {
        self.threads.iter().any(Thread::waits_for_disk)
    }
}

impl Thread {
    /// None when it is gone.
    fn open(pid: i32, tid: i32) -> io::Result<Option<Self>> {
        let Some(schedstat) = if_there(Gauge::open(format!("/proc/{pid}/task/{tid}/schedstat")))? else {
            return Ok(None);
        };
        let (sched, kind) = (schedstat.read(Sched::parse), kind::of_thread(pid, tid, None)?);
        Ok(sched.ok().zip(kind).map(|(sched, kind)| Self {
            tid,
            kind,
            sched,
            pid,
            schedstat,
        }))
    }

    /// Names it anew: what is just born has the name of its parent for a moment. `told`: what the server calls it.
    pub fn find_kind(&mut self, told: Option<&str>) {
        if let Ok(Some(kind)) = kind::of_thread(self.pid, self.tid, told) {
            self.kind = kind;
        }
    }

    fn is_born_after(&self, boot_ns: u64) -> bool {
        self.stat().is_some_and(|stat| birth_ns(&stat) > boot_ns)
    }

    fn waits_for_disk(&self) -> bool {
        self.stat().is_some_and(|stat| stat.state == b'D')
    }

    fn stat(&self) -> Option<Stat> {
        Stat::of_thread(self.pid, self.tid).ok().flatten()
    }
}

/// The end of the tick in which a process or thread was born, since boot.
fn birth_ns(stat: &Stat) -> u64 {
    (stat.start_ticks + 1) * tick_ns()
}

/// Adds the counters of an `io` file: storage traffic in bytes, and calls of read and write with the bytes that they moved.
pub fn add_io(usage: &mut Usage, content: &[u8]) -> Option<()> {
    usage.read_bytes += value_of(content, "read_bytes")?;
    usage.write_bytes += value_of(content, "write_bytes")?;
    usage.read_calls += value_of(content, "syscr")?;
    usage.write_calls += value_of(content, "syscw")?;
    usage.read_call_bytes += value_of(content, "rchar")?;
    usage.write_call_bytes += value_of(content, "wchar")?;
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
