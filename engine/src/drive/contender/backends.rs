//! Which processes or threads of a server serve our connections: as it tells, else as a probe shows.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::account::ServerMeter;
use crate::drive::client::Client;
use crate::drive::contender::Target;
use crate::drive::crew::Crew;
use crate::wire::Connection;

/// Requests of one probe.
const REQUESTS: u64 = 32;
/// A probe that finds nobody, because a busy background or host got in between, is repeated so often.
const TRIES: usize = 5;

/// Tells every target's account who serves the crew; gives that by target name. Empty where it cannot be found out, also
/// when it is unknown for some of the clients: a part of the foreground is none.
pub fn name(crew: &mut Crew, targets: &mut [&mut Target]) -> BTreeMap<String, Vec<i32>> {
    let by_client = crew.run(|_| |client: &mut Client| client.backends());
    let connecting = crew.run(|_| |client: &mut Client| client.connecting());
    let mut backends = BTreeMap::new();
    for (index, target) in targets.iter_mut().enumerate() {
        let told: Option<Vec<i32>> = by_client.iter().map(|of_client| of_client[index]).collect();
        let of_target = match &mut target.meter {
            None => told.unwrap_or_default(),
            Some(meter) => {
                meter.set_names(thread_names(crew, index));
                if connecting.iter().any(|of_client| of_client[index]) {
                    meter.set_changing();
                    backends.insert(target.name.clone(), Vec::new());
                    continue;
                }
                of_meter(meter, told, |meter| probe_crew(crew, index, meter))
            }
        };
        backends.insert(target.name.clone(), of_target);
    }
    backends
}

/// Tells the account who serves a connection that is used alone.
pub fn name_one(connection: &mut dyn Connection, meter: &mut ServerMeter) {
    let told = connection.backend().map(|backend| vec![backend]);
    of_meter(meter, told, |meter| {
        probe(meter, || ask(connection)).map(|tid| vec![tid])
    });
}

/// What the server tells counts only when it is true here: it may run elsewhere, or count its threads in its own way. The same
/// thread for two connections is one of a pool, which serves whichever it is free for.
fn of_meter(
    meter: &mut ServerMeter,
    told: Option<Vec<i32>>,
    probe: impl FnOnce(&ServerMeter) -> Option<Vec<i32>>,
) -> Vec<i32> {
    let told = told.filter(|told| are_distinct(told) && meter.has_threads(told));
    let backends = told.or_else(|| probe(meter)).unwrap_or_default();
    meter.set_backends(&backends);
    backends
}

fn are_distinct(tids: &[i32]) -> bool {
    let mut seen = HashSet::new();
    tids.iter().all(|tid| seen.insert(tid))
}

fn thread_names(crew: &mut Crew, target: usize) -> HashMap<i32, String> {
    crew.run_first(move |client| client.links[target].connection.thread_names())
}

/// One thread for each client, or nothing: a server with a pool of threads serves connections with whichever is free.
fn probe_crew(crew: &mut Crew, target: usize, meter: &ServerMeter) -> Option<Vec<i32>> {
    let mut found = Vec::with_capacity(crew.clients());
    for number in 0..crew.clients() as u32 {
        let tid = probe(meter, || ask_client(crew, number, target))?;
        if found.contains(&tid) {
            return None;
        }
        found.push(tid);
    }
    Some(found)
}

/// `ask` sends REQUESTS requests on one connection and says whether all were answered.
fn probe(meter: &ServerMeter, mut ask: impl FnMut() -> bool) -> Option<i32> {
    (0..TRIES).find_map(|_| {
        let watch = meter.watch();
        if ask() { watch.served(REQUESTS) } else { None }
    })
}

fn ask_client(crew: &mut Crew, asked: u32, target: usize) -> bool {
    let task = move |client: &mut Client| client.number == asked && ask(client.links[target].connection.as_mut());
    crew.run(|_| task).contains(&true)
}

fn ask(connection: &mut dyn Connection) -> bool {
    (0..REQUESTS).all(|_| connection.query("SELECT 1").is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::AccountSpec;
    use crate::account::fake_server::FakeServer;
    use crate::drive::client::Goal;
    use crate::drive::contender::freeze::{FreezeSpec, Freezer};
    use crate::drive::fake::{FakeWire, point_program};
    use crate::test_tree::wait_for;
    use crate::wire::Wire;
    use crate::workload::Mode;
    use std::sync::Arc;

    fn target_on(wire: FakeWire, server: &FakeServer) -> Target {
        let spec = AccountSpec {
            root_pid: server.pid(),
            cgroup: None,
        };
        let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
        let meter = ServerMeter::open(&spec).unwrap();
        Target::new("a".into(), Arc::new(wire), Some(meter), freezer)
    }

    fn crew_on(target: &Target, clients: u32) -> Crew {
        let goals = vec![Goal {
            name: target.name.clone(),
            wire: target.wire.clone(),
            program: Arc::new(point_program()),
            appended: crate::workload::Appended::default(),
        }];
        Crew::assemble(clients, move |number| Client::connect(number, Mode::Prepared, &goals)).unwrap()
    }

    /// As the server itself says.
    fn true_backends(crew: &mut Crew) -> Vec<i32> {
        crew.run(|_| {
            |client: &mut Client| {
                let told = client.links[0].connection.query("tid").unwrap();
                told.rows[0][0].as_ref().unwrap().parse().unwrap()
            }
        })
    }

    #[test]
    fn threads_are_found_where_the_server_does_not_tell() {
        let server = FakeServer::start();
        // Pid 1 is none of its threads, and the same thread for two connections could only be one of a pool.
        let (foreign, pooled) = (Some(1), Some(server.flusher()));
        for (clients, told) in [(1, None), (3, None), (2, foreign), (2, pooled)] {
            let mut target = target_on(FakeWire::to(server.socket(), told), &server);
            let mut crew = crew_on(&target, clients);
            let named = name(&mut crew, &mut [&mut target]);
            assert_eq!(named["a"], true_backends(&mut crew), "{clients} clients, told {told:?}");
            let meter = target.meter.as_mut().unwrap();
            let begun = meter.begin();
            assert!(ask_client(&mut crew, 0, 0));
            let mut used = meter.end(&begun);
            wait_for("the answer to be accounted", || {
                used = meter.end(&begun);
                used.server_foreground_cpu_ns > Some(0)
            });
            assert!(used.server_background_cpu_ns.is_some(), "{used:?}");
        }
    }

    #[test]
    fn what_the_server_tells_is_believed_when_it_is_its_own() {
        let server = FakeServer::start();
        let mut target = target_on(FakeWire::to(server.socket(), Some(server.flusher())), &server);
        let mut crew = crew_on(&target, 1);
        assert_eq!(name(&mut crew, &mut [&mut target])["a"], [server.flusher()]);
    }

    #[test]
    fn nobody_is_found_where_nobody_answers() {
        let server = FakeServer::start();
        let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
        let spec = AccountSpec {
            root_pid: server.pid(),
            cgroup: None,
        };
        let wire: Arc<dyn Wire> = Arc::new(crate::wire::null::NullWire { reply_bytes: 8 });
        let mut target = Target::new("a".into(), wire, Some(ServerMeter::open(&spec).unwrap()), freezer);
        let mut crew = crew_on(&target, 2);
        assert!(name(&mut crew, &mut [&mut target])["a"].is_empty());
        let notes = target.meter.as_ref().unwrap().notes();
        assert!(notes.iter().any(|note| note.contains("not told apart")), "{notes:?}");
    }
}
