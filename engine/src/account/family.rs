//! All processes of a server with their threads: sums over them, through births and deaths.

use std::collections::{HashMap, HashSet};
use std::io;

use super::gauge::{Gauge, if_there};
use super::kind::Kinds;
use super::process::{Process, Sched, Thread, Turnover, Usage};
use super::tree;

/// A root process and all below it. What was found late is counted from then on.
#[derive(Debug)]
pub struct Family {
    root_pid: i32,
    processes: Vec<Process>,
    usage: Usage,
    sched: Sched,
    ended_threads: u64,
    /// Why somebody cannot be read: since then no sum is whole.
    unread: Option<String>,
    /// Threads whose work is not background work.
    foreground: HashSet<i32>,
    /// What background threads that are gone have used.
    departed: Kinds,
    loadavg: Option<Gauge>,
    /// As it was when processes were looked for.
    newest_pid: Option<u64>,
}

impl Family {
    pub fn of(root_pid: i32) -> Self {
        let mut family = Self {
            root_pid,
            processes: Vec::new(),
            usage: Usage::default(),
            sched: Sched::default(),
            ended_threads: 0,
            unread: None,
            foreground: HashSet::new(),
            departed: Kinds::new(),
            loadavg: Gauge::open("/proc/loadavg").ok(),
            newest_pid: None,
        };
        family.look_around(None);
        family
    }

    /// As last read, of those who can be read.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What the threads have used since they were found.
    pub fn sched(&self) -> Sched {
        self.sched
    }

    /// Another number whenever a thread or a process has ended.
    pub fn ended(&self) -> u64 {
        self.ended_threads.wrapping_add(self.usage.children_minor_faults)
    }

    /// Why sums are not whole, if they are not.
    pub fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// Sums are whole again when everybody can be read from now on.
    pub fn begin_anew(&mut self) {
        self.unread = None;
        self.look_around(None);
    }

    pub fn set_foreground(&mut self, tids: &[i32]) {
        self.foreground = tids.iter().copied().collect();
    }

    /// CPU time so far of background threads by what they are for; `names` are what the server calls its threads.
    pub fn background(&mut self, names: &HashMap<i32, String>) -> Kinds {
        self.read();
        let mut kinds = self.departed.clone();
        for thread in self.processes.iter_mut().flat_map(|process| &mut process.threads) {
            if !self.foreground.contains(&thread.tid) {
                thread.find_kind(names.get(&thread.tid).map(String::as_str));
                add(&mut kinds, thread);
            }
        }
        kinds
    }

    pub fn waits_for_disk(&self) -> bool {
        self.processes.iter().any(Process::waits_for_disk)
    }

    /// A child that ends while counters are read, after its parent was, is in none of them, and one that its parent is taking
    /// over is in both for a moment: all are read again then.
    pub fn read(&mut self) {
        while self.has_changed_hands_when_each_is_read() {}
    }

    fn has_changed_hands_when_each_is_read(&mut self) -> bool {
        let mut has_changed_hands = false;
        for index in 0..self.processes.len() {
            let process = &mut self.processes[index];
            let (before, was_dead) = (process.usage, process.is_dead);
            process.read();
            has_changed_hands |= process.is_reaped || process.is_dead && !was_dead;
            self.usage = self.usage.moved(process.usage, before);
            let turnover = process.read_sched();
            self.take_over(&turnover);
        }
        has_changed_hands
    }

    /// Finds new processes and threads. Who was born since `boot_ns`, a moment of the time since boot, counts with all that
    /// was used.
    pub fn look_around(&mut self, boot_ns: Option<u64>) {
        self.processes.retain(|process| !process.is_dead);
        // Looking takes some 100 µs, and most of the time there is nobody new on the whole host.
        let newest_pid = self.loadavg.as_ref().and_then(tree::newest_pid);
        if newest_pid.is_some() && newest_pid == self.newest_pid {
            return;
        }
        let found = self.find_all(boot_ns);
        // Who could not be read is looked for again, be somebody born or not.
        self.newest_pid = newest_pid.filter(|_| found.is_ok());
        if let Err(error) = found {
            self.unread.get_or_insert_with(|| error.to_string());
        }
    }

    /// Fails when somebody is there who cannot be read.
    fn find_all(&mut self, boot_ns: Option<u64>) -> io::Result<()> {
        for pid in tree::family(self.root_pid)? {
            match self.processes.iter_mut().find(|process| process.pid == pid) {
                Some(known) => {
                    let turnover = known.find_threads(boot_ns)?;
                    self.take_over(&turnover);
                }
                None => self.adopt(pid, boot_ns)?,
            }
        }
        Ok(())
    }

    fn adopt(&mut self, pid: i32, boot_ns: Option<u64>) -> io::Result<()> {
        // A process may end between being listed and being opened; its parent has its counters then.
        let Some(mut process) = if_there(Process::open(pid))? else {
            return Ok(());
        };
        let turnover = process.find_threads(boot_ns)?;
        if boot_ns.is_some_and(|boot_ns| process.is_born_after(boot_ns)) {
            self.usage = self.usage.moved(process.usage, Usage::default());
        }
        self.take_over(&turnover);
        self.processes.push(process);
        Ok(())
    }

    fn take_over(&mut self, turnover: &Turnover) {
        self.sched.grow(turnover.grown, Sched::default());
        self.ended_threads += turnover.gone.len() as u64;
        for thread in &turnover.gone {
            if !self.foreground.contains(&thread.tid) {
                add(&mut self.departed, thread);
            }
        }
    }
}

fn add(kinds: &mut Kinds, thread: &Thread) {
    *kinds.entry(thread.kind.clone()).or_default() += thread.sched.cpu_ns;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::fake_server::{FakeServer, Link};
    use crate::account::process::clock_ns;
    use crate::test_tree::{Tree, wait_for};
    use std::io::Write;
    use std::time::{Duration, Instant};

    fn boot_ns() -> u64 {
        clock_ns(libc::CLOCK_BOOTTIME).unwrap()
    }

    /// Births are noted in ticks.
    fn let_ticks_pass() {
        std::thread::sleep(Duration::from_millis(30));
    }

    #[test]
    fn sums_do_not_fall_while_children_end() {
        let children = "while [ $((i += 1)) -le 60 ]; do sh -c 'echo x; echo y; sleep 0.004; :'; done >/dev/null";
        let mut root = Tree::start(children);
        let mut family = Family::of(root.pid());
        let (mut calls, mut looked) = (0, Instant::now());
        // Not waited for, the root keeps its sums to the end.
        while root.0.try_wait().unwrap().is_none() {
            if looked.elapsed() > Duration::from_millis(1) {
                family.look_around(None);
                looked = Instant::now();
            }
            family.read();
            let now = family.usage().write_calls;
            assert!(now >= calls, "{now} after {calls}");
            calls = now;
        }
        assert!(calls > 0);
    }

    #[test]
    fn a_thread_that_was_born_meanwhile_counts_with_all_it_did() {
        let server = FakeServer::start();
        let mut family = Family::of(server.pid());
        let work = || {
            let mut link = server.connect();
            (0..200).for_each(|_| link.echo());
            link
        };
        let began_ns = boot_ns();
        let_ticks_pass();
        let mut links: Vec<Link> = vec![work()];
        family.look_around(Some(began_ns));
        let timeslices = family.sched().timeslices;
        assert!(timeslices >= 50, "{timeslices}");
        links.push(work());
        let_ticks_pass();
        family.look_around(Some(boot_ns()));
        assert_eq!(family.sched().timeslices, timeslices, "it was born earlier");
    }

    #[test]
    fn whoever_ends_is_noticed() {
        let notices = |family: &mut Family, end_one: &mut dyn FnMut()| {
            let before = family.ended();
            end_one();
            wait_for("it to be noticed", || {
                family.read();
                family.ended() > before
            });
        };
        let server = FakeServer::start();
        let mut link = server.connect();
        link.echo();
        let mut link = Some(link);
        notices(&mut Family::of(server.pid()), &mut || drop(link.take()));

        let mut root = Tree::start("read line; sh -c :; exec sleep 60");
        let mut input = root.0.stdin.take().unwrap();
        let mut family = Family::of(root.pid());
        let before = family.ended();
        family.read();
        assert_eq!(family.ended(), before, "nobody has ended");
        // Born and gone between two looks.
        notices(&mut family, &mut || input.write_all(b"\n").unwrap());
    }
}
