//! Which thread of a server serves a connection, where the server does not tell.
//!
//! A thread that serves one connection with blocking reads gets a CPU once per request, whatever else the server does
//! meanwhile: while a known number of requests is sent on that connection alone, its timeslices grow by that number. CPU
//! time would not do: a background thread may well use more of it than some cheap statements do.

use std::collections::HashMap;
use std::fs;

use super::process::Sched;
use super::tree;

/// Timeslices of all threads of a server at one moment.
#[derive(Debug)]
pub struct Watch {
    root_pid: i32,
    timeslices: HashMap<i32, u64>,
}

impl Watch {
    pub fn begin(root_pid: i32) -> Self {
        Self {
            root_pid,
            timeslices: timeslices(root_pid),
        }
    }

    /// The thread that has served `requests` requests since, one after another; None where none stands out.
    pub fn served(&self, requests: u64) -> Option<i32> {
        let grown = timeslices(self.root_pid).into_iter().map(|(tid, now)| {
            let before = self.timeslices.get(&tid).copied().unwrap_or(0);
            (tid, now.saturating_sub(before))
        });
        stands_out(grown, requests)
    }
}

/// The one with the most timeslices: at least one for every other request (on a CPU of its own a thread may find the next
/// request there before it sleeps), and four times as many as any other.
fn stands_out(grown: impl Iterator<Item = (i32, u64)>, requests: u64) -> Option<i32> {
    let mut grown: Vec<_> = grown.collect();
    grown.sort_unstable_by_key(|(_, timeslices)| std::cmp::Reverse(*timeslices));
    let &(tid, most) = grown.first()?;
    let next = grown.get(1).map_or(0, |(_, timeslices)| *timeslices);
    (most * 2 >= requests && most >= next * 4).then_some(tid)
}

/// Threads that cannot be listed or read are left out, and are not found to serve anybody.
fn timeslices(root_pid: i32) -> HashMap<i32, u64> {
    let threads_of = |pid: i32| {
        tree::threads(pid)
            .unwrap_or_default()
            .into_iter()
            .map(move |tid| (pid, tid))
    };
    let family = tree::family(root_pid).unwrap_or_default();
    family
        .into_iter()
        .flat_map(threads_of)
        .filter_map(|(pid, tid)| {
            let content = fs::read(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
            Some((tid, Sched::parse(&content)?.timeslices))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::fake_server::{FakeServer, Link};

    #[test]
    fn only_a_clear_winner_counts() {
        let found = |grown: &[(i32, u64)]| stands_out(grown.iter().copied(), 32);
        assert_eq!(found(&[(7, 3), (8, 33), (9, 0)]), Some(8));
        assert_eq!(found(&[(7, 10), (8, 33)]), None);
        assert_eq!(found(&[(8, 15)]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn each_connection_is_found_beside_a_busy_background() {
        let server = FakeServer::start();
        let mut links: Vec<Link> = (0..3).map(|_| server.connect()).collect();
        let tids: Vec<i32> = links.iter_mut().map(Link::tid).collect();
        for (link, tid) in links.iter_mut().zip(&tids) {
            let found = (0..20).find_map(|_| {
                let watch = Watch::begin(server.pid());
                (0..32).for_each(|_| link.echo());
                watch.served(32)
            });
            assert_eq!(found, Some(*tid));
        }
        let nobody = Watch::begin(server.pid());
        assert_eq!(nobody.served(32), None);
    }
}
