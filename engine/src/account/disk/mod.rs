//! What a server reads from and writes to its disk: requests and bytes below the page cache.
//!
//! `device` finds and reads the disk that holds the server's data, `group` what a control group asked of that disk. The
//! figures of a server are those of its group; where no group counts them, they are those of the whole disk.

mod device;
mod group;

use std::io;
use std::path::PathBuf;

use serde::Deserialize;

use device::{Counters, Device};
pub use group::DiskGroup;
use group::{Group, Requests};

use crate::record::ServerFigures;

/// Where a target's disk figures are found (docs/engine-protocol.md, `disk`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// A file or folder on the disk.
    pub path: PathBuf,
    #[serde(default)]
    pub cgroup: Option<DiskGroup>,
}

/// Reads the counters of one server's disk. They are cumulative: what an interval took is the difference of two readings.
#[derive(Debug, Default)]
pub struct DiskMeter {
    device: Option<Device>,
    group: Option<Group>,
    note: Option<String>,
}

impl DiskMeter {
    /// What this host cannot tell is unknown in the figures, and said in `note`.
    pub fn open(spec: &DiskSpec) -> Self {
        match Device::holding(&spec.path) {
            Ok(device) => Self::of(device, spec.cgroup.as_ref()),
            Err(error) => Self {
                note: Some(format!("disk reads and writes are unknown: {error}")),
                ..Self::default()
            },
        }
    }

    fn of(device: Device, spec: Option<&DiskGroup>) -> Self {
        let opened = spec.map(|spec| Group::open(spec, &device.number)).transpose();
        let opened =
            opened.and_then(|group| group.ok_or_else(|| io::Error::other("no control group counts the server's")));
        let (group, note) = match opened {
            Ok(group) => {
                let note = (!group.counts_writes()).then(|| {
                    whole(
                        "disk writes",
                        &device,
                        "control group v1 does not count what the kernel writes back later",
                    )
                });
                (Some(group), note)
            }
            Err(error) => (None, Some(whole("disk reads and writes", &device, &error.to_string()))),
        };
        Self {
            device: Some(device),
            group,
            note,
        }
    }

    /// What somebody who reads the figures has to know about them.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The counters so far, in the fields that are the disk's; the others are unknown.
    pub fn read(&self) -> ServerFigures {
        let device = self.device.as_ref().and_then(|device| device.read().ok());
        let of_device = device.map(|counters| counters.requests());
        let own = match &self.group {
            Some(group) => group.read().ok(),
            None => of_device,
        };
        let writes = match &self.group {
            Some(group) if !group.counts_writes() => of_device,
            _ => own,
        };
        figures(device, own, writes)
    }
}

fn whole(figures: &str, device: &Device, why: &str) -> String {
    format!(
        "{figures} are those of the whole device {}, whoever caused them: {why}",
        device.name
    )
}

fn figures(device: Option<Counters>, reads: Option<Requests>, writes: Option<Requests>) -> ServerFigures {
    ServerFigures {
        disk_reads: reads.map(|requests| requests.reads),
        disk_read_bytes: reads.map(|requests| requests.read_bytes),
        disk_writes: writes.map(|requests| requests.writes),
        disk_write_bytes: writes.map(|requests| requests.write_bytes),
        device_reads: device.map(|counters| counters.reads),
        device_writes: device.map(|counters| counters.writes),
        device_read_bytes: device.map(|counters| counters.read_bytes),
        device_write_bytes: device.map(|counters| counters.write_bytes),
        device_read_ns: device.map(|counters| counters.read_ns),
        device_write_ns: device.map(|counters| counters.write_ns),
        device_busy_ns: device.map(|counters| counters.busy_ns),
        device_queue_ns: device.map(|counters| counters.queue_ns),
        ..ServerFigures::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::test_group::TestGroup;
    use std::path::Path;

    /// A folder on the disk that the tests' programs are on; tests are left out where that is none.
    fn on_disk() -> Option<DiskSpec> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
        let found = Device::holding(&path);
        if let Err(error) = &found {
            crate::skip::skip(&error.to_string());
        }
        found.is_ok().then_some(DiskSpec { path, cgroup: None })
    }

    /// Writes and reads 64 times 16 KiB past the page cache.
    const SCRIPT: &str = "dd if=/dev/zero of=$F bs=16k count=64 oflag=direct,dsync 2>/dev/null; \
        dd if=$F of=/dev/null bs=16k count=64 iflag=direct 2>/dev/null; rm $F";
    const COUNT: u64 = 64;
    const BYTES: u64 = COUNT * (16 << 10);

    fn script(number: u32) -> String {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/disk-{}-{number}", std::process::id()));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        format!("F={}; {SCRIPT}", file.display())
    }

    #[test]
    fn without_a_control_group_the_figures_are_those_of_the_device() {
        let Some(spec) = on_disk() else { return };
        let meter = DiskMeter::open(&spec);
        assert!(meter.note().unwrap().contains("of the whole device"), "{meter:?}");
        let before = meter.read();
        assert!(crate::test_tree::Tree::start(&script(1)).0.wait().unwrap().success());
        let used = meter.read().since(&before);
        assert!(
            used.disk_reads >= Some(COUNT) && used.disk_read_bytes >= Some(BYTES),
            "{used:?}"
        );
        assert!(
            used.disk_write_bytes >= Some(BYTES) && used.device_busy_ns.is_some(),
            "{used:?}"
        );
        assert_eq!(
            (used.disk_reads, used.disk_writes),
            (used.device_reads, used.device_writes)
        );
        assert_eq!(used.server_cpu_ns, None);
    }

    #[test]
    fn a_control_group_of_version_1_counts_the_reads_of_its_processes_alone() {
        let (Some(spec), Some(group)) = (on_disk(), TestGroup::v1("blkio")) else {
            return;
        };
        let cgroup = Some(DiskGroup::V1 {
            blkio: group.path().to_owned(),
        });
        let meter = DiskMeter::open(&DiskSpec { cgroup, ..spec });
        assert!(
            meter
                .note()
                .unwrap()
                .starts_with("disk writes are those of the whole device")
        );
        let before = meter.read();
        assert!(crate::test_tree::Tree::start(&script(2)).0.wait().unwrap().success());
        assert_eq!(meter.read().since(&before).disk_reads, Some(0));
        assert!(group.shell(&script(3)).0.wait().unwrap().success());
        let used = meter.read().since(&before);
        // The shell and dd themselves may have been read, too.
        assert!((COUNT..COUNT * 2).contains(&used.disk_reads.unwrap()), "{used:?}");
        assert!(used.device_reads >= Some(2 * COUNT), "{used:?}");
    }

    #[test]
    fn what_lies_in_memory_is_on_no_disk() {
        let path = PathBuf::from("/proc/self");
        let meter = DiskMeter::open(&DiskSpec { path, cgroup: None });
        assert!(
            meter
                .note()
                .unwrap()
                .starts_with("disk reads and writes are unknown: /proc/self"),
            "{meter:?}"
        );
        assert_eq!(meter.read(), ServerFigures::default());
    }
}
