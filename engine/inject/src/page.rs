//! The control page: a file that is mapped by its maker, who sets shares and reads counters, and by the server's processes.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bursts::Bursts;

const MAGIC: u64 = u64::from_ne_bytes(*b"dbvinjct");
const VERSION: u64 = 2;

/// Eight bytes each, in the host's order; src/dbversus/servers/injection.py has the same layout.
#[repr(C)]
pub struct Page {
    magic: u64,
    version: u64,
    /// Rises when shares change: work of before is none of the new shares'.
    epoch: AtomicU64,
    /// Bits of an f64: CPU to burn per CPU that was used.
    cpu_share: AtomicU64,
    /// Bits of an f64: bytes to read per byte that was read or written.
    io_share: AtomicU64,
    /// Why nothing can be read past the page cache; 0: it can.
    io_errno: AtomicU64,
    /// Of every so much work of a thread, the part in which CPU is burned; without the second, all.
    cpu_burst_ns: AtomicU64,
    cpu_every_ns: AtomicU64,
    /// How far into the first of these a thread begins.
    cpu_phase_ns: AtomicU64,
    _spare: [u64; 7],
    pub reads: AtomicU64,
    pub work_ns: AtomicU64,
    pub burned_ns: AtomicU64,
    pub io_bytes_seen: AtomicU64,
    pub io_bytes_added: AtomicU64,
    pub io_reads_added: AtomicU64,
}

/// Counters are sums that are read when the server is at rest; no order is needed.
pub fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

impl Page {
    /// Maps the file for the rest of the process's life.
    pub fn map(path: &OsStr) -> io::Result<&'static Self> {
        let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()));
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        let size = size_of::<Self>();
        if file.metadata()?.len() < size as u64 {
            return Err(wrong(format!("it is no control page: it has fewer than {size} bytes")));
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file that has all the bytes.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                access,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: mapped just now and, once given away, never unmapped; aligned to a page of memory; any bits are a valid Page.
        let page = unsafe { &*start.cast::<Self>() };
        let why = match (page.magic, page.version) {
            (MAGIC, VERSION) => return Ok(page),
            (MAGIC, other) => format!("it has version {other}, this library knows {VERSION}"),
            _ => "it is no control page".into(),
        };
        // Who looks whether the page is mapped shall not find it. SAFETY: nobody else has it yet.
        unsafe { libc::munmap(start, size) };
        Err(wrong(why))
    }

    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    pub fn cpu_share(&self) -> f64 {
        sane(self.cpu_share.load(Ordering::Relaxed))
    }

    pub fn io_share(&self) -> f64 {
        sane(self.io_share.load(Ordering::Relaxed))
    }

    pub fn cpu_bursts(&self) -> Bursts {
        Bursts {
            burst_ns: self.cpu_burst_ns.load(Ordering::Relaxed),
            every_ns: self.cpu_every_ns.load(Ordering::Relaxed),
            phase_ns: self.cpu_phase_ns.load(Ordering::Relaxed),
        }
    }

    pub fn refuse_io(&self, errno: i32) {
        self.io_errno
            .store(u64::try_from(errno).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// A share from 0 to 1; whatever else stands there is 0.
fn sane(bits: u64) -> f64 {
    let share = f64::from_bits(bits);
    if (0.0..=1.0).contains(&share) { share } else { 0.0 }
}

#[cfg(test)]
impl Page {
    pub fn io_errno(&self) -> u64 {
        self.io_errno.load(Ordering::Relaxed)
    }

    pub fn set_bursts(&self, bursts: Bursts) {
        self.cpu_burst_ns.store(bursts.burst_ns, Ordering::Relaxed);
        self.cpu_every_ns.store(bursts.every_ns, Ordering::Relaxed);
        self.cpu_phase_ns.store(bursts.phase_ns, Ordering::Relaxed);
    }

    pub fn new(epoch: u64, cpu_share: f64, io_share: f64) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            magic: MAGIC,
            version: VERSION,
            epoch: AtomicU64::new(epoch),
            cpu_share: AtomicU64::new(cpu_share.to_bits()),
            io_share: AtomicU64::new(io_share.to_bits()),
            io_errno: zero(),
            cpu_burst_ns: zero(),
            cpu_every_ns: zero(),
            cpu_phase_ns: zero(),
            _spare: [0; 7],
            reads: zero(),
            work_ns: zero(),
            burned_ns: zero(),
            io_bytes_seen: zero(),
            io_bytes_added: zero(),
            io_reads_added: zero(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::mem::offset_of;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_layout_is_the_one_that_is_agreed_on() {
        let offsets = [
            offset_of!(Page, epoch),
            offset_of!(Page, cpu_share),
            offset_of!(Page, io_share),
            offset_of!(Page, io_errno),
            offset_of!(Page, cpu_burst_ns),
            offset_of!(Page, cpu_phase_ns),
            offset_of!(Page, reads),
            offset_of!(Page, io_reads_added),
        ];
        assert_eq!(offsets, [16, 24, 32, 40, 48, 64, 128, 168]);
    }

    #[test]
    fn shares_that_make_no_sense_are_none() {
        for share in [f64::NAN, f64::INFINITY, -0.1, 1.5] {
            assert_eq!(sane(share.to_bits()), 0.0, "{share}");
        }
        assert_eq!(sane(0.03f64.to_bits()), 0.03);
    }

    fn refusal(name: &str, content: &[u8]) -> String {
        let path: PathBuf = std::env::temp_dir().join(format!("dbversus-inject-{}-{name}", std::process::id()));
        fs::write(&path, content).unwrap();
        let refused = Page::map(path.as_os_str()).err().expect("it is refused").to_string();
        fs::remove_file(&path).unwrap();
        refused
    }

    #[test]
    fn files_that_are_no_control_page_are_refused() {
        assert!(refusal("short", b"dbvinjct").contains("fewer than"));
        assert!(refusal("other", &[7; 4096]).contains("no control page"));
        let newer: Vec<u8> = b"dbvinjct"
            .iter()
            .copied()
            .chain(9u64.to_ne_bytes())
            .chain([0; 4096])
            .collect();
        assert!(refusal("newer", &newer).contains("version 9"));
        let missing = Page::map(OsStr::new("/nowhere/page")).err().expect("it is missing");
        assert!(missing.to_string().contains("/nowhere/page"));
    }
}
