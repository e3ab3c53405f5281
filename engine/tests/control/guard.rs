//! The guard: when its input ends, the processes, groups and paths it was told of are gone.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use crate::harness::{Engine, Scratch, children_of, is_alive};
use crate::skip::skip;
use crate::tree::wait_for;
use serde_json::json;

/// A shell with two sleeping children, and all their ids.
fn sleepers() -> (Child, Vec<i32>) {
    let shell = Command::new("sh")
        .args(["-c", "sleep 600 & sleep 601 & wait"])
        .spawn()
        .unwrap();
    let root = shell.id() as i32;
    wait_for("the children", || children_of(root).len() == 2);
    let mut family = children_of(root);
    family.insert(0, root);
    (shell, family)
}

fn is_gone(family: &[i32]) -> bool {
    family.iter().all(|pid| !is_alive(*pid))
}

#[test]
fn trees_and_paths_are_gone_when_the_input_ends_and_released_ones_are_not() {
    let scratch = Scratch::new("guard");
    let (data, kept, file) = (
        scratch.path().join("data"),
        scratch.path().join("kept"),
        scratch.path().join("a.sock"),
    );
    fs::create_dir_all(data.join("base/1")).unwrap();
    fs::create_dir_all(&kept).unwrap();
    std::os::unix::net::UnixListener::bind(&file).unwrap();
    let (mut doomed, doomed_family) = sleepers();
    let (mut released, released_family) = sleepers();

    let mut guard = Engine::start_with(&["guard"]);
    guard.send(&json!({"cgroup_dirs": [], "root_pid": doomed.id(), "paths": [data, file, "/", "relative"]}));
    guard.send(&json!({"cgroup_dirs": [], "root_pid": released.id(), "paths": [kept]}));
    guard.send(&json!({"what": "is this"}));
    guard.send(&json!({"release": released.id()}));
    // SIGSTOP is no refuge.
    // SAFETY: takes numbers alone.
    doomed_family
        .iter()
        .for_each(|pid| assert_eq!(unsafe { libc::kill(*pid, libc::SIGSTOP) }, 0));
    assert!(guard.quits_at_end_of_input());

    assert!(is_gone(&doomed_family) && !data.exists() && !file.exists());
    assert!(released_family.iter().all(|pid| is_alive(*pid)) && kept.exists());
    doomed.wait().unwrap();
    // SAFETY: takes numbers alone.
    released_family
        .iter()
        .for_each(|pid| assert_eq!(unsafe { libc::kill(*pid, libc::SIGKILL) }, 0));
    released.wait().unwrap();
}

/// A bit for each signal.
fn ignored_by(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    u64::from_str_radix(mask.unwrap().trim(), 16).unwrap()
}

#[test]
fn signals_do_not_end_a_guard() {
    let (mut shell, family) = sleepers();
    let mut guard = Engine::start_with(&["guard"]);
    guard.send(&json!({"root_pid": shell.id()}));
    let pid = guard.pid();
    let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    wait_for("the guard to ignore them", || {
        signals.iter().all(|signal| ignored_by(pid) & 1 << (signal - 1) != 0)
    });
    for signal in signals {
        // SAFETY: takes numbers alone.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }
    assert!(guard.quits_at_end_of_input());
    assert!(is_gone(&family));
    shell.wait().unwrap();
}

#[test]
fn frozen_groups_of_version_1_are_thawed_emptied_and_removed() {
    clean_up_after(Path::new("/sys/fs/cgroup/freezer"), "freezer.state", "FROZEN");
}

#[test]
fn frozen_groups_of_version_2_are_thawed_emptied_and_removed() {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let point = mounts
        .filter(|fields| fields[2] == "cgroup2")
        .map(|fields| fields[1].to_owned())
        .next();
    clean_up_after(Path::new(&point.unwrap_or_default()), "cgroup.freeze", "1");
}

/// `switch` freezes a group below `root` when `word` is written to it.
fn clean_up_after(root: &Path, switch: &str, word: &str) {
    let group = root.join(format!("dbversus-guard-{}", std::process::id()));
    if !root.join("cgroup.procs").exists() || fs::create_dir(&group).is_err() {
        return skip(&format!("no control group with {switch} that we may use"));
    }
    // An orphan: not below the root process, found through its group alone.
    let procs = group.join("cgroup.procs");
    let script = format!("echo $$ > {}; (sleep 600 & echo $!); exec sleep 601", procs.display());
    let mut root = Command::new("sh")
        .args(["-c", &script])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let members = || {
        fs::read_to_string(&procs)
            .unwrap()
            .lines()
            .map(|pid| pid.parse().unwrap())
            .collect::<Vec<i32>>()
    };
    wait_for("two members", || members().len() == 2);
    let family = members();
    fs::write(group.join(switch), word).unwrap();

    let mut guard = Engine::start_with(&["guard"]);
    guard.send(&json!({"cgroup_dirs": [group], "root_pid": root.id(), "paths": []}));
    let reaper = std::thread::spawn(move || root.wait().unwrap());
    assert!(guard.quits_at_end_of_input());
    reaper.join().unwrap();
    assert!(is_gone(&family) && !group.exists());
}
