//! Processes of a test, which do not outlive it.

#![allow(dead_code, reason = "every test program uses a part of it")]

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Keeps a shell busy for longer than any test takes, and not for ever: a test that is killed can end nothing.
pub const BUSY: &str = "i=0; while [ $i -lt 200000000 ]; do i=$((i + 1)); done";

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
