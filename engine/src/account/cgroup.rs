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
        [v1, v2].iter().find_map(Self::of_root)
    }

    /// None where the group is not the root of its hierarchy: what a container sees in its place is its own group, and other
    /// work on the host is not in it.
    fn of_root(spec: &CgroupSpec) -> Option<Self> {
        // By a file that only the root of version 1 has, and one that only the root of version 2 lacks.
        let is_root = match spec {
            CgroupSpec::V1 { cpuacct } => cpuacct.join("release_agent").exists(),
            CgroupSpec::V2 { path } => !path.join("cgroup.type").exists(),
        };
        let group = Self::open(spec).ok().filter(|_| is_root)?;
        group.busy_ns().is_ok().then_some(group)
    }

    /// Of a hierarchy's root: time in which CPUs worked for this host. On many kernels the root's total in version 2 holds
    /// what a hypervisor stole from them, too.
    pub fn busy_ns(&self) -> io::Result<u64> {
        match self {
            Self::V1 { total, .. } => total.read_number(),
            Self::V2 { .. } => self.read().map(|time| time.user_ns + time.system_ns),
        }
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

/// Opens a file of a group; the error names it.
pub fn open_named(path: &Path) -> io::Result<Gauge> {
    Gauge::open(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A directory with files such as a group has.
    fn look_alike(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("dbversus-cgroup-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for (file, content) in files {
            fs::write(directory.join(file), content).unwrap();
        }
        directory
    }

    #[test]
    fn stolen_time_is_no_work_of_this_host() {
        let stat = "usage_usec 900\nuser_usec 500\nsystem_usec 100\nnice_usec 5\n";
        let path = look_alike("stolen", &[("cpu.stat", stat)]);
        let root = CgroupCpu::of_root(&CgroupSpec::V2 { path: path.clone() }).unwrap();
        assert_eq!((root.busy_ns().unwrap(), root.total_ns().unwrap()), (600_000, 900_000));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_containers_own_group_does_not_tell_of_its_host() {
        let stat = ("cpu.stat", "usage_usec 9\nuser_usec 5\nsystem_usec 4\n");
        let path = look_alike("v2", &[stat, ("cgroup.type", "domain\n")]);
        assert!(CgroupCpu::of_root(&CgroupSpec::V2 { path: path.clone() }).is_none());
        let usage = ["cpuacct.usage", "cpuacct.usage_user", "cpuacct.usage_sys"].map(|file| (file, "7\n"));
        let cpuacct = look_alike("v1", &usage);
        let spec = CgroupSpec::V1 {
            cpuacct: cpuacct.clone(),
        };
        assert!(CgroupCpu::of_root(&spec).is_none());
        fs::write(cpuacct.join("release_agent"), "").unwrap();
        assert_eq!(CgroupCpu::of_root(&spec).unwrap().busy_ns().unwrap(), 7);
        for directory in [path, cpuacct] {
            fs::remove_dir_all(directory).unwrap();
        }
    }
}
