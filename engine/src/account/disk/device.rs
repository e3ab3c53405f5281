//! The block device that holds a file, and its counters.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::group::Requests;
use crate::account::gauge::{Gauge, number, words};

/// Of the counters, whatever the device's own is (Documentation/block/stat.rst of Linux).
const SECTOR_BYTES: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;

/// A whole disk, also where the file is on one of its partitions: control groups count by disk.
#[derive(Debug)]
pub struct Device {
    /// `sda`
    pub name: String,
    /// `8:0`
    pub number: String,
    stat: Gauge,
}

/// Since boot. `read_ns` and `write_ns`: of all requests together, from when they were queued; `busy_ns`: time with any
/// request under way; `queue_ns`: the same times the requests that were under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub read_ns: u64,
    pub write_ns: u64,
    pub busy_ns: u64,
    pub queue_ns: u64,
}

impl Device {
    /// The disk that holds this file or folder. Fails where it is on none: in memory, on another host, or spread over several.
    pub fn holding(path: &Path) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let metadata = fs::metadata(path).map_err(named)?;
        let folder = folder_of(metadata.dev()).or_else(|_| {
            let mounts = fs::read_to_string("/proc/self/mountinfo")?;
            let source = source_of(&mounts, &number_of(metadata.dev()));
            let source = source.ok_or_else(|| io::Error::other("it is on no block device of this host"))?;
            folder_of(fs::metadata(source)?.rdev())
        });
        Self::in_folder(&folder.map_err(named)?).map_err(named)
    }

    /// From its folder in /sys.
    fn in_folder(folder: &Path) -> io::Result<Self> {
        let disk = if folder.join("partition").exists() {
            folder.parent().unwrap_or(folder)
        } else {
            folder
        };
        let name = disk.file_name().unwrap_or_default();
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            number: fs::read_to_string(disk.join("dev"))?.trim().to_owned(),
            stat: Gauge::open(disk.join("stat"))?,
        })
    }

    pub fn read(&self) -> io::Result<Counters> {
        self.stat.read(Counters::parse)
    }
}

impl Counters {
    /// Fields 0 to 10 of a disk's `stat`: reads, reads merged, sectors, ms; the same of writes; requests under way, ms busy,
    /// ms weighted by requests under way.
    fn parse(content: &[u8]) -> Option<Self> {
        let mut field = words(content).map(number);
        let mut next = |skipped: usize| field.nth(skipped)?;
        Some(Self {
            reads: next(0)?,
            read_bytes: next(1)? * SECTOR_BYTES,
            read_ns: next(0)? * NS_PER_MS,
            writes: next(0)?,
            write_bytes: next(1)? * SECTOR_BYTES,
            write_ns: next(0)? * NS_PER_MS,
            busy_ns: next(1)? * NS_PER_MS,
            queue_ns: next(0)? * NS_PER_MS,
        })
    }

    pub fn requests(&self) -> Requests {
        Requests {
            reads: self.reads,
            writes: self.writes,
            read_bytes: self.read_bytes,
            write_bytes: self.write_bytes,
        }
    }
}

fn number_of(device: u64) -> String {
    format!("{}:{}", libc::major(device), libc::minor(device))
}

fn folder_of(device: u64) -> io::Result<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{}", number_of(device)))
}

/// The device that a file system is mounted from which has a number of its own, as btrfs does; None where it is none.
fn source_of<'a>(mounts: &'a str, number: &str) -> Option<&'a str> {
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(number))?;
    let (_, of_file_system) = line.split_once(" - ")?;
    of_file_system
        .split(' ')
        .nth(1)
        .filter(|source| source.starts_with("/dev/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a disk of Linux 6.18.
    const STAT: &str = "  259991    23368 17740994   305181  3534570   867407 275427888  2185481        0   319476  2618235   566216       34 211544728    67934  1051215    59637\n";

    #[test]
    fn counters_are_in_bytes_and_ns() {
        let counters = Counters {
            reads: 259_991,
            writes: 3_534_570,
            read_bytes: 17_740_994 * 512,
            write_bytes: 275_427_888 * 512,
            read_ns: 305_181_000_000,
            write_ns: 2_185_481_000_000,
            busy_ns: 319_476_000_000,
            queue_ns: 2_618_235_000_000,
        };
        assert_eq!(Counters::parse(STAT.as_bytes()), Some(counters));
        assert_eq!(Counters::parse(b"1 2 3 4 5"), None);
    }

    #[test]
    fn a_partition_is_counted_with_its_disk() {
        let disk = std::env::temp_dir().join(format!("dbversus-device-{}/sda", std::process::id()));
        let partition = disk.join("sda2");
        fs::create_dir_all(&partition).unwrap();
        for (file, content) in [
            ("dev", "8:0\n"),
            ("stat", STAT),
            ("sda2/dev", "8:2\n"),
            ("sda2/partition", "2\n"),
        ] {
            fs::write(disk.join(file), content).unwrap();
        }
        for folder in [&disk, &partition] {
            let device = Device::in_folder(folder).unwrap();
            assert_eq!((device.name.as_str(), device.number.as_str()), ("sda", "8:0"));
            assert_eq!(device.read().unwrap().reads, 259_991);
        }
        fs::remove_dir_all(disk.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_file_system_with_a_number_of_its_own_is_found_by_its_source() {
        let mounts = "36 1 0:30 / / rw,noatime shared:1 - btrfs /dev/nvme0n1p3 rw,subvol=/root\n\
                      40 36 0:41 / /tmp rw - tmpfs tmpfs rw\n41 36 0:42 / /d rw - overlay overlay rw\n";
        assert_eq!(source_of(mounts, "0:30"), Some("/dev/nvme0n1p3"));
        for none in ["0:41", "0:42", "0:99"] {
            assert_eq!(source_of(mounts, none), None);
        }
    }
}
