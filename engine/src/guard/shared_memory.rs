//! Shared memory that outlives processes that are killed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::mem::zeroed;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// POSIX segments (files) and System V segments (ids) of processes that are about to be killed, who may map those of others too.
pub struct SharedMemory {
    /// Whose segments are removed.
    users: BTreeSet<u32>,
    files: BTreeSet<PathBuf>,
    segments: BTreeSet<i32>,
}

impl SharedMemory {
    pub fn of(users: BTreeSet<u32>) -> Self {
        Self {
            users,
            files: BTreeSet::new(),
            segments: BTreeSet::new(),
        }
    }

    /// Adds what a process maps; one that is gone maps nothing.
    pub fn note(&mut self, pid: i32) {
        let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        String::from_utf8_lossy(&maps)
            .lines()
            .for_each(|line| self.note_mapping(line));
    }

    /// `7f00-7f10 rw-s 00000000 00:01 1376261    /SYSV0098c001 (deleted)`: the inode of a System V segment is its id
    /// (proc_pid_maps(5)).
    fn note_mapping(&mut self, line: &str) {
        let mut fields = line.split_whitespace().skip(4);
        let (Some(inode), Some(name)) = (fields.next(), fields.next()) else {
            return;
        };
        if name.starts_with("/SYSV") {
            self.segments.extend(inode.parse::<i32>().ok());
        } else if is_segment(Path::new(name)) {
            self.files.insert(PathBuf::from(name));
        }
    }

    /// Adds the System V segments that a process made, dead or alive, and that no process has attached: it may have been
    /// killed before anybody saw what it had mapped.
    pub fn note_unused_by(&mut self, pid: i32) {
        let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        self.segments.extend(unused_by(pid, &segments));
    }

    /// Those that are gone already, and those of other users, are passed over.
    pub fn remove(&self) {
        let is_own = |owner: u32| self.users.contains(&owner);
        for file in self.files.iter().filter(|file| owner_of(file).is_some_and(is_own)) {
            let _ = fs::remove_file(file);
        }
        for segment in &self.segments {
            if owner_of_segment(*segment).is_some_and(is_own) {
                // SAFETY: takes numbers alone; IPC_RMID reads no buffer.
                unsafe { libc::shmctl(*segment, libc::IPC_RMID, std::ptr::null_mut()) };
            }
        }
    }
}

/// Whether a POSIX segment has such a path; deeper ones are files of somebody's data.
pub fn is_segment(path: &Path) -> bool {
    path.parent().map(Path::as_os_str) == Some(OsStr::new("/dev/shm"))
}

/// None when there is none.
pub fn owner_of(file: &Path) -> Option<u32> {
    fs::symlink_metadata(file).ok().map(|found| found.uid())
}

/// None when it is gone, or not ours to look at.
fn owner_of_segment(segment: i32) -> Option<u32> {
    // SAFETY: a shmid_ds is plain integers, for which zero is valid, and it outlives the call.
    unsafe {
        let mut found: libc::shmid_ds = zeroed();
        (libc::shmctl(segment, libc::IPC_STAT, &mut found) == 0).then_some(found.shm_perm.uid)
    }
}

/// Columns of /proc/sysvipc/shm (proc(5)): key, shmid, perms, size, cpid, lpid, nattch and more.
fn unused_by(pid: i32, table: &str) -> impl Iterator<Item = i32> {
    table.lines().skip(1).filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (&id, &creator, &attached) = (fields.get(1)?, fields.get(4)?, fields.get(6)?);
        let is_unused = creator.parse() == Ok(pid) && attached == "0";
        is_unused.then(|| id.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_nobody_has_attached_are_found_by_their_maker() {
        let table = "       key      shmid perms      size  cpid  lpid nattch   uid   gid
   5505036    3440663   600        56 27548 27548      0 65534 65534
   5505037    3440664   600        56 27548 27548      1 65534 65534
   5505038    3440665   600        56 27549 27548      0 65534 65534
";
        assert_eq!(unused_by(27548, table).collect::<Vec<_>>(), [3_440_663]);
        assert_eq!(unused_by(27548, "").count(), 0);
    }

    #[test]
    fn segments_are_told_from_other_mappings() {
        let mut found = SharedMemory::of(BTreeSet::new());
        for line in [
            "7f66a0000000-7f66a0001000 rw-s 00000000 00:01 1376261                    /SYSV0098c001 (deleted)",
            "7f66a0000000-7f66a0100000 rw-s 00000000 00:15 77                         /dev/shm/PostgreSQL.1729733262",
            "7f66a0000000-7f66a0100000 rw-s 00000000 00:15 78                         /dev/shm/data/ibdata1",
            "7f66a0000000-7f66a0100000 rw-s 00000000 00:01 79                         /dev/zero (deleted)",
            "7f66a0000000-7f66a0001000 r--p 00000000 00:00 0                          [vdso]",
            "7f66a0000000-7f66a0001000 rw-p 00000000 00:00 0",
        ] {
            found.note_mapping(line);
        }
        assert_eq!(found.segments, BTreeSet::from([1_376_261]));
        assert_eq!(
            found.files,
            BTreeSet::from([PathBuf::from("/dev/shm/PostgreSQL.1729733262")])
        );
    }
}
