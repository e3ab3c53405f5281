//! IO: reads of a scratch file past the page cache, for a share of the bytes that the server reads and writes.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::page::{Page, add};

/// Bytes of one added read; what O_DIRECT wants all to be aligned to.
const BLOCK: usize = 4096;
/// Blocks of the scratch file that are read in turn (1 MB).
const BLOCKS: u64 = 256;

static SCRATCH: AtomicI32 = AtomicI32::new(-1);

thread_local! {
    static DUE_BYTES: Cell<f64> = const { Cell::new(0.0) };
}

/// Opens the scratch file; where it cannot be read past the page cache, the page says why and nothing is ever added.
pub fn open(path: &OsStr, page: &Page) {
    match OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path) {
        Ok(file) => SCRATCH.store(file.into_raw_fd(), Ordering::Release),
        Err(error) => page.refuse_io(error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

/// For use after each read or write of a file.
pub fn after_transfer(page: &Page, bytes: u64) {
    add(&page.io_bytes_seen, bytes);
    let (due_bytes, blocks) = owed(DUE_BYTES.get(), bytes, page.io_share());
    DUE_BYTES.set(due_bytes);
    for _ in 0..blocks {
        if !read_block(page) {
            return;
        }
    }
}

/// What is due after `bytes` more: bytes of less than a block, and whole blocks.
fn owed(due_bytes: f64, bytes: u64, share: f64) -> (f64, u64) {
    if share <= 0.0 {
        return (0.0, 0);
    }
    let due_bytes = due_bytes + share * bytes as f64;
    let blocks = (due_bytes / BLOCK as f64).floor();
    (due_bytes - blocks * BLOCK as f64, blocks as u64)
}

fn read_block(page: &Page) -> bool {
    let scratch = SCRATCH.load(Ordering::Acquire);
    if scratch < 0 {
        return false;
    }
    let offset = page.io_reads_added.load(Ordering::Relaxed) % BLOCKS * BLOCK as u64;
    match read_direct(scratch, offset) {
        Ok(()) => {
            add(&page.io_bytes_added, BLOCK as u64);
            add(&page.io_reads_added, 1);
            true
        }
        Err(errno) => {
            page.refuse_io(errno);
            false
        }
    }
}

fn read_direct(file: i32, offset: u64) -> Result<(), i32> {
    let mut room = [MaybeUninit::<u8>::uninit(); 2 * BLOCK];
    let start = room.as_mut_ptr();
    let ahead = start.addr().wrapping_neg() % BLOCK;
    // SAFETY: a whole block fits behind the first boundary in `room`. The system call itself, since pread is ours.
    let count = unsafe { libc::syscall(libc::SYS_pread64, file, start.add(ahead), BLOCK, offset) };
    match count {
        whole if whole == BLOCK as libc::c_long => Ok(()),
        0.. => Err(libc::EIO), // somebody has shortened the file
        _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_bytes_is_owed_in_blocks() {
        assert_eq!(owed(0.0, 8192, 0.25), (2048.0, 0));
        assert_eq!(owed(2048.0, 8192, 0.25), (0.0, 1));
        assert_eq!(owed(4095.0, 1 << 20, 1.0), (4095.0, 256));
        assert_eq!(owed(4000.0, 8192, 0.0), (0.0, 0), "nothing is left of another share");
    }

    #[test]
    fn small_transfers_add_up() {
        let (mut due, mut blocks) = (0.0, 0);
        for _ in 0..100_000 {
            let (next, read) = owed(due, 100, 0.01);
            due = next;
            blocks += read;
        }
        assert!((24..=25).contains(&blocks), "{blocks}"); // 100 000 bytes
    }

    #[test]
    fn without_a_scratch_file_nothing_is_added() {
        let page = Page::new(1, 0.0, 1.0);
        after_transfer(&page, 8192);
        assert_eq!(page.io_bytes_seen.load(Ordering::Relaxed), 8192);
        assert_eq!(page.io_bytes_added.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_told_in_the_page() {
        let page = Page::new(1, 0.0, 1.0);
        open(OsStr::new("/nowhere/scratch"), &page);
        assert_eq!(page.io_errno(), u64::try_from(libc::ENOENT).unwrap());
    }
}
