//! What the processes of a control group asked of one disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::account::cgroup::open_named;
use crate::account::gauge::{Gauge, number, value_of, words};

/// A control group that counts the server's requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DiskGroup {
    V1 { blkio: PathBuf },
    V2 { path: PathBuf },
}

/// The files have a line, or several, for each disk of the host.
const LONGEST_BYTES: usize = 16 << 10;

/// Requests and bytes since the group was made. In a group they are counted as asked for, before the kernel merges neighbours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Requests {
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
}

/// Reads the counters of one group and disk.
#[derive(Debug)]
pub struct Group {
    /// `8:0`
    disk: String,
    files: Files,
}

#[derive(Debug)]
enum Files {
    V1 { serviced: Gauge, bytes: Gauge },
    V2 { stat: Gauge },
}

impl Group {
    pub fn open(spec: &DiskGroup, disk: &str) -> io::Result<Self> {
        let files = match spec {
            DiskGroup::V1 { blkio } => {
                count_v1(blkio, disk)?;
                Files::V1 {
                    serviced: open_named(&blkio.join("blkio.throttle.io_serviced"))?,
                    bytes: open_named(&blkio.join("blkio.throttle.io_service_bytes"))?,
                }
            }
            DiskGroup::V2 { path } => Files::V2 {
                stat: open_named(&path.join("io.stat"))?,
            },
        };
        let disk = disk.to_owned();
        let group = Self { disk, files };
        if group.counts() {
            Ok(group)
        } else {
            Err(io::Error::other(
                "the control group v1 of the server has no figures of this device",
            ))
        }
    }

    /// In version 1 a disk that is counted has lines from the beginning, in version 2 only once it was asked for something.
    fn counts(&self) -> bool {
        match &self.files {
            Files::V1 { serviced, .. } => {
                let has_line = serviced.read_long(LONGEST_BYTES, |content| self.lines(content).next().map(|_| ()));
                has_line.is_ok()
            }
            Files::V2 { .. } => true,
        }
    }

    /// In version 1 what the kernel writes back by itself belongs to no group.
    pub fn counts_writes(&self) -> bool {
        matches!(self.files, Files::V2 { .. })
    }

    /// What has no line is what the group never asked for.
    pub fn read(&self) -> io::Result<Requests> {
        match &self.files {
            Files::V1 { serviced, bytes } => {
                let [reads, writes] = self.both(serviced)?;
                let [read_bytes, write_bytes] = self.both(bytes)?;
                Ok(Requests {
                    reads,
                    writes,
                    read_bytes,
                    write_bytes,
                })
            }
            Files::V2 { stat } => stat.read_long(LONGEST_BYTES, |content| {
                self.lines(content)
                    .next()
                    .map_or(Some(Requests::default()), Requests::parse)
            }),
        }
    }

    /// `8:0 Read 12` and `8:0 Write 3`.
    fn both(&self, file: &Gauge) -> io::Result<[u64; 2]> {
        file.read_long(LONGEST_BYTES, |content| {
            let of = |kind: &str| {
                let line = self
                    .lines(content)
                    .find(|line| words(line).next() == Some(kind.as_bytes()));
                line.map_or(Some(0), |line| number(words(line).nth(1)?))
            };
            Some([of("Read")?, of("Write")?])
        })
    }

    /// What follows the disk's number in its lines.
    fn lines<'a>(&'a self, content: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let lines = content.split(|byte| *byte == b'\n');
        lines.filter_map(|line| line.strip_prefix(self.disk.as_bytes())?.strip_prefix(b" "))
    }
}

/// Linux from 6.10 on counts the requests of groups of version 1 once any group has a rule for that disk. This one is "no limit".
fn count_v1(blkio: &Path, disk: &str) -> io::Result<()> {
    let rules = blkio.join("blkio.throttle.read_bps_device");
    fs::write(&rules, format!("{disk} 0"))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", rules.display())))
}

impl Requests {
    /// `rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`
    fn parse(line: &[u8]) -> Option<Self> {
        // A disk whose figures were switched off has a line with nothing in it.
        let value = |key| value_of(line, key).or(words(line).next().is_none().then_some(0));
        Some(Self {
            reads: value("rios")?,
            writes: value("wios")?,
            read_bytes: value("rbytes")?,
            write_bytes: value("wbytes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A folder with such files as a group has.
    fn look_alike(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("dbversus-disk-group-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        files
            .iter()
            .for_each(|(file, content)| fs::write(folder.join(file), content).unwrap());
        folder
    }

    #[test]
    fn version_2_has_a_line_for_each_disk() {
        let stat = "8:16 rbytes=99 wbytes=98 rios=97 wios=96 dbytes=0 dios=0\n\
                    8:1 rbytes=5 wbytes=5 rios=5 wios=5 dbytes=0 dios=0\n\
                    254:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n7:0 \n";
        let path = look_alike("v2", &[("io.stat", stat)]);
        let read = |disk: &str| {
            Group::open(&DiskGroup::V2 { path: path.clone() }, disk)
                .unwrap()
                .read()
                .unwrap()
        };
        let expected = Requests {
            reads: 192,
            writes: 353,
            read_bytes: 1_459_200,
            write_bytes: 314_773_504,
        };
        assert_eq!(read("254:0"), expected);
        assert_eq!(read("8:1").reads, 5);
        for nothing in ["8:0", "7:0"] {
            assert_eq!(read(nothing), Requests::default());
        }
        fs::remove_dir_all(&path).unwrap();
        let error = Group::open(&DiskGroup::V2 { path }, "8:0").unwrap_err();
        assert!(error.to_string().contains("io.stat"), "{error}");
    }

    #[test]
    fn version_1_has_a_line_for_each_disk_and_direction() {
        let lines = |read: u64, write: u64| {
            format!(
                "8:0 Read 7\n8:0 Write 7\n254:0 Read {read}\n254:0 Write {write}\n254:0 Sync 9\n254:0 Async 0\n\
                 254:0 Discard 0\n254:0 Total 9\nTotal 16\n"
            )
        };
        let (serviced, bytes) = (lines(64, 3), lines(1_048_576, 12_288));
        let blkio = look_alike(
            "v1",
            &[
                ("blkio.throttle.io_serviced", &serviced),
                ("blkio.throttle.io_service_bytes", &bytes),
            ],
        );
        let group = |disk: &str| Group::open(&DiskGroup::V1 { blkio: blkio.clone() }, disk).unwrap();
        let expected = Requests {
            reads: 64,
            writes: 3,
            read_bytes: 1_048_576,
            write_bytes: 12_288,
        };
        assert_eq!(group("254:0").read().unwrap(), expected);
        assert!(!group("254:0").counts_writes());
        let rules = fs::read_to_string(blkio.join("blkio.throttle.read_bps_device")).unwrap();
        assert_eq!(rules, "254:0 0");
        let uncounted = Group::open(&DiskGroup::V1 { blkio: blkio.clone() }, "259:0").unwrap_err();
        assert!(
            uncounted.to_string().contains("no figures of this device"),
            "{uncounted}"
        );
        fs::remove_dir_all(blkio).unwrap();
    }
}
