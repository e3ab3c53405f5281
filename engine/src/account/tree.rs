//! Which processes belong to a server: a root process and everything below it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use super::gauge::{Gauge, if_there, number, words};

/// Of the flags in `/proc/PID/stat` (include/linux/sched.h).
const PF_KTHREAD: u64 = 0x0020_0000;

/// Fields of `/proc/PID/stat`, of which times are in clock ticks (proc_pid_stat(5)).
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    pub state: u8,
    pub parent: i32,
    flags: u64,
    pub minor_faults: u64,
    pub children_minor_faults: u64,
    pub major_faults: u64,
    pub children_major_faults: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub children_user_ticks: u64,
    pub children_system_ticks: u64,
    pub threads: u64,
    /// Since boot; with the process id it names a process for good.
    pub start_ticks: u64,
}

impl Stat {
    pub fn parse(content: &[u8]) -> Option<Self> {
        // The program's name stands in parentheses and may itself contain blanks and parentheses.
        let after_name = content.iter().rposition(|byte| *byte == b')')? + 1;
        let mut fields = words(&content[after_name..]);
        let state = *fields.next()?.first()?;
        let parent = i32::try_from(number(fields.next()?)?).ok()?;
        let mut skip_then_next = |skipped: usize| number(fields.nth(skipped)?);
        Some(Self {
            state,
            parent,
            flags: skip_then_next(4)?,
            minor_faults: skip_then_next(0)?,
            children_minor_faults: skip_then_next(0)?,
            major_faults: skip_then_next(0)?,
            children_major_faults: skip_then_next(0)?,
            user_ticks: skip_then_next(0)?,
            system_ticks: skip_then_next(0)?,
            children_user_ticks: skip_then_next(0)?,
            children_system_ticks: skip_then_next(0)?,
            threads: skip_then_next(2)?,
            start_ticks: skip_then_next(1)?,
        })
    }

    /// None when the process is gone.
    pub fn of(pid: i32) -> io::Result<Option<Self>> {
        Self::at(format!("/proc/{pid}/stat"))
    }

    /// None when the thread is gone.
    pub fn of_thread(pid: i32, tid: i32) -> io::Result<Option<Self>> {
        Self::at(format!("/proc/{pid}/task/{tid}/stat"))
    }

    pub fn at(path: impl AsRef<Path>) -> io::Result<Option<Self>> {
        let content = if_there(fs::read(path))?;
        Ok(content.and_then(|content| Self::parse(&content)))
    }

    /// Dead, though perhaps not yet waited for.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// A thread of the kernel's own.
    pub fn is_kernel_thread(&self) -> bool {
        self.flags & PF_KTHREAD != 0
    }
}

/// Whose process it is: the user who started it, whatever rights it has taken on. None when it is gone.
pub fn user_of(pid: i32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().next()?.parse().ok()
}

/// The number given to the newest process or thread of this host, as `/proc/loadavg` tells it: when it has not changed,
/// none was born. None where it cannot be told.
pub fn newest_pid(loadavg: &Gauge) -> Option<u64> {
    loadavg.read(|content| number(words(content).nth(4)?)).ok()
}

/// Ids of the threads of a process; empty when it is gone.
pub fn threads(pid: i32) -> io::Result<Vec<i32>> {
    numeric_names(format!("/proc/{pid}/task"))
}

/// The names in a directory of `/proc` that are numbers: ids of processes or threads.
pub fn numeric_names(directory: impl AsRef<Path>) -> io::Result<Vec<i32>> {
    let mut numbers = Vec::new();
    for entry in if_there(fs::read_dir(directory))?.into_iter().flatten() {
        // What is listed may end meanwhile, and its list with it.
        let Some(entry) = if_there(entry)? else { break };
        numbers.extend(entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(numbers)
}

/// The root and all processes below it, parents first; empty when the root is gone.
pub fn family(root: i32) -> io::Result<Vec<i32>> {
    if !fs::exists(format!("/proc/{root}"))? {
        return Ok(Vec::new());
    }
    // Kernels without CONFIG_PROC_CHILDREN have no such file; then every process is asked for its parent.
    let by_parent = match fs::exists(format!("/proc/{root}/task/{root}/children")) {
        Ok(true) => None,
        _ => Some(by_parent()?),
    };
    let mut family = vec![root];
    let mut next = 0;
    while let Some(&pid) = family.get(next) {
        match &by_parent {
            Some(children) => family.extend(children.get(&pid).into_iter().flatten()),
            None => family.extend(listed_children(pid)?),
        }
        next += 1;
    }
    Ok(family)
}

fn listed_children(pid: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    for thread in threads(pid)? {
        let listed = if_there(fs::read(format!("/proc/{pid}/task/{thread}/children")))?.unwrap_or_default();
        children.extend(words(&listed).filter_map(|word| i32::try_from(number(word)?).ok()));
    }
    Ok(children)
}

/// The children of every process of this host.
pub fn by_parent() -> io::Result<HashMap<i32, Vec<i32>>> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for pid in numeric_names("/proc")? {
        if let Some(stat) = Stat::of(pid)? {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    Ok(children)
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tree::Tree;
    use std::process::id;

    #[test]
    fn a_process_is_its_users() {
        let own = i32::try_from(std::process::id()).unwrap();
        // SAFETY: takes nothing.
        assert_eq!(user_of(own), Some(unsafe { libc::getuid() }));
        assert_eq!(user_of(0), None);
    }

    #[test]
    fn a_name_full_of_traps_does_not_shift_the_fields() {
        let line = b"12 (a) b (c)) S 7 1 1 0 -1 2097152 10 11 12 13 14 15 16 17 20 0 3 0 99 1 1";
        let stat = Stat::parse(line).unwrap();
        assert_eq!(
            (stat.state, stat.parent, stat.minor_faults, stat.children_major_faults),
            (b'S', 7, 10, 13)
        );
        assert_eq!(
            (
                stat.user_ticks,
                stat.children_system_ticks,
                stat.threads,
                stat.start_ticks
            ),
            (14, 17, 3, 99)
        );
        assert!(stat.is_kernel_thread());
        assert!(!Stat::of(id() as i32).unwrap().unwrap().is_kernel_thread());
        assert!(Stat::parse(b"12 (a) S 7").is_none());
    }

    #[test]
    fn the_family_has_children_and_grandchildren() {
        let shell = Tree::start("sleep 60 & sh -c 'sleep 61; :' & wait");
        let root = shell.pid();
        while family(root).unwrap().len() < 4 {
            std::thread::yield_now();
        }
        let found = family(root).unwrap();
        assert_eq!((found.len(), found[0]), (4, root));
        assert!(by_parent().unwrap()[&(id() as i32)].contains(&root));
        drop(shell);
        assert!(family(root).unwrap().is_empty());
    }
}
