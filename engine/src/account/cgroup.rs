//! CPU time of a control group: all its processes, living and dead.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::gauge::{Gauge, value_of};

/// Where a target's CPU time is counted.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CgroupSpec {
    V1 { cpuacct: PathBuf },
    V2 { path: PathBuf },
}

/// CPU time in ns since the group was made.
#[derive(Debug, Clone, Copy)]
pub struct CpuTime {
    pub total_ns: u64,
    pub user_ns: u64,
    pub system_ns: u64,
}

/// Reads one group's CPU time.
#[derive(Debug)]
pub enum CgroupCpu {
    V1 { total: Gauge, user: Gauge, system: Gauge },
    V2 { stat: Gauge },
}

impl CgroupCpu {
    pub fn open(spec: &CgroupSpec) -> io::Result<Self> {
        match spec {
            CgroupSpec::V1 { cpuacct } => Ok(Self::V1 {
                total: open_named(&cpuacct.join("cpuacct.usage"))?,
                user: open_named(&cpuacct.join("cpuacct.usage_user"))?,
                system: open_named(&cpuacct.join("cpuacct.usage_sys"))?,
            }),
            CgroupSpec::V2 { path } => Ok(Self::V2 {
                stat: open_named(&path.join("cpu.stat"))?,
            }),
        }
    }

    /// All CPU time of this host, where a control group tells it.
    pub fn of_host() -> Option<Self> {
        let v1 = CgroupSpec::V1 {
            cpuacct: "/sys/fs/cgroup/cpuacct".into(),
        };
        let v2 = CgroupSpec::V2 {
            path: "/sys/fs/cgroup".into(),
        };
        [v1, v2]
            .iter()
            .find_map(|spec| Self::open(spec).ok().filter(|group| group.read().is_ok()))
    }

    pub fn total_ns(&self) -> io::Result<u64> {
        match self {
            Self::V1 { total, .. } => total.read_number(),
            Self::V2 { stat } => stat.read(|content| Some(value_of(content, "usage_usec")? * 1000)),
        }
    }

    pub fn read(&self) -> io::Result<CpuTime> {
        match self {
            Self::V1 { total, user, system } => Ok(CpuTime {
                total_ns: total.read_number()?,
                user_ns: user.read_number()?,
                system_ns: system.read_number()?,
            }),
            Self::V2 { stat } => stat.read(|content| {
                Some(CpuTime {
                    total_ns: value_of(content, "usage_usec")? * 1000,
                    user_ns: value_of(content, "user_usec")? * 1000,
                    system_ns: value_of(content, "system_usec")? * 1000,
                })
            }),
        }
    }
}

fn open_named(path: &Path) -> io::Result<Gauge> {
    Gauge::open(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
