//! Processes of a test, which do not outlive it.

#![allow(dead_code, reason = "every test program uses a part of it")]

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Keeps a shell busy for longer than any test takes, and not for ever: a test that is killed can end nothing.
pub const BUSY: &str = "i=0; while [ $i -lt 200000000 ]; do i=$((i + 1)); done";

/// Longer than anything takes that a test waits for, on a machine with other work too.
pub const PATIENCE: Duration = Duration::from_secs(240);

pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// R, S, T and so on; X when there is no such process.
pub fn state_of(pid: i32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit(") ").next();
    behind_name.and_then(|fields| fields.chars().next()).unwrap_or('X')
}

/// A shell and all that it starts; killed in the end, also when the test fails.
pub struct Tree(pub Child);

impl Tree {
    pub fn start(script: &str) -> Self {
        let mut shell = Command::new("sh");
        let shell = shell
            .args(["-c", script])
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn();
        Self(shell.unwrap())
    }

    /// A process that does nothing, and has begun to.
    pub fn asleep() -> Self {
        let tree = Self::start("exec sleep 600");
        let name = format!("/proc/{}/comm", tree.pid());
        wait_for("it to be asleep", || {
            std::fs::read_to_string(&name).is_ok_and(|name| name == "sleep\n") && state_of(tree.pid()) == 'S'
        });
        tree
    }

    pub fn pid(&self) -> i32 {
        self.0.id() as i32
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // SAFETY: takes numbers alone.
        unsafe { libc::kill(-self.pid(), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}
