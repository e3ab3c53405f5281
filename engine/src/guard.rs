//! The guard: outlives its parent, and sees to it that the parent's servers do not.
//!
//! It is told what to clean up on standard input, one JSON object per line, and starts when that ends: a pipe's other end is
//! closed by the kernel however its owner dies.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, BufRead};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;

use self::shared_memory::{SharedMemory, is_segment, owner_of};
use crate::account::tree::{self, Stat};

mod shared_memory;

/// How long to go on killing. What has not died by then waits for a disk that does not answer.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "accepted are {\"cgroup_dirs\", \"root_pid\", \"paths\"} and {\"release\": N}"
)]
enum Line {
    Release(Release),
    Entry(Entry),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    release: i32,
}

/// One server to clean up after.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    root_pid: i32,
    #[serde(default)]
    cgroup_dirs: Vec<PathBuf>,
    #[serde(default)]
    paths: Vec<PathBuf>,
}

/// A process that cannot be mistaken for a later one with the same number.
type ProcessId = (i32, u64);

struct Ward {
    entry: Entry,
    root: Option<ProcessId>,
    /// Whose shared memory is its own.
    user: Option<u32>,
}

/// Guards until the end of input, then cleans up. Errors of single steps are told on standard error.
pub fn watch(input: impl BufRead) {
    outlive_the_parent();
    let wards = listen(input);
    wards.iter().for_each(thaw);
    kill_all(&wards).remove();
    wards.iter().for_each(clear_away);
}

/// Leaves the parent's session and ignores the signals that are sent to all of a terminal's or a service's processes.
fn outlive_the_parent() {
    // SAFETY: takes numbers alone. setsid fails for the leader of a process group, which is as far away as it need be.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

fn listen(input: impl BufRead) -> Vec<Ward> {
    let mut wards = BTreeMap::new();
    for line in input.split(b'\n').map_while(Result::ok) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(Line::Release(Release { release })) => drop(wards.remove(&release)),
            Ok(Line::Entry(entry)) => drop(wards.insert(entry.root_pid, Ward::new(entry))),
            Err(error) => complain("a line was ignored", &error),
        }
    }
    wards.into_values().collect()
}

impl Ward {
    fn new(mut entry: Entry) -> Self {
        entry.cgroup_dirs.retain(|directory| may_be_emptied(directory));
        entry.paths.retain(|path| may_be_removed(path));
        let root = (entry.root_pid > 1).then(|| identify(entry.root_pid)).flatten();
        let user = root.and_then(|root| tree::user_of(root.0));
        Self { entry, root, user }
    }

    fn listed(&self, file: &str) -> Vec<i32> {
        let lists = self
            .entry
            .cgroup_dirs
            .iter()
            .filter_map(|directory| fs::read_to_string(directory.join(file)).ok());
        lists
            .flat_map(|list| list.lines().filter_map(|line| line.parse().ok()).collect::<Vec<i32>>())
            .collect()
    }
}

fn identify(pid: i32) -> Option<ProcessId> {
    let stat = Stat::of(pid).ok().flatten()?;
    (!stat.is_dead()).then_some((pid, stat.start_ticks))
}

/// A group of its own, below a hierarchy's root: everything in it will be killed.
fn may_be_emptied(directory: &Path) -> bool {
    let is_group = |directory: &Path| directory.join("cgroup.procs").exists();
    let is_own = directory.is_absolute() && is_group(directory) && directory.parent().is_some_and(is_group);
    if !is_own {
        complain("a cgroup directory was ignored", &directory.display());
    }
    is_own
}

/// Absolute, at least two levels deep, and without a way back up.
fn may_be_removed(path: &Path) -> bool {
    let names = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .count();
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    let is_safe = path.is_absolute() && names >= 2 && !goes_up;
    if !is_safe {
        complain("a path was ignored", &path.display());
    }
    is_safe
}

/// A frozen process does not even die.
fn thaw(ward: &Ward) {
    for directory in &ward.entry.cgroup_dirs {
        for (file, text) in [("freezer.state", "THAWED"), ("cgroup.freeze", "0")] {
            if directory.join(file).exists() {
                report("thawing", &directory.join(file), fs::write(directory.join(file), text));
            }
        }
    }
}

/// Kills until nothing is left: what is killed may have given birth meanwhile. Returns the shared memory of the dead.
///
/// A server may make itself new memory, or begin to remove its own, at any time: it is stopped before anybody looks.
fn kill_all(wards: &[Ward]) -> SharedMemory {
    let began = Instant::now();
    let mut memory = SharedMemory::of(wards.iter().filter_map(|ward| ward.user).collect());
    let mut known: Vec<ProcessId> = wards.iter().filter_map(|ward| ward.root).collect();
    loop {
        add_descendants(&mut known);
        let listed = wards
            .iter()
            .flat_map(|ward| ward.listed("cgroup.procs"))
            .filter_map(identify);
        known.extend(listed);
        known.sort_unstable();
        known.dedup();
        known.retain(|process| identify(process.0) == Some(*process));
        if known.is_empty() {
            let roots = wards.iter().filter_map(|ward| ward.root);
            roots.for_each(|root| memory.note_unused_by(root.0));
            return memory;
        }
        if began.elapsed() > PATIENCE {
            complain("these processes did not die", &format!("{known:?}"));
            return memory;
        }
        known.iter().for_each(|process| signal(process.0, libc::SIGSTOP));
        known.iter().for_each(|process| memory.note(process.0));
        known.iter().for_each(|process| signal(process.0, libc::SIGKILL));
        std::thread::sleep(PAUSE);
    }
}

/// Adds the living descendants of the processes known. Those whose parent has died meanwhile were found before it did.
fn add_descendants(known: &mut Vec<ProcessId>) {
    if known.is_empty() {
        return;
    }
    let children: HashMap<i32, Vec<i32>> = tree::by_parent().unwrap_or_else(|error| {
        complain("processes cannot be listed", &error);
        HashMap::new()
    });
    let mut next = 0;
    while let Some(&(pid, start)) = known.get(next) {
        next += 1;
        if identify(pid) != Some((pid, start)) {
            continue;
        }
        let born = children
            .get(&pid)
            .into_iter()
            .flatten()
            .filter_map(|child| identify(*child));
        let new: Vec<ProcessId> = born.filter(|child| !known.contains(child)).collect();
        known.extend(new);
    }
}

fn signal(pid: i32, number: i32) {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    if pid > 1 && pid != own {
        // SAFETY: takes numbers alone.
        unsafe { libc::kill(pid, number) };
    }
}

fn clear_away(ward: &Ward) {
    // Given parents first, groups have to go children first; a group is busy until its dead have been waited for.
    for directory in ward.entry.cgroup_dirs.iter().rev() {
        let began = Instant::now();
        let mut removed = fs::remove_dir(directory);
        while removed
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
            && began.elapsed() < PATIENCE / 4
        {
            std::thread::sleep(PAUSE);
            removed = fs::remove_dir(directory);
        }
        report("removing", directory, removed);
    }
    let is_own = |path: &&PathBuf| !is_segment(path) || (ward.user.is_some() && owner_of(path) == ward.user);
    for path in ward.entry.paths.iter().filter(is_own) {
        report("removing", path, remove(path));
    }
}

/// Removes a file, a socket, a link (not what it points to) or a directory with all below it.
fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn report(doing: &str, path: &Path, outcome: io::Result<()>) {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            complain(&format!("{doing} {}", path.display()), &error);
        }
        _ => {}
    }
}

fn complain(what: &str, why: &dyn std::fmt::Display) {
    // Nobody may be left to read it.
    let _ = io::Write::write_fmt(
        &mut io::stderr(),
        format_args!("dbversus-engine guard: {what}: {why}\n"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_whole_hierarchies_nor_shallow_paths_are_touched() {
        for path in ["/", "/tmp", "relative/path", "/a/../b/c", "/tmp/.."] {
            assert!(!may_be_removed(Path::new(path)), "{path}");
        }
        assert!(may_be_removed(Path::new("/tmp/server-1")));
        for directory in [
            "/",
            "/tmp",
            "/sys/fs/cgroup",
            "/sys/fs/cgroup/cpuacct",
            "/sys/fs/cgroup/freezer",
        ] {
            assert!(!may_be_emptied(Path::new(directory)), "{directory}");
        }
    }

    #[test]
    fn released_and_malformed_lines_leave_nothing_to_guard() {
        let input = b"{\"root_pid\": 999999999, \"paths\": [\"/tmp/a\"]}\nnonsense\n{\"root_pid\": 5, \"x\": 1}\n{\"release\": 999999999}\n";
        assert!(listen(&input[..]).is_empty());
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let base = std::env::temp_dir().join(format!("dbversus-guard-{}", std::process::id()));
        fs::create_dir_all(base.join("kept/inside")).unwrap();
        fs::create_dir_all(base.join("gone/inside")).unwrap();
        std::os::unix::fs::symlink(base.join("kept"), base.join("gone/link")).unwrap();
        std::os::unix::fs::symlink(base.join("kept"), base.join("link")).unwrap();
        remove(&base.join("gone")).unwrap();
        remove(&base.join("link")).unwrap();
        assert!(base.join("kept/inside").exists() && !base.join("gone").exists() && !base.join("link").exists());
        fs::remove_dir_all(&base).unwrap();
    }
}
