//! The account of one server: its control group where there is one, and its processes.

use std::collections::{HashMap, HashSet};
use std::io;

use serde::Deserialize;

use super::cgroup::{CgroupCpu, CgroupSpec, CpuTime};
use super::gauge::Gauge;
use super::kind::Kinds;
use super::probe::Watch;
use super::process::{Process, Sched, Thread, Usage, clock_ns, tells_sched, tick_ns};
use super::pulse::Pulse;
use super::tree;
use crate::record::ServerFigures;

/// Where a target's costs are found (docs/engine-protocol.md, `account`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountSpec {
    pub root_pid: i32,
    #[serde(default)]
    pub cgroup: Option<CgroupSpec>,
}

/// Reads one server's counters at the edges of intervals.
///
/// A reading is right when the server is idle: a thread's time is brought up to date when it leaves its CPU.
#[derive(Debug)]
pub struct ServerMeter {
    root_pid: i32,
    cgroup: Option<CgroupCpu>,
    backends: Vec<Backend>,
    processes: Vec<Process>,
    /// What the server calls its threads, by thread id.
    names: HashMap<i32, String>,
    /// What background threads that are gone have used.
    departed: Kinds,
    loadavg: Option<Gauge>,
    /// As it was when processes were looked for.
    newest_pid: Option<u64>,
    /// Sum over the family; processes that were found late are counted from then on.
    usage: Usage,
    wait_ns: u64,
    timeslices: u64,
    tells_io: bool,
    tells_sched: bool,
}

/// The start of an interval.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    figures: ServerFigures,
    /// Time since boot, in which the kernel notes the start of processes.
    boot_ns: u64,
}

/// A process or thread that serves one of our connections.
#[derive(Debug)]
struct Backend {
    tid: i32,
    schedstat: Gauge,
    cpu_ns: u64,
}

impl Backend {
    fn open(root_pid: i32, tid: i32) -> io::Result<Self> {
        let of_root = Gauge::open(format!("/proc/{root_pid}/task/{tid}/schedstat"));
        let schedstat = of_root.or_else(|_| Gauge::open(format!("/proc/{tid}/schedstat")))?;
        Ok(Self {
            tid,
            schedstat,
            cpu_ns: 0,
        })
    }
}

impl ServerMeter {
    /// Fails when the root process or the control group is not there.
    pub fn open(spec: &AccountSpec) -> io::Result<Self> {
        let cgroup = spec.cgroup.as_ref().map(CgroupCpu::open).transpose()?;
        let root = Process::open(spec.root_pid)
            .map_err(|error| io::Error::new(error.kind(), format!("process {}: {error}", spec.root_pid)))?;
        let mut meter = Self {
            root_pid: spec.root_pid,
            cgroup,
            backends: Vec::new(),
            tells_io: root.tells_io(),
            processes: Vec::new(),
            names: HashMap::new(),
            departed: Kinds::new(),
            loadavg: Gauge::open("/proc/loadavg").ok(),
            newest_pid: None,
            usage: Usage::default(),
            wait_ns: 0,
            timeslices: 0,
            tells_sched: tells_sched(),
        };
        meter.rescan(None);
        Ok(meter)
    }

    /// Names the processes or threads whose CPU time is foreground; when one of them cannot be read, none is known.
    pub fn set_backends(&mut self, backends: &[i32]) {
        let opened = backends.iter().map(|&tid| Backend::open(self.root_pid, tid));
        self.backends = opened.collect::<io::Result<_>>().unwrap_or_default();
    }

    /// Tells what the server calls its threads; used of those that have no name on this host.
    pub fn set_names(&mut self, names: HashMap<i32, String>) {
        self.names = names;
    }

    /// Whether all of these are processes or threads of the server.
    pub fn has_threads(&self, tids: &[i32]) -> bool {
        let family = tree::family(self.root_pid);
        let threads: HashSet<i32> = family.into_iter().flat_map(tree::threads).collect();
        tids.iter().all(|tid| threads.contains(tid))
    }

    /// Begins to look for the thread that serves the requests to come.
    pub fn watch(&self) -> Watch {
        Watch::begin(self.root_pid)
    }

    /// CPU time so far of the threads that serve none of our connections, by what they are for. Threads that begin and end
    /// between two readings of the meter are missing.
    pub fn background(&mut self) -> Kinds {
        self.read_processes();
        let backends: HashSet<i32> = self.backends.iter().map(|backend| backend.tid).collect();
        let mut kinds = self.departed.clone();
        for thread in self.processes.iter_mut().flat_map(|process| &mut process.threads) {
            if !backends.contains(&thread.tid) {
                thread.find_kind(self.names.get(&thread.tid).map(String::as_str));
                add(&mut kinds, thread);
            }
        }
        kinds
    }

    /// Whether the server is at work, to be compared with a later one of the interval.
    pub fn pulse(&mut self, begun: &Begun) -> Pulse {
        self.rescan(Some(begun.boot_ns));
        let cpu_ns = self.cpu_ns();
        if self.cgroup.is_some() {
            self.read_processes();
        }
        Pulse {
            at_ns: clock_ns(libc::CLOCK_MONOTONIC).unwrap_or(0),
            cpu_ns,
            write_bytes: self.tells_io.then_some(self.usage.write_bytes),
            waits_for_disk: self.processes.iter().any(Process::waits_for_disk),
        }
    }

    /// Finds processes that were born since anybody looked. Call it before the first of a series of intervals.
    pub fn look_around(&mut self) {
        self.rescan(None);
    }

    /// Total CPU time so far, in ns.
    pub fn cpu_ns(&mut self) -> Option<u64> {
        match &self.cgroup {
            Some(cgroup) => cgroup.total_ns().ok(),
            None => {
                self.read_processes();
                Some(self.usage.cpu_ns)
            }
        }
    }

    /// Call it at the start of an interval.
    pub fn begin(&mut self) -> Begun {
        let (cgroup, foreground) = self.read_all();
        Begun {
            figures: self.figures(cgroup, foreground),
            boot_ns: clock_ns(libc::CLOCK_BOOTTIME).unwrap_or(0),
        }
    }

    /// What the server has used since `begun`. Call it at the end of an interval: new processes are looked for, and those
    /// that were born meanwhile count with all they have used.
    pub fn end(&mut self, begun: &Begun) -> ServerFigures {
        let (cgroup, foreground) = self.read_all();
        self.rescan(Some(begun.boot_ns));
        split_by_samples(self.figures(cgroup, foreground).since(&begun.figures))
    }

    /// Reads everything; gives what is not summed over processes: the control group's CPU time (when there is a group, and
    /// it can be read) and the foreground's.
    fn read_all(&mut self) -> (Option<Option<CpuTime>>, Option<u64>) {
        // CPU before anything else: these are the figures that must belong to the interval to the microsecond.
        let cgroup = self.cgroup.as_ref().map(|group| group.read().ok());
        let foreground = self.read_foreground();
        self.read_processes();
        (cgroup, foreground)
    }

    /// What somebody who reads the figures has to know about them.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match &self.cgroup {
            None => notes.push(format!(
                "no control group: the split of CPU time into user and system is estimated from ticks of {0} ms, and the CPU time \
                 of processes that ended comes in such ticks",
                tick_ns() / 1_000_000
            )),
            Some(CgroupCpu::V1 { .. }) => {
                notes.push("control group v1: the split of CPU time into user and system is estimated from samples at the kernel's tick".into());
            }
            Some(CgroupCpu::V2 { .. }) => {}
        }
        if !self.tells_io {
            notes.push("reads and writes are unknown: /proc/PID/io of the server cannot be read".into());
        }
        if self.tells_sched && self.backends.is_empty() {
            notes.push(
                "foreground and background CPU are not told apart: the server does not say which threads serve our \
                 connections, and none was found"
                    .into(),
            );
        }
        if !self.tells_sched {
            notes.push(
                "run-queue wait, switches and foreground CPU are unknown: this kernel has no /proc/PID/schedstat"
                    .into(),
            );
        }
        notes
    }

    fn figures(&self, cgroup: Option<Option<CpuTime>>, foreground: Option<u64>) -> ServerFigures {
        let of_processes = CpuTime {
            total_ns: self.usage.cpu_ns,
            user_ns: self.usage.user_ns,
            system_ns: self.usage.system_ns,
        };
        let time = cgroup.unwrap_or(Some(of_processes));
        let cpu = time.map(|time| time.total_ns);
        let io = |value: u64| self.tells_io.then_some(value);
        let sched = |value: u64| self.tells_sched.then_some(value);
        ServerFigures {
            server_cpu_ns: cpu,
            server_user_ns: time.map(|time| time.user_ns),
            server_system_ns: time.map(|time| time.system_ns),
            server_foreground_cpu_ns: foreground,
            server_background_cpu_ns: cpu.zip(foreground).map(|(all, ours)| all.wrapping_sub(ours)),
            server_wait_ns: sched(self.wait_ns),
            server_switches: sched(self.timeslices),
            server_minor_faults: Some(self.usage.minor_faults),
            server_major_faults: Some(self.usage.major_faults),
            server_read_bytes: io(self.usage.read_bytes),
            server_write_bytes: io(self.usage.write_bytes),
            server_read_calls: io(self.usage.read_calls),
            server_write_calls: io(self.usage.write_calls),
        }
    }

    /// None where no backend is known: the wire cannot tell, or the kernel.
    fn read_foreground(&mut self) -> Option<u64> {
        for backend in &mut self.backends {
            if let Ok(sched) = backend.schedstat.read(Sched::parse) {
                backend.cpu_ns = sched.cpu_ns;
            }
        }
        let known = self.tells_sched && !self.backends.is_empty();
        known.then(|| self.backends.iter().map(|backend| backend.cpu_ns).sum())
    }

    fn read_processes(&mut self) {
        for process in &mut self.processes {
            let before = process.usage;
            process.read();
            self.usage = self.usage.moved(process.usage, before);
            let sched = process.read_sched();
            self.wait_ns += sched.wait_ns;
            self.timeslices += sched.timeslices;
        }
    }

    /// Finds new processes and threads. A process born since `started_boot_ns` counts with all it has used.
    fn rescan(&mut self, started_boot_ns: Option<u64>) {
        self.bury();
        // Looking takes some 100 µs, and most of the time there is nobody new on the whole host.
        let newest_pid = self.loadavg.as_ref().and_then(tree::newest_pid);
        if newest_pid.is_some() && newest_pid == self.newest_pid {
            return;
        }
        self.newest_pid = newest_pid;
        for pid in tree::family(self.root_pid) {
            match self.processes.iter_mut().find(|process| process.pid == pid) {
                Some(known) => {
                    let gone = known.find_threads();
                    self.take_over(&gone);
                }
                None => self.adopt(pid, started_boot_ns),
            }
        }
    }

    /// Forgets processes that have ended.
    fn bury(&mut self) {
        if self.processes.iter().all(|process| !process.is_dead) {
            return;
        }
        let processes = std::mem::take(&mut self.processes);
        let (dead, alive): (Vec<_>, Vec<_>) = processes.into_iter().partition(|process| process.is_dead);
        self.processes = alive;
        dead.iter().for_each(|process| self.take_over(&process.threads));
    }

    /// Keeps what threads have used that are gone.
    fn take_over(&mut self, gone: &[Thread]) {
        for thread in gone {
            if self.backends.iter().all(|backend| backend.tid != thread.tid) {
                add(&mut self.departed, thread);
            }
        }
    }

    fn adopt(&mut self, pid: i32, started_boot_ns: Option<u64>) {
        // A process may end between being listed and being opened; its parent has its counters then.
        let Ok(process) = Process::open(pid) else {
            return;
        };
        let birth_ns = (process.start_ticks + 1) * tick_ns();
        if started_boot_ns.is_some_and(|started| birth_ns > started) {
            self.usage = self.usage.moved(process.usage, Usage::default());
        }
        self.processes.push(process);
    }
}

fn add(kinds: &mut Kinds, thread: &Thread) {
    *kinds.entry(thread.kind.clone()).or_default() += thread.sched.cpu_ns;
}

/// Splits the CPU time, which is exact, in the proportion of user and system time, which most kernels sample in ticks of
/// some milliseconds: a short interval may have few of them, or none, and then its split is unknown.
fn split_by_samples(figures: ServerFigures) -> ServerFigures {
    let (Some(cpu), Some(user), Some(system)) =
        (figures.server_cpu_ns, figures.server_user_ns, figures.server_system_ns)
    else {
        return figures;
    };
    let samples = user + system;
    let split_user = match samples {
        0 => (cpu == 0).then_some(0),
        _ => Some((u128::from(cpu) * u128::from(user) / u128::from(samples)) as u64),
    };
    ServerFigures {
        server_user_ns: split_user,
        server_system_ns: split_user.map(|user| cpu - user),
        ..figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            for pid in tree::family(self.0.id() as i32) {
                // SAFETY: takes numbers alone.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
            self.0.wait().unwrap();
        }
    }

    fn shell(script: &str) -> Killed {
        Killed(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }

    fn meter_of(child: &Killed, cgroup: Option<CgroupSpec>) -> ServerMeter {
        let root_pid = child.0.id() as i32;
        ServerMeter::open(&AccountSpec { root_pid, cgroup }).unwrap()
    }

    /// What was used until `enough` says so.
    fn used_until(meter: &mut ServerMeter, enough: impl Fn(&ServerFigures) -> bool) -> ServerFigures {
        let (begun, patience) = (meter.begin(), Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(5));
            let used = meter.end(&begun);
            if enough(&used) {
                return used;
            }
            assert!(patience.elapsed() < Duration::from_secs(20), "{used:?}");
        }
    }

    #[test]
    fn a_busy_process_uses_cpu_and_a_sleeping_one_does_not() {
        let (busy, asleep) = (shell("while :; do :; done"), shell("exec sleep 60"));
        std::thread::sleep(Duration::from_millis(50));
        let (mut of_busy, mut of_asleep) = (meter_of(&busy, None), meter_of(&asleep, None));
        of_busy.set_backends(&[busy.0.id() as i32]);
        let begun = of_asleep.begin();
        let used = used_until(&mut of_busy, |used| used.server_cpu_ns > Some(60_000_000));
        assert!(used.server_user_ns > Some(0), "{used:?}");
        let split = used.server_user_ns.unwrap() + used.server_system_ns.unwrap();
        assert_eq!(Some(split), used.server_cpu_ns);
        assert!(used.server_foreground_cpu_ns > Some(30_000_000), "{used:?}");
        let idle = of_asleep.end(&begun);
        assert_eq!(
            (idle.server_cpu_ns, idle.server_switches, idle.server_minor_faults),
            (Some(0), Some(0), Some(0))
        );
        assert_eq!(
            (idle.server_foreground_cpu_ns, idle.server_background_cpu_ns),
            (None, None)
        );
    }

    #[test]
    fn the_split_is_proportional_and_unknown_without_samples() {
        let split = |cpu, user, system| {
            let figures = ServerFigures {
                server_cpu_ns: Some(cpu),
                server_user_ns: Some(user),
                server_system_ns: Some(system),
                ..Default::default()
            };
            let split = split_by_samples(figures);
            (split.server_user_ns, split.server_system_ns)
        };
        assert_eq!(split(1000, 6, 2), (Some(750), Some(250)));
        assert_eq!(split(1000, 0, 0), (None, None));
        assert_eq!(split(0, 0, 0), (Some(0), Some(0)));
    }

    #[test]
    fn all_threads_of_a_process_count() {
        let mut meter = ServerMeter::open(&AccountSpec {
            root_pid: std::process::id() as i32,
            cgroup: None,
        })
        .unwrap();
        let begun = meter.begin();
        let spin = || while clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).unwrap() < 25_000_000 {};
        std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(spin))));
        let used = meter.end(&begun);
        assert!(used.server_cpu_ns >= Some(50_000_000), "{used:?}");
    }

    #[test]
    fn writes_and_the_work_of_children_that_ended_are_counted_once() {
        let file = std::env::temp_dir().join(format!("dbversus-account-{}", std::process::id()));
        // The first child lives across both readings, the others are born and die in between.
        let script = format!(
            "sleep 60 & while :; do dd if=/dev/zero of={0} bs=64k count=16 conv=fsync 2>/dev/null; rm -f {0}; sleep 0.05; done",
            file.display()
        );
        let child = shell(&script);
        let mut meter = meter_of(&child, None);
        let in_memory = is_in_memory(&std::env::temp_dir());
        let used = used_until(&mut meter, |used| {
            used.server_write_calls >= Some(32) && (in_memory || used.server_write_bytes >= Some(2 << 20))
        });
        assert!(used.server_minor_faults > Some(0), "{used:?}");
        assert!(
            used.server_write_calls < Some(10_000) && used.server_write_bytes < Some(1 << 30),
            "{used:?}"
        );
        drop(child);
        let _ = std::fs::remove_file(file);
    }

    /// Whether files there never reach a disk.
    fn is_in_memory(path: &std::path::Path) -> bool {
        let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a statfs is plain integers, and both pointers outlive the call.
        let kind = unsafe {
            let mut kind: libc::statfs = std::mem::zeroed();
            libc::statfs(path.as_ptr(), &mut kind);
            kind.f_type
        };
        kind == libc::TMPFS_MAGIC
    }

    #[test]
    fn a_dead_server_is_no_error_and_a_missing_one_is() {
        let child = shell("exec sleep 60");
        let root_pid = child.0.id() as i32;
        let mut meter = meter_of(&child, None);
        let begun = meter.begin();
        drop(child);
        assert_eq!(meter.end(&begun).server_cpu_ns, Some(0));
        let error = ServerMeter::open(&AccountSpec { root_pid, cgroup: None }).unwrap_err();
        assert!(error.to_string().contains(&root_pid.to_string()), "{error}");
    }

    #[test]
    fn a_control_group_tells_the_total() {
        let group = PathBuf::from(format!(
            "/sys/fs/cgroup/cpuacct/dbversus-account-{}",
            std::process::id()
        ));
        if !PathBuf::from("/sys/fs/cgroup/cpuacct/cpuacct.usage").exists() || std::fs::create_dir(&group).is_err() {
            eprintln!("skipped: no cgroup v1 cpuacct that we may use");
            return;
        }
        let child = shell(&format!(
            "echo $$ > {}/cgroup.procs && while :; do :; done",
            group.display()
        ));
        let mut meter = meter_of(&child, Some(CgroupSpec::V1 { cpuacct: group.clone() }));
        let pid = child.0.id() as i32;
        meter.set_backends(&[pid]);
        // Servers are idle when they are read; this one is made so.
        stop(pid);
        let begun = meter.begin();
        // SAFETY: takes numbers alone.
        unsafe { libc::kill(pid, libc::SIGCONT) };
        used_until(&mut meter, |used| used.server_cpu_ns > Some(60_000_000));
        stop(pid);
        let used = meter.end(&begun);
        let (cpu, foreground) = (used.server_cpu_ns.unwrap(), used.server_foreground_cpu_ns.unwrap());
        // The state may be told a moment before the process has left its CPU, and the last timeslice is missing then.
        assert!(foreground.abs_diff(cpu) <= cpu / 5, "{used:?}");
        drop(child);
        let removed = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            std::fs::remove_dir(&group).is_ok()
        });
        assert!(removed);
    }
    fn stop(pid: i32) {
        // SAFETY: takes numbers alone.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
        while tree::Stat::of(pid).unwrap().state != b'T' {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
