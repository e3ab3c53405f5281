//! The account of one server: its control group where there is one, and its processes.

use std::collections::{HashMap, HashSet};
use std::io;

use serde::Deserialize;

use super::cgroup::{CgroupCpu, CgroupSpec, CpuTime};
use super::family::Family;
use super::gauge::Gauge;
use super::kind::Kinds;
use super::probe::Watch;
use super::process::{Process, Sched, clock_ns, tells_sched, tick_ns};
use super::pulse::Pulse;
use super::tree;
use crate::record::{ServerFigures, SettleFigures};

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
    family: Family,
    backends: Vec<Backend>,
    /// Why backends that were named cannot be read.
    unread_backends: Option<String>,
    /// Every operation is served by another one.
    is_changing: bool,
    /// What the server calls its threads, by thread id.
    names: HashMap<i32, String>,
    tells_io: bool,
    tells_sched: bool,
}

/// The start of an interval.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    figures: ServerFigures,
    /// Time since boot, in which the kernel notes the start of processes.
    boot_ns: u64,
    /// As the family told it.
    ended: u64,
}

/// A process or thread that serves one of our connections.
#[derive(Debug)]
struct Backend {
    schedstat: Gauge,
    cpu_ns: u64,
}

impl Backend {
    fn open(root_pid: i32, tid: i32) -> io::Result<Self> {
        let of_root = Gauge::open(format!("/proc/{root_pid}/task/{tid}/schedstat"));
        let schedstat = of_root.or_else(|_| Gauge::open(format!("/proc/{tid}/schedstat")))?;
        Ok(Self { schedstat, cpu_ns: 0 })
    }
}

impl ServerMeter {
    /// Fails when the root process or the control group is not there.
    pub fn open(spec: &AccountSpec) -> io::Result<Self> {
        let cgroup = spec.cgroup.as_ref().map(CgroupCpu::open).transpose()?;
        let root = Process::open(spec.root_pid)
            .map_err(|error| io::Error::new(error.kind(), format!("process {}: {error}", spec.root_pid)))?;
        Ok(Self {
            root_pid: spec.root_pid,
            cgroup,
            family: Family::of(spec.root_pid),
            backends: Vec::new(),
            unread_backends: None,
            is_changing: false,
            names: HashMap::new(),
            tells_io: root.tells_io(),
            tells_sched: tells_sched(),
        })
    }

    /// Names the processes or threads whose CPU time is foreground; when one of them cannot be read, none is known.
    pub fn set_backends(&mut self, backends: &[i32]) {
        let opened = backends.iter().map(|&tid| Backend::open(self.root_pid, tid));
        let opened: io::Result<_> = opened.collect();
        self.unread_backends = opened.as_ref().err().map(io::Error::to_string);
        self.family.set_foreground(if opened.is_ok() { backends } else { &[] });
        self.backends = opened.unwrap_or_default();
        self.is_changing = false;
    }

    /// Every operation has a connection of its own, so that nobody is there long enough to be named: foreground and background
    /// are one.
    pub fn set_changing(&mut self) {
        self.set_backends(&[]);
        self.is_changing = true;
    }

    /// Tells what the server calls its threads; used of those that have no name on this host.
    pub fn set_names(&mut self, names: HashMap<i32, String>) {
        self.names = names;
    }

    /// Whether all of these are processes or threads of the server.
    pub fn has_threads(&self, tids: &[i32]) -> bool {
        let family = tree::family(self.root_pid).unwrap_or_default();
        let threads = family.into_iter().map(|pid| tree::threads(pid).unwrap_or_default());
        let threads: HashSet<i32> = threads.flatten().collect();
        tids.iter().all(|tid| threads.contains(tid))
    }

    /// Begins to look for the thread that serves the requests to come.
    pub fn watch(&self) -> Watch {
        Watch::begin(self.root_pid)
    }

    /// CPU time so far of the threads that serve none of our connections, by what they are for. Threads that begin and end
    /// between two readings of the meter are missing.
    pub fn background(&mut self) -> Kinds {
        if self.is_changing {
            return Kinds::new();
        }
        self.family.background(&self.names)
    }

    /// Whether the server is at work, to be compared with a later one of the interval.
    pub fn pulse(&mut self, begun: &Begun) -> Pulse {
        self.family.look_around(Some(begun.boot_ns));
        self.family.read();
        Pulse {
            at_ns: clock_ns(libc::CLOCK_MONOTONIC).unwrap_or(0),
            cpu_ns: self.cpu_ns(),
            write_bytes: self.tells_io.then_some(self.family.usage().write_bytes),
            waits_for_disk: self.family.waits_for_disk(),
        }
    }

    /// Finds processes that were born since anybody looked. Call it before the first of a series of intervals.
    pub fn look_around(&mut self) {
        self.family.begin_anew();
    }

    /// Total CPU time so far, in ns; of processes that can be read, where there is no control group.
    pub fn cpu_ns(&mut self) -> Option<u64> {
        match &self.cgroup {
            Some(cgroup) => cgroup.total_ns().ok(),
            None => {
                self.family.read();
                Some(self.family.usage().cpu_ns)
            }
        }
    }

    /// Call it at the start of an interval.
    pub fn begin(&mut self) -> Begun {
        let (cgroup, foreground) = self.read_all();
        Begun {
            figures: self.figures(cgroup, foreground),
            boot_ns: clock_ns(libc::CLOCK_BOOTTIME).unwrap_or(0),
            ended: self.family.ended(),
        }
    }

    /// What the server has used since `begun`. Call it at the end of an interval: new processes and threads are looked for,
    /// and those that were born meanwhile count with all they have used. Where some have ended meanwhile, nobody knows how
    /// long they waited for a CPU in the end, nor how often they got one.
    pub fn end(&mut self, begun: &Begun) -> ServerFigures {
        let (cgroup, foreground) = self.read_all();
        self.family.look_around(Some(begun.boot_ns));
        let used = split_by_samples(self.figures(cgroup, foreground).since(&begun.figures));
        if self.family.ended() == begun.ended {
            return used;
        }
        ServerFigures {
            server_wait_ns: None,
            server_switches: None,
            ..used
        }
    }

    /// Bytes read and written so far, as of the last reading.
    pub fn bytes(&self) -> SettleFigures {
        let usage = self.family.usage();
        let known = self.tells_io && self.family.unread().is_none();
        SettleFigures {
            settle_read_bytes: known.then_some(usage.read_bytes),
            settle_write_bytes: known.then_some(usage.write_bytes),
        }
    }

    /// Reads everything; gives what is not summed over processes: the control group's CPU time (when there is a group, and
    /// it can be read) and the foreground's.
    fn read_all(&mut self) -> (Option<Option<CpuTime>>, Option<u64>) {
        // CPU before anything else: these are the figures that must belong to the interval to the microsecond.
        let cgroup = self.cgroup.as_ref().map(|group| group.read().ok());
        let foreground = self.read_foreground();
        self.family.read();
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
        if let Some(why) = self.family.unread() {
            notes.push(format!(
                "what is summed over the server's processes is unknown: not all of them can be read: {why}"
            ));
        }
        if !self.tells_io {
            notes.push("reads and writes are unknown: /proc/PID/io of the server cannot be read".into());
        }
        if self.is_changing {
            notes.push(
                "foreground and background CPU are not told apart: each operation has a connection of its own".into(),
            );
        } else if self.tells_sched && self.backends.is_empty() {
            let why = self
                .unread_backends
                .as_deref()
                .unwrap_or("the server does not say which thread serves each of our connections, and none was found");
            notes.push(format!("foreground and background CPU are not told apart: {why}"));
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
        let (usage, sched) = (self.family.usage(), self.family.sched());
        let sum = |value: u64| self.family.unread().is_none().then_some(value);
        let io = |value: u64| sum(value).filter(|_| self.tells_io);
        let scheduling = |value: u64| sum(value).filter(|_| self.tells_sched);
        let (cpu, user, system) = match cgroup {
            Some(time) => (
                time.map(|time| time.total_ns),
                time.map(|time| time.user_ns),
                time.map(|time| time.system_ns),
            ),
            None => (sum(usage.cpu_ns), sum(usage.user_ns), sum(usage.system_ns)),
        };
        ServerFigures {
            server_cpu_ns: cpu,
            server_user_ns: user,
            server_system_ns: system,
            server_foreground_cpu_ns: foreground,
            server_background_cpu_ns: cpu.zip(foreground).map(|(all, ours)| all.wrapping_sub(ours)),
            server_wait_ns: scheduling(sched.wait_ns),
            server_switches: scheduling(sched.timeslices),
            server_minor_faults: sum(usage.minor_faults),
            server_major_faults: sum(usage.major_faults),
            server_read_bytes: io(usage.read_bytes),
            server_write_bytes: io(usage.write_bytes),
            server_read_calls: io(usage.read_calls),
            server_write_calls: io(usage.write_calls),
            server_read_call_bytes: io(usage.read_call_bytes),
            server_write_call_bytes: io(usage.write_call_bytes),
            ..ServerFigures::default()
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
    use crate::account::test_group::{TestGroup, stop};
    use crate::test_tree::{BUSY, Tree, wait_for};
    use std::path::Path;
    use std::time::Duration;

    fn meter_of(child: &Tree, cgroup: Option<CgroupSpec>) -> ServerMeter {
        let root_pid = child.pid();
        ServerMeter::open(&AccountSpec { root_pid, cgroup }).unwrap()
    }

    /// What was used until `enough` says so.
    fn used_until(meter: &mut ServerMeter, enough: impl Fn(&ServerFigures) -> bool) -> ServerFigures {
        let begun = meter.begin();
        let mut used = ServerFigures::default();
        wait_for("enough to be used", || {
            used = meter.end(&begun);
            enough(&used)
        });
        used
    }

    #[test]
    fn a_busy_process_uses_cpu_and_a_sleeping_one_does_not() {
        let (busy, asleep) = (Tree::start(BUSY), Tree::asleep());
        let (mut of_busy, mut of_asleep) = (meter_of(&busy, None), meter_of(&asleep, None));
        of_busy.set_backends(&[busy.pid()]);
        let begun = of_asleep.begin();
        // The loop does not call the kernel, but starting the shell did.
        let used = used_until(&mut of_busy, |used| {
            used.server_cpu_ns > Some(100_000_000) && used.server_user_ns > used.server_cpu_ns.map(|cpu| cpu / 2)
        });
        assert!(used.server_foreground_cpu_ns > Some(50_000_000), "{used:?}");
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
    fn who_serves_another_operation_each_time_is_no_background() {
        let busy = Tree::start(BUSY);
        let mut meter = meter_of(&busy, None);
        meter.set_changing();
        let used = used_until(&mut meter, |used| used.server_cpu_ns > Some(20_000_000));
        assert_eq!(
            (used.server_foreground_cpu_ns, used.server_background_cpu_ns),
            (None, None)
        );
        assert!(meter.background().is_empty());
        assert!(
            meter
                .notes()
                .iter()
                .any(|note| note.contains("a connection of its own")),
            "{:?}",
            meter.notes()
        );
        meter.set_backends(&[]);
        assert!(!meter.background().is_empty());
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
    fn the_work_of_children_that_ended_is_counted_once() {
        const CHILDREN: u64 = 20;
        const WRITES: u64 = 64;
        const BYTES: u64 = CHILDREN * WRITES * (16 << 10);
        let directory = std::env::temp_dir().join(format!("dbversus-account-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        // The first child lives across all readings, the others are born and end in between.
        let script = format!(
            "cd {}; sleep 60 & until [ -e go ]; do sleep 0.01; done; \
             while [ $((i += 1)) -le {CHILDREN} ]; do \
             dd if=/dev/zero of=data bs=16k count={WRITES} conv=fsync 2>/dev/null; rm data; sleep 0.02; done; \
             touch done; exec sleep 60",
            directory.display()
        );
        let child = Tree::start(&script);
        let mut meter = meter_of(&child, None);
        let begun = meter.begin();
        std::fs::write(directory.join("go"), "").unwrap();
        while !directory.join("done").exists() {
            std::thread::sleep(Duration::from_millis(3));
            meter.end(&begun);
        }
        let used = meter.end(&begun);
        let within = |value: Option<u64>, truth: u64| value.unwrap() >= truth && value.unwrap() <= truth * 6 / 5;
        // Each dd also says what it did.
        assert!(within(used.server_write_calls, CHILDREN * WRITES), "{used:?}");
        assert!(
            is_in_memory(&directory) || within(used.server_write_bytes, BYTES),
            "{used:?}"
        );
        assert!(used.server_minor_faults > Some(0), "{used:?}");
        assert_eq!((used.server_wait_ns, used.server_switches), (None, None));
        drop(child);
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// As the processes of PostgreSQL's connections do in a test that connects: most are gone before anybody has seen them.
    #[test]
    fn the_cpu_time_of_children_shorter_than_a_tick_is_counted() {
        let directory = std::env::temp_dir().join(format!("dbversus-short-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let child = "while [ $((j += 1)) -le 6000 ]; do :; done; read -r ns rest </proc/self/schedstat; echo $ns >>cpu";
        let script = format!(
            "cd {}; until [ -e go ]; do sleep 0.01; done; \
             while [ $((i += 1)) -le 100 ]; do sh -c '{child}'; done; touch done; exec sleep 60",
            directory.display()
        );
        let root = Tree::start(&script);
        let mut meter = meter_of(&root, None);
        let begun = meter.begin();
        std::fs::write(directory.join("go"), "").unwrap();
        wait_for("all children", || directory.join("done").exists());
        let used = meter.end(&begun).server_cpu_ns.unwrap();
        let told = std::fs::read_to_string(directory.join("cpu")).unwrap();
        let told: Vec<u64> = told.lines().map(|ns| ns.parse().unwrap()).collect();
        // The last reading of user and of system time may each be short of a tick.
        assert!(used + 2 * tick_ns() >= told.iter().sum(), "{used} of {told:?}");
        assert_eq!(told.len(), 100);
        drop(root);
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// Whether files there never reach a disk.
    fn is_in_memory(path: &Path) -> bool {
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
        let child = Tree::start("exec sleep 60");
        let root_pid = child.pid();
        let mut meter = meter_of(&child, None);
        let begun = meter.begin();
        drop(child);
        assert_eq!(meter.end(&begun).server_cpu_ns, Some(0));
        let error = ServerMeter::open(&AccountSpec { root_pid, cgroup: None }).unwrap_err();
        assert!(error.to_string().contains(&root_pid.to_string()), "{error}");
    }

    #[test]
    fn backends_that_cannot_be_read_are_told() {
        let child = Tree::start("exec sleep 60");
        let mut meter = meter_of(&child, None);
        let told = |meter: &ServerMeter| {
            let notes = meter.notes();
            notes
                .into_iter()
                .find(|note| note.contains("are not told apart"))
                .unwrap()
        };
        assert!(told(&meter).contains("does not say which thread"), "{}", told(&meter));
        meter.set_backends(&[child.pid(), 999_999_999]);
        assert!(told(&meter).contains("No such file"), "{}", told(&meter));
    }

    #[test]
    fn a_control_group_of_version_1_tells_the_total() {
        if let Some(group) = TestGroup::v1("cpuacct") {
            let cpuacct = group.path().to_owned();
            tells_the_total(&group, CgroupSpec::V1 { cpuacct });
        }
    }

    #[test]
    fn a_control_group_of_version_2_tells_the_total() {
        if let Some(group) = TestGroup::v2() {
            let path = group.path().to_owned();
            tells_the_total(&group, CgroupSpec::V2 { path });
        }
    }

    fn tells_the_total(group: &TestGroup, spec: CgroupSpec) {
        let child = group.shell(BUSY);
        let mut meter = meter_of(&child, Some(spec));
        let pid = child.pid();
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
    }
}
