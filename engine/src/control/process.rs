//! The engine as a process: what it may open, and that it leaves, with everything thawed, when it is no longer wanted.

use std::io::{self, Write};
use std::mem::zeroed;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::drive::contender::freeze::leave;

/// Prepares this process; it will leave on signals and panics, and when nobody reads its answers any more.
pub fn prepare() -> io::Result<()> {
    allow_many_files();
    leave_on_panic();
    leave_on_signals()?;
    leave_without_reader()
}

/// Tells why on standard error, thaws everything and leaves.
pub fn leave_with(why: &dyn std::fmt::Display) -> ! {
    // Nobody may be left to read it.
    let _ = writeln!(io::stderr(), "dbversus-engine: {why}");
    leave(1)
}

/// Each client of each target takes a connection, and up to four files with counters of the process that serves it. The usual
/// limit of 1024 is there for programs that use select(2).
fn allow_many_files() {
    // SAFETY: an rlimit is plain integers, for which zero is valid, and it outlives the calls.
    unsafe {
        let mut limit: libc::rlimit = zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

fn leave_on_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        leave(101);
    }));
}

fn leave_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let wait = move || {
        if signals.forever().next().is_some() {
            leave(0);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}

/// A command may go on for hours without a word, and only writing would tell that its controller has died.
fn leave_without_reader() -> io::Result<()> {
    let wait = || {
        if wait_for_hangup(libc::STDOUT_FILENO) {
            leave_with(&"nobody reads the answers any more");
        }
    };
    thread::Builder::new().name("reader".into()).spawn(wait).map(drop)
}

/// Returns when the other end of a pipe or socket is closed, and not at all for a file; false when that cannot be told.
fn wait_for_hangup(file: libc::c_int) -> bool {
    let mut watched = libc::pollfd {
        fd: file,
        events: 0,
        revents: 0,
    };
    loop {
        // SAFETY: `watched` is one pollfd, as said, and outlives the call.
        match unsafe { libc::poll(&mut watched, 1, -1) } {
            1.. => return true,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
}
