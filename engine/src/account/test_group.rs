//! Control groups of a test's own, where this host lets us have them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::tree::Stat;
use crate::skip::skip;
use crate::test_tree::{Tree, wait_for};

/// Removed in the end; nothing may be left in it by then.
pub struct TestGroup(PathBuf);

impl TestGroup {
    pub fn v1(controller: &str) -> Option<Self> {
        Self::below(&Path::new("/sys/fs/cgroup").join(controller))
    }

    /// Version 2, wherever it is mounted.
    pub fn v2() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let point = mounts.lines().find_map(|line| {
            let mut fields = line.split(' ').skip(1);
            let point = fields.next()?;
            (fields.next()? == "cgroup2").then_some(point)
        });
        Self::below(Path::new(point.unwrap_or("/nowhere")))
    }

    fn below(root: &Path) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("dbversus-test-{}-{number}", std::process::id()));
        let group = fs::create_dir(&path).ok().map(|()| Self(path));
        let group = group.filter(|group| group.shell(":").0.wait().unwrap().success());
        if group.is_none() {
            skip(&format!("no group below {} that we may use", root.display()));
        }
        group
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A shell that enters the group before it does anything else.
    pub fn shell(&self, script: &str) -> Tree {
        let procs = self.0.join("cgroup.procs");
        Tree::start(&format!("echo $$ > {} && {{ {script}; }}", procs.display()))
    }
}

impl Drop for TestGroup {
    fn drop(&mut self) {
        if !thread::panicking() {
            wait_for("the group to be left by all", || fs::remove_dir(&self.0).is_ok());
        }
    }
}

/// Stops a process and waits until it has left its CPU.
pub fn stop(pid: i32) {
    // SAFETY: takes numbers alone.
    unsafe { libc::kill(pid, libc::SIGSTOP) };
    wait_for("it to stop", || Stat::of(pid).unwrap().unwrap().state == b'T');
}
