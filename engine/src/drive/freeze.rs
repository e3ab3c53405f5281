//! Stopping a target that is not measured, so that its background work disturbs nobody.
//!
//! A frozen server must not outlive its engine: whoever leaves calls `leave`, which thaws everything first.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::account::gauge::{Gauge, value_of};
use crate::account::tree;

/// How a target is frozen (docs/engine-protocol.md, `freeze`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FreezeSpec {
    V1 {
        freezer: PathBuf,
    },
    V2 {
        path: PathBuf,
    },
    Signal,
    #[default]
    None,
}

/// Tasks enter the freezer when they next run, which takes some 50 µs; those in the middle of a disk write take longer,
/// and are not worth waiting for: they will freeze when it is done.
const LONGEST_WAIT: Duration = Duration::from_millis(5);
const POLL: Duration = Duration::from_micros(20);
/// A tree that still grows after so many rounds of SIGSTOP is not ours to stop.
const MOST_ROUNDS: usize = 10;

#[derive(Debug)]
enum Way {
    /// cgroup v1: state file.
    State(PathBuf),
    /// cgroup v2: switch and event files.
    Switch {
        freeze: PathBuf,
        events: PathBuf,
    },
    /// SIGSTOP to a root process and all below it. Who was stopped is kept: children whose parent dies meanwhile are no
    /// longer below the root, and still have to be woken.
    Signal {
        root_pid: i32,
        stopped: Mutex<Vec<i32>>,
    },
    Nothing,
}

/// All that is frozen now. Whoever freezes holds the lock, and `leave` keeps it: nothing is frozen after it thawed all.
static FROZEN: Mutex<Vec<Arc<Way>>> = Mutex::new(Vec::new());

/// A panic ends the engine, so that what a lock protects is never seen half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Freezes and thaws one target; thaws it when dropped.
#[derive(Debug)]
pub struct Freezer {
    way: Arc<Way>,
    is_frozen: bool,
}

impl Freezer {
    /// Errors are sentences: a freezer that is not there, signals without a process to send them to.
    pub fn new(spec: &FreezeSpec, root_pid: Option<i32>) -> Result<Self, String> {
        let way = match (spec, root_pid) {
            (FreezeSpec::V1 { freezer }, _) => Way::State(existing(freezer.join("freezer.state"))?),
            (FreezeSpec::V2 { path }, _) => Way::Switch {
                freeze: existing(path.join("cgroup.freeze"))?,
                events: existing(path.join("cgroup.events"))?,
            },
            (FreezeSpec::Signal, Some(root_pid)) if root_pid > 1 => Way::Signal {
                root_pid,
                stopped: Mutex::default(),
            },
            (FreezeSpec::Signal, _) => return Err("`freeze` by signal needs `account.root_pid`".into()),
            (FreezeSpec::None, _) => Way::Nothing,
        };
        Ok(Self {
            way: Arc::new(way),
            is_frozen: false,
        })
    }

    pub fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    pub fn freeze(&mut self) -> io::Result<()> {
        if self.is_frozen {
            return Ok(());
        }
        let mut frozen = locked(&FROZEN);
        frozen.push(self.way.clone());
        self.is_frozen = true;
        self.way.freeze()
    }

    pub fn thaw(&mut self) -> io::Result<()> {
        if !self.is_frozen {
            return Ok(());
        }
        let mut frozen = locked(&FROZEN);
        frozen.retain(|way| !Arc::ptr_eq(way, &self.way));
        self.is_frozen = false;
        self.way.thaw()
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        // Whatever cannot be thawed has gone with its control group.
        let _ = self.thaw();
    }
}

/// Thaws everything and ends this process at once, from whatever thread and state.
pub fn leave(status: i32) -> ! {
    let frozen = locked(&FROZEN);
    for way in frozen.iter() {
        let _ = way.thaw();
    }
    // SAFETY: takes a number alone. Destructors and exit handlers are left out on purpose: other threads still run.
    unsafe { libc::_exit(status) }
}

impl Way {
    fn freeze(&self) -> io::Result<()> {
        match self {
            Self::State(state) => {
                write(state, "FROZEN")?;
                let state = Gauge::open(state)?;
                wait_for(|| state.read(|content| Some(content.starts_with(b"FROZEN"))))
            }
            Self::Switch { freeze, events } => {
                write(freeze, "1")?;
                let events = Gauge::open(events)?;
                wait_for(|| events.read(|content| Some(value_of(content, "frozen") == Some(1))))
            }
            Self::Signal { root_pid, stopped } => {
                stop_tree(*root_pid, &mut locked(stopped));
                Ok(())
            }
            Self::Nothing => Ok(()),
        }
    }

    fn thaw(&self) -> io::Result<()> {
        match self {
            Self::State(state) => write(state, "THAWED"),
            Self::Switch { freeze, .. } => write(freeze, "0"),
            Self::Signal { stopped, .. } => {
                signal_all(&std::mem::take(&mut *locked(stopped)), libc::SIGCONT);
                Ok(())
            }
            Self::Nothing => Ok(()),
        }
    }
}

/// Parents first, until no new child has shown up.
fn stop_tree(root_pid: i32, stopped: &mut Vec<i32>) {
    for _ in 0..MOST_ROUNDS {
        let mut running = tree::family(root_pid);
        running.retain(|pid| !stopped.contains(pid));
        if running.is_empty() {
            return;
        }
        signal_all(&running, libc::SIGSTOP);
        stopped.append(&mut running);
    }
}

fn signal_all(pids: &[i32], signal: i32) {
    for &pid in pids {
        // SAFETY: takes numbers alone. A process that is gone needs no signal.
        unsafe { libc::kill(pid, signal) };
    }
}

fn wait_for(is_done: impl Fn() -> io::Result<bool>) -> io::Result<()> {
    let started = Instant::now();
    while !is_done()? && started.elapsed() < LONGEST_WAIT {
        std::thread::sleep(POLL);
    }
    Ok(())
}

fn existing(path: PathBuf) -> Result<PathBuf, String> {
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("`freeze`: there is no {}", path.display()))
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let written = OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::process::process_cpu_ns;
    use std::process::{Child, Command};

    const BUSY: &str = "(while :; do :; done) & while :; do :; done";

    fn busy_tree() -> Child {
        Command::new("sh").args(["-c", BUSY]).spawn().unwrap()
    }

    fn used_ns(pids: &[i32]) -> u64 {
        pids.iter().map(|pid| process_cpu_ns(*pid).unwrap()).sum()
    }

    fn grows(pids: &[i32]) -> bool {
        let before = used_ns(pids);
        std::thread::sleep(Duration::from_millis(60));
        used_ns(pids) > before
    }

    /// Freezes and thaws a tree of two busy processes, then drops the freezer while it is frozen.
    fn exercise(spec: &FreezeSpec, child: &mut Child) {
        let root_pid = child.id() as i32;
        while tree::family(root_pid).len() < 2 {
            std::thread::yield_now();
        }
        let family = tree::family(root_pid);
        let mut freezer = Freezer::new(spec, Some(root_pid)).unwrap();
        assert!((0..100).any(|_| grows(&family)));
        freezer.freeze().unwrap();
        // On a busy host it takes its time until each of them has come to its end.
        assert!((0..100).any(|_| !grows(&family)));
        assert!(freezer.is_frozen() && !grows(&family));
        freezer.thaw().unwrap();
        assert!((0..100).any(|_| grows(&family)));
        freezer.freeze().unwrap();
        drop(freezer);
        assert!((0..100).any(|_| grows(&family)));
        signal_all(&family, libc::SIGKILL);
        child.wait().unwrap();
    }

    #[test]
    fn signals_stop_a_whole_tree() {
        exercise(&FreezeSpec::Signal, &mut busy_tree());
        assert!(
            Freezer::new(&FreezeSpec::Signal, None)
                .unwrap_err()
                .contains("root_pid")
        );
    }

    #[test]
    fn children_of_a_dead_parent_are_woken_all_the_same() {
        let mut child = busy_tree();
        let root_pid = child.id() as i32;
        while tree::family(root_pid).len() < 2 {
            std::thread::yield_now();
        }
        let orphan = tree::family(root_pid)[1];
        let mut freezer = Freezer::new(&FreezeSpec::Signal, Some(root_pid)).unwrap();
        freezer.freeze().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        freezer.thaw().unwrap();
        assert!((0..100).any(|_| grows(&[orphan])));
        signal_all(&[orphan], libc::SIGKILL);
    }

    #[test]
    fn the_v1_freezer_stops_a_whole_tree() {
        let group = PathBuf::from(format!("/sys/fs/cgroup/freezer/dbversus-test-{}", std::process::id()));
        if !group.parent().is_some_and(|root| root.join("cgroup.procs").exists())
            || std::fs::create_dir(&group).is_err()
        {
            eprintln!("skipped: no cgroup v1 freezer that we may use");
            return;
        }
        let mut child = Command::new("sh")
            .args(["-c", &format!("echo $$ > {}/cgroup.procs; {BUSY}", group.display())])
            .spawn()
            .unwrap();
        exercise(&FreezeSpec::V1 { freezer: group.clone() }, &mut child);
        let removed = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            std::fs::remove_dir(&group).is_ok()
        });
        assert!(removed);
        assert!(
            Freezer::new(&FreezeSpec::V1 { freezer: group }, None)
                .unwrap_err()
                .contains("there is no")
        );
    }
}
