//! One client: a thread with a connection to every target of the open test.

use std::sync::Arc;

use super::clock::{sleep_until, wait_until};
use super::closed::{self, Bound};
use super::lane::Lane;
use super::live::Live;
use super::open_loop::{self, Company, Queue, Schedule, Served, Span};
use super::roles::{Seat, Seats};
use super::trouble::{Failure, Stop};
use crate::account::ThreadMeter;
use crate::record::{ClientFigures, Errors, Latency, ServerFigures};
use crate::wire::{Connection, Tally, Wire, WireError, WireResult};
use crate::workload::{Appended, Mode, Part, Program, Scratch, Stream};

pub struct Client {
    pub number: u32,
    pub seat: Seat,
    pub links: Vec<Link>,
    /// What was recorded of the slot since it was last cleared.
    pub slot: Recorder,
    /// Settle parts are recorded as well, so that they do what slots do; nobody reads that.
    settle: Recorder,
    thread: ThreadMeter,
    /// Where somebody looks on while it drives.
    live: Option<Arc<Live>>,
}

/// A target as clients have to know it; the name is for the sake of errors.
#[derive(Clone)]
pub struct Goal {
    pub name: String,
    pub wire: Arc<dyn Wire>,
    pub program: Arc<Program>,
    pub appended: Appended,
}

/// A client's connection to one target. Sequences go on for as long as the test is open.
pub struct Link {
    pub program: Arc<Program>,
    pub connection: Box<dyn Connection>,
    pub scratch: Scratch,
    /// Of a role with arrivals.
    queue: Option<Queue>,
    embedded: bool,
    /// Work that goes on from slice to slice.
    work: Option<Work>,
}

/// What a client still has to do of work in slices, and where its stream of parameters has come to.
struct Work {
    stream: Stream,
    ops: u64,
}

/// Latencies in ns.
#[derive(Debug, Default)]
pub struct Recorder {
    pub response: Latency,
    /// Open loop only.
    pub service: Latency,
}

/// What a client is to do in one part of a row.
pub struct Assignment {
    /// Index into the targets of the open test.
    pub target: usize,
    pub seed: u64,
    pub row: u64,
    pub part: Part,
    pub pace: Pace,
    /// Where a role has arrivals.
    pub company: Option<Arc<Company>>,
}

pub enum Pace {
    Closed(Bound),
    /// A slice of work: what the client was given with the first one, `ops`, or what is left of that.
    Slice {
        moment_ns: u64,
        begin: Option<u64>,
    },
    Open(Span),
}

/// What came of it; latencies are in the client's recorders.
#[derive(Debug)]
pub struct Outcome {
    pub served: Served,
    pub tally: Tally,
    pub errors: Errors,
    pub client: ClientFigures,
    /// What the embedded server used; None where the server is a process.
    pub server: Option<ServerFigures>,
    /// Operations of work in slices that are still to be done.
    pub ops_left: u64,
}

impl Client {
    /// Connects to the targets and prepares. To be called in the client's own thread.
    pub fn connect(number: u32, mode: Mode, goals: &[Goal]) -> Result<Self, Failure> {
        super::clock::use_precise_timers();
        let links = goals
            .iter()
            .map(|goal| Link::connect(goal, mode).map_err(|failure| failure.at(&goal.name)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            number,
            seat: Seats::alike(number + 1).seat(number),
            links,
            slot: Recorder::default(),
            settle: Recorder::default(),
            thread: ThreadMeter::of_this_thread(),
            live: None,
        })
    }

    /// The same client in a role.
    pub fn seated(self, seat: Seat) -> Self {
        Self { seat, ..self }
    }

    /// Has its arrivals, if any, begin anew on all targets.
    pub fn schedule(&mut self, seed: u64) {
        let Seat {
            role,
            number,
            clients,
            arrivals,
            ..
        } = self.seat;
        for link in &mut self.links {
            let schedule = arrivals.map(|arrivals| Schedule::new(arrivals, number, clients, [seed, role as u64]));
            link.queue = schedule.map(Queue::new);
        }
    }

    /// From here on it counts where others can see it. To be called in the client's own thread.
    pub fn show(&mut self) -> Arc<Live> {
        let counted = self.seat.counted;
        let live = self.live.get_or_insert_with(|| Arc::new(Live::of_this_thread(counted)));
        live.clone()
    }

    /// Nobody looks on any more.
    pub fn hide(&mut self) {
        self.live = None;
    }

    /// Processes (or threads) on the servers that serve this client, by target.
    pub fn backends(&self) -> Vec<Option<i32>> {
        self.links.iter().map(|link| link.connection.backend()).collect()
    }

    pub fn drive(&mut self, assignment: Assignment) -> Result<Outcome, Stop> {
        let link = &mut self.links[assignment.target];
        let seed = self.seat.seed(assignment.seed);
        let stream = Stream::new(seed, assignment.row, self.seat.number, assignment.part);
        let (stream, pace) = link.take_up(stream, assignment.pace);
        let mut lane = Lane::new(&link.program, link.connection.as_mut(), &mut link.scratch, stream);
        lane.live = self.live.as_deref();
        let recorder = match assignment.part {
            Part::Slot => &mut self.slot,
            _ => &mut self.settle,
        };
        let before = Reading::of(&self.thread, link.embedded);
        let mut member = assignment.company.as_deref().map(Company::member);
        let served = match (pace, &mut link.queue, &mut member) {
            (Pace::Open(span), Some(queue), Some(member)) => {
                // With an embedded server, turning on the spot would be the server's CPU time.
                let wait = if link.embedded { sleep_until } else { wait_until };
                let recorded = (&mut recorder.response, &mut recorder.service);
                open_loop::drive(&mut lane, span, queue, member, wait, recorded)?
            }
            (Pace::Closed(bound), ..) => Served {
                ops: closed::drive(&mut lane, bound, &mut recorder.response)?,
                ..Served::default()
            },
            _ => unreachable!("a client with arrivals has a queue and a company"),
        };
        drop(member);
        let (client, server) = Reading::of(&self.thread, link.embedded).since(&before);
        let (tally, errors, stream) = lane.leave();
        Ok(Outcome {
            ops_left: link.put_down(stream, served.ops),
            served,
            tally,
            errors,
            client,
            server,
        })
    }
}

impl Link {
    fn connect(goal: &Goal, mode: Mode) -> Result<Self, Failure> {
        let mut connection = goal.wire.connect().map_err(Failure::connect)?;
        begin_session(connection.as_mut(), &goal.program).map_err(Failure::statement)?;
        connection.prepare(&goal.program, mode).map_err(Failure::statement)?;
        Ok(Self {
            connection,
            scratch: Scratch::appending(&goal.program, &goal.appended),
            program: goal.program.clone(),
            queue: None,
            embedded: goal.wire.embedded(),
            work: None,
        })
    }

    /// Of a slice: the stream where the last one left it, or `fresh` at the beginning of the work, and what is left as a bound.
    fn take_up(&mut self, fresh: Stream, pace: Pace) -> (Stream, Pace) {
        let Pace::Slice { moment_ns, begin } = pace else {
            self.work = None;
            return (fresh, pace);
        };
        if let Some(ops) = begin {
            self.work = Some(Work { stream: fresh, ops });
        }
        let work = self.work.as_ref().expect("work begins with its first slice");
        let bound = Bound::Within {
            moment_ns,
            most_ops: work.ops,
        };
        (work.stream.clone(), Pace::Closed(bound))
    }

    /// Keeps where the work has come to; the operations that are left of it.
    fn put_down(&mut self, stream: Stream, done: u64) -> u64 {
        self.work.as_mut().map_or(0, |work| {
            work.stream = stream;
            work.ops -= done;
            work.ops
        })
    }
}

fn begin_session(connection: &mut dyn Connection, program: &Program) -> WireResult<()> {
    for sql in &program.session_sql {
        connection.query(sql).map_err(|error| WireError {
            message: format!("test {:?}, session_sql {sql:?}: {}", program.name, error.message),
            ..error
        })?;
    }
    Ok(())
}

/// The client thread's counters; with an embedded server they are the server's, and the client costs nothing of its own.
struct Reading {
    client: ClientFigures,
    server: Option<ServerFigures>,
}

impl Reading {
    fn of(thread: &ThreadMeter, embedded: bool) -> Self {
        if embedded {
            let (client, server) = (ClientFigures::default(), Some(thread.as_server()));
            Self { client, server }
        } else {
            let (client, server) = (thread.as_client(), None);
            Self { client, server }
        }
    }

    fn since(&self, earlier: &Self) -> (ClientFigures, Option<ServerFigures>) {
        let server = self.server.as_ref().zip(earlier.server.as_ref());
        (
            self.client.since(&earlier.client),
            server.map(|(now, before)| now.since(before)),
        )
    }
}

impl Recorder {
    pub fn add(&mut self, other: &Self) {
        self.response.add(&other.response);
        if other.service.count() > 0 {
            self.service.add(&other.service);
        }
    }

    pub fn clear(&mut self) {
        self.response.clear();
        if self.service.count() > 0 {
            self.service.clear();
        }
    }
}
