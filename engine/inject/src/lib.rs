//! Preloaded into a DBMS server (`LD_PRELOAD`), it slows the server down by a share of what the server really does, and counts
//! what it added: after each read from a socket it burns CPU, all the time or in bursts, after each read or write of a file it
//! reads some more.
//!
//! The file named in `DBVERSUS_INJECT` is the control page: whoever made it sets the shares, also while the server runs, and
//! reads the counters (`page.rs`; src/dbversus/servers/injection.py is the other side). Without it every call is passed on.
//!
//! Code here runs inside somebody else's calls, in forked processes and in threads: it allocates nothing, locks nothing and
//! keeps `errno`.

mod burn;
mod bursts;
mod next;
mod page;
mod scratch;
mod wrap;

use std::env;
use std::io::{self, Write};
use std::sync::atomic::{AtomicPtr, Ordering};

use page::Page;

const VARIABLE: &str = "DBVERSUS_INJECT";
const SCRATCH_SUFFIX: &str = ".scratch";

/// Null: pass everything on.
static PAGE: AtomicPtr<Page> = AtomicPtr::new(std::ptr::null_mut());

/// Processes forked later share the mapping.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = attach;

extern "C" fn attach() {
    for next in wrap::NEXT {
        next.find();
    }
    let outcome = match env::var_os(VARIABLE) {
        Some(path) => Page::map(path.as_ref()).map(|page| {
            let mut scratch = path;
            scratch.push(SCRATCH_SUFFIX);
            scratch::open(scratch.as_ref(), page);
            PAGE.store(std::ptr::from_ref(page).cast_mut(), Ordering::Release);
        }),
        None => Err(io::Error::new(io::ErrorKind::NotFound, "it is not set")),
    };
    if let Err(error) = outcome {
        // Nobody may be left to read it.
        let _ = writeln!(
            io::stderr(),
            "dbversus-inject: nothing is slowed down: {VARIABLE}: {error}"
        );
    }
}

/// Follows up a call that moved `count` bytes, or failed (0 or less).
fn after(count: libc::ssize_t, then: fn(&Page, u64)) {
    let Ok(bytes @ 1..) = u64::try_from(count) else {
        return;
    };
    // SAFETY: null, or a page that stays mapped for as long as the process lives.
    let Some(page) = (unsafe { PAGE.load(Ordering::Acquire).as_ref() }) else {
        return;
    };
    // SAFETY: the calling thread's own errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let kept = unsafe { *errno };
    then(page, bytes);
    // SAFETY: as above.
    unsafe { *errno = kept };
}
