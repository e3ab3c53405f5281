//! One client: a thread with a connection to every target of the open test.

use std::sync::Arc;

use super::closed::{self, Bound};
use super::lane::Lane;
use super::open_loop::{self, Served};
use super::trouble::{Failure, Stop};
use crate::account::ThreadMeter;
use crate::record::{ClientFigures, Errors, Latency, ServerFigures};
use crate::wire::{Connection, Tally, Wire};
use crate::workload::{Mode, Part, Program, Scratch, Stream};

pub struct Client {
    pub number: u32,
    pub links: Vec<Link>,
    /// What was recorded of the slot since it was last cleared.
    pub slot: Recorder,
    /// Settle parts are recorded as well, so that they do what slots do; nobody reads that.
    settle: Recorder,
    thread: ThreadMeter,
}

/// A target as clients have to know it; the name is for the sake of errors.
#[derive(Clone)]
pub struct Goal {
    pub name: String,
    pub wire: Arc<dyn Wire>,
    pub program: Arc<Program>,
}

/// A client's connection to one target. Sequences go on for as long as the test is open.
pub struct Link {
    pub program: Arc<Program>,
    pub connection: Box<dyn Connection>,
    pub scratch: Scratch,
    embedded: bool,
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
}

pub enum Pace {
    Closed(Bound),
    Open {
        start_ns: u64,
        length_ns: u64,
        /// In ns after the start.
        schedule: Arc<[u64]>,
    },
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
            links,
            slot: Recorder::default(),
            settle: Recorder::default(),
            thread: ThreadMeter::of_this_thread(),
        })
    }

    /// Processes (or threads) on the servers that serve this client, by target.
    pub fn backends(&self) -> Vec<Option<i32>> {
        self.links.iter().map(|link| link.connection.backend()).collect()
    }

    pub fn drive(&mut self, assignment: Assignment) -> Result<Outcome, Stop> {
        let link = &mut self.links[assignment.target];
        let stream = Stream::new(assignment.seed, assignment.row, self.number, assignment.part);
        let mut lane = Lane::new(&link.program, link.connection.as_mut(), &mut link.scratch, stream);
        let recorder = match assignment.part {
            Part::Slot => &mut self.slot,
            _ => &mut self.settle,
        };
        let before = Reading::of(&self.thread, link.embedded);
        let served = follow(&mut lane, assignment.pace, recorder)?;
        let (client, server) = Reading::of(&self.thread, link.embedded).since(&before);
        Ok(Outcome {
            served,
            tally: lane.tally,
            errors: lane.trouble.errors,
            client,
            server,
        })
    }
}

fn follow(lane: &mut Lane, pace: Pace, recorder: &mut Recorder) -> Result<Served, Stop> {
    match pace {
        Pace::Closed(bound) => {
            let ops = closed::drive(lane, bound, &mut recorder.response)?;
            Ok(Served {
                ops,
                ..Served::default()
            })
        }
        Pace::Open {
            start_ns,
            length_ns,
            schedule,
        } => {
            let (response, service) = (&mut recorder.response, &mut recorder.service);
            open_loop::drive(lane, start_ns, length_ns, &schedule, response, service)
        }
    }
}

impl Link {
    fn connect(goal: &Goal, mode: Mode) -> Result<Self, Failure> {
        let mut connection = goal.wire.connect().map_err(Failure::connect)?;
        connection.prepare(&goal.program, mode).map_err(Failure::statement)?;
        Ok(Self {
            connection,
            scratch: Scratch::new(&goal.program),
            program: goal.program.clone(),
            embedded: goal.wire.embedded(),
        })
    }
}

/// The client thread's counters; with an embedded server they are the server's, and the client costs nothing of its own.
enum Reading {
    Client(ClientFigures),
    Embedded(ServerFigures),
}

impl Reading {
    fn of(thread: &ThreadMeter, embedded: bool) -> Self {
        if embedded {
            Self::Embedded(thread.as_server())
        } else {
            Self::Client(thread.as_client())
        }
    }

    fn since(&self, earlier: &Self) -> (ClientFigures, Option<ServerFigures>) {
        match (self, earlier) {
            (Self::Embedded(now), Self::Embedded(before)) => (ClientFigures::default(), Some(now.since(before))),
            (Self::Client(now), Self::Client(before)) => (now.since(before), None),
            _ => unreachable!("both readings are of the same link"),
        }
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
