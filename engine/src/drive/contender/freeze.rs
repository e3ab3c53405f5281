//! Stopping a target that is not measured, so that its background work disturbs nobody.
//!
//! A frozen server must not outlive its engine: whoever leaves calls `leave`, which thaws everything first.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
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
    Group(Group),
    /// SIGSTOP to a root process and all below it. Who was stopped is kept: children whose parent dies meanwhile are no
    /// longer below the root, and still have to be woken.
    Signal {
        root_pid: i32,
        stopped: Mutex<Vec<i32>>,
    },
    Nothing,
}

/// A control group. Its files are held open, so that a server can be thawed when there are no descriptors left.
#[derive(Debug)]
struct Group {
    path: PathBuf,
    switch: File,
    state: Gauge,
    words: &'static Words,
}

/// What a version of control groups calls its files, and what stands in them.
#[derive(Debug)]
struct Words {
    switch: &'static str,
    frozen: &'static str,
    thawed: &'static str,
    state: &'static str,
    is_frozen: fn(&[u8]) -> bool,
}

const V1: Words = Words {
    switch: "freezer.state",
    frozen: "FROZEN",
    thawed: "THAWED",
    state: "freezer.state",
    is_frozen: |content| content.starts_with(b"FROZEN"),
};

const V2: Words = Words {
    switch: "cgroup.freeze",
    frozen: "1",
    thawed: "0",
    state: "cgroup.events",
    is_frozen: |content| value_of(content, "frozen") == Some(1),
};

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
            (FreezeSpec::V1 { freezer }, _) => Way::Group(Group::open(freezer, &V1)?),
            (FreezeSpec::V2 { path }, _) => Way::Group(Group::open(path, &V2)?),
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
            Self::Group(group) => group.freeze(),
            Self::Signal { root_pid, stopped } => stop_tree(*root_pid, &mut locked(stopped)),
            Self::Nothing => Ok(()),
        }
    }

    fn thaw(&self) -> io::Result<()> {
        match self {
            Self::Group(group) => group.write(group.words.thawed),
            Self::Signal { stopped, .. } => {
                signal_all(&std::mem::take(&mut *locked(stopped)), libc::SIGCONT);
                Ok(())
            }
            Self::Nothing => Ok(()),
        }
    }
}

impl Group {
    fn open(directory: &Path, words: &'static Words) -> Result<Self, String> {
        let named = |path: PathBuf| {
            move |error: io::Error| match error.kind() {
                io::ErrorKind::NotFound => format!("`freeze`: there is no {}", path.display()),
                _ => format!("`freeze`: {}: {error}", path.display()),
            }
        };
        let (path, state) = (directory.join(words.switch), directory.join(words.state));
        let switch = OpenOptions::new().write(true).open(&path);
        Ok(Self {
            switch: switch.map_err(named(path.clone()))?,
            state: Gauge::open(&state).map_err(named(state))?,
            path,
            words,
        })
    }

    fn freeze(&self) -> io::Result<()> {
        self.write(self.words.frozen)?;
        let started = Instant::now();
        let is_frozen = || self.state.read(|content| Some((self.words.is_frozen)(content)));
        while !is_frozen().map_err(|error| self.named(&error))? && started.elapsed() < LONGEST_WAIT {
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn write(&self, word: &str) -> io::Result<()> {
        let written = self.switch.write_all_at(word.as_bytes(), 0);
        written.map_err(|error| self.named(&error))
    }

    fn named(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
    }
}

/// Parents first, until no new child has shown up. Fails when it cannot be told who is below the root.
fn stop_tree(root_pid: i32, stopped: &mut Vec<i32>) -> io::Result<()> {
    for _ in 0..MOST_ROUNDS {
        let mut running = tree::family(root_pid)?;
        running.retain(|pid| !stopped.contains(pid));
        if running.is_empty() {
            break;
        }
        signal_all(&running, libc::SIGSTOP);
        stopped.append(&mut running);
    }
    Ok(())
}

fn signal_all(pids: &[i32], signal: i32) {
    for &pid in pids {
        // SAFETY: takes numbers alone. A process that is gone needs no signal.
        unsafe { libc::kill(pid, signal) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::process::process_cpu_ns;
    use crate::account::test_group::TestGroup;
    use crate::test_tree::{BUSY, Tree, state_of, wait_for};
    use std::fs;

    /// Two busy processes, of which one is the other's child.
    fn two_busy() -> String {
        format!("({BUSY}) & {BUSY}")
    }

    fn used_ns(pids: &[i32]) -> u64 {
        pids.iter().map(|pid| process_cpu_ns(*pid).unwrap()).sum()
    }

    fn wait_for_growth(pids: &[i32]) {
        let before = used_ns(pids);
        wait_for("them to run", || used_ns(pids) > before);
    }

    /// On a busy host it takes its time until each of them has come to its end: until then it waits for a CPU.
    fn wait_for_rest(pids: &[i32]) {
        wait_for("them to stop", || pids.iter().all(|pid| state_of(*pid) != 'R'));
        let before = used_ns(pids);
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(used_ns(pids), before);
    }

    /// Once there are two of them.
    fn family_of(tree: &Tree) -> Vec<i32> {
        loop {
            let family = tree::family(tree.pid()).unwrap();
            if family.len() == 2 {
                return family;
            }
            std::thread::yield_now();
        }
    }

    /// Freezes and thaws a tree of two busy processes, then drops the freezer while it is frozen.
    fn exercise(spec: &FreezeSpec, tree: &Tree) {
        let family = family_of(tree);
        let mut freezer = Freezer::new(spec, Some(tree.pid())).unwrap();
        wait_for_growth(&family);
        freezer.freeze().unwrap();
        assert!(freezer.is_frozen());
        wait_for_rest(&family);
        freezer.thaw().unwrap();
        wait_for_growth(&family);
        freezer.freeze().unwrap();
        wait_for_rest(&family);
        drop(freezer);
        wait_for_growth(&family);
    }

    #[test]
    fn signals_stop_a_whole_tree() {
        exercise(&FreezeSpec::Signal, &Tree::start(&two_busy()));
        assert!(
            Freezer::new(&FreezeSpec::Signal, None)
                .unwrap_err()
                .contains("root_pid")
        );
    }

    #[test]
    fn children_of_a_dead_parent_are_woken_all_the_same() {
        // Stopped processes that lose their parent get a SIGHUP, where they are a group of their own.
        let mut tree = Tree::start(&format!("trap '' HUP; {}", two_busy()));
        let orphan = family_of(&tree)[1];
        let mut freezer = Freezer::new(&FreezeSpec::Signal, Some(tree.pid())).unwrap();
        freezer.freeze().unwrap();
        tree.0.kill().unwrap();
        tree.0.wait().unwrap();
        freezer.thaw().unwrap();
        wait_for_growth(&[orphan]);
    }

    #[test]
    fn control_groups_of_version_1_stop_a_whole_tree() {
        if let Some(group) = TestGroup::v1("freezer") {
            let freezer = group.path().to_owned();
            exercise(&FreezeSpec::V1 { freezer }, &group.shell(&two_busy()));
        }
    }

    #[test]
    fn control_groups_of_version_2_stop_a_whole_tree() {
        if let Some(group) = TestGroup::v2() {
            let path = group.path().to_owned();
            exercise(&FreezeSpec::V2 { path }, &group.shell(&two_busy()));
        }
    }

    #[test]
    fn thawing_opens_no_file() {
        let directory = std::env::temp_dir().join(format!("dbversus-freezer-{}", std::process::id()));
        let (v1, v2, moved) = (directory.join("v1"), directory.join("v2"), directory.join("moved"));
        fs::create_dir_all(&v1).unwrap();
        fs::create_dir_all(&v2).unwrap();
        fs::write(v1.join("freezer.state"), "THAWED").unwrap();
        fs::write(v2.join("cgroup.freeze"), "0").unwrap();
        fs::write(v2.join("cgroup.events"), "populated 1\nfrozen 1\n").unwrap();
        for (path, spec, file, words) in [
            (
                &v1,
                FreezeSpec::V1 { freezer: v1.clone() },
                "freezer.state",
                ["FROZEN", "THAWED"],
            ),
            (&v2, FreezeSpec::V2 { path: v2.clone() }, "cgroup.freeze", ["1", "0"]),
        ] {
            let mut freezer = Freezer::new(&spec, None).unwrap();
            freezer.freeze().unwrap();
            assert_eq!(fs::read_to_string(path.join(file)).unwrap(), words[0]);
            fs::rename(path, &moved).unwrap();
            freezer.thaw().unwrap();
            assert_eq!(fs::read_to_string(moved.join(file)).unwrap(), words[1]);
            fs::rename(&moved, path).unwrap();
            fs::remove_file(path.join(file)).unwrap();
            let refused = Freezer::new(&spec, None).unwrap_err();
            assert!(
                refused.contains(&format!("there is no {}", path.join(file).display())),
                "{refused}"
            );
        }
        fs::remove_dir_all(directory).unwrap();
    }
}
