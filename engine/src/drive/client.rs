//! One client: a thread with a connection to every target of the open test.

use std::sync::Arc;

use super::anew::{Anew, begin_session};
use super::clock::{sleep_until, wait_until};
use super::lane::{Lane, Pause};
use super::live::Live;
use super::roles::{Errand, Joint, Seat, Seats, Turn};
use super::trouble::{Failure, Stop};
use crate::account::ThreadMeter;
use crate::drive::pace::closed::{self, Bound};
use crate::drive::pace::open_loop::{self, Company, Pacing, Queue, Schedule, Served, Span};
use crate::drive::pace::pausing;
use crate::record::{ClientFigures, Errors, Latency, ServerFigures};
use crate::wire::{Connection, Tally, Wire};
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
    errand: Errand,
    /// The operation that the last slice has ended in.
    paused: Option<Pause>,
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
    Open(Span),
    Work(WorkSlice),
}

/// A slice of work with an end, whether closed loop or open; with the first one a client is given its share.
pub struct WorkSlice {
    pub span: Span,
    pub joint: Arc<Joint>,
    pub is_first: bool,
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
        for link in &mut self.links {
            link.queue = queue_of(&self.seat, seed);
        }
    }

    /// From here on it counts where others can see it. To be called in the client's own thread.
    pub fn show(&mut self) -> Arc<Live> {
        let Seat { counted, role, .. } = self.seat;
        let live = self
            .live
            .get_or_insert_with(|| Arc::new(Live::of_this_thread(counted, role)));
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

    /// Whether it has another connection for each event, by target.
    pub fn connecting(&self) -> Vec<bool> {
        self.links.iter().map(|link| link.program.connects).collect()
    }

    pub fn drive(&mut self, assignment: Assignment) -> Result<Outcome, Stop> {
        let seat = self.seat;
        let link = &mut self.links[assignment.target];
        let fresh = Stream::new(seat.seed(assignment.seed), assignment.row, seat.number, assignment.part);
        let mut work = link.take_up(&assignment, &fresh, &seat);
        let stream = work.as_ref().map_or(fresh, |work| work.stream.clone());
        let mut lane = Lane::new(&link.program, link.connection.as_mut(), &mut link.scratch, stream);
        lane.live = self.live.as_deref();
        let recorder = match assignment.part {
            Part::Slot => &mut self.slot,
            _ => &mut self.settle,
        };
        let before = Reading::of(&self.thread, link.embedded);
        let share = Share {
            queue: link.queue.as_mut(),
            work: work.as_mut().map(|work| (&mut work.errand, &mut work.paused)),
            role: seat.role,
            // With an embedded server, turning on the spot would be the server's CPU time.
            wait: if link.embedded { sleep_until } else { wait_until },
        };
        let served = share.drive(&mut lane, &assignment, recorder)?;
        let (client, server) = Reading::of(&self.thread, link.embedded).since(&before);
        let (tally, errors, stream) = lane.leave();
        link.work = work.map(|work| Work { stream, ..work });
        Ok(Outcome {
            served,
            tally,
            errors,
            client,
            server,
        })
    }
}

/// The arrivals of a client, from the beginning.
fn queue_of(seat: &Seat, seed: u64) -> Option<Queue> {
    let key = [seed, seat.role as u64];
    let schedule = |arrivals| Schedule::new(arrivals, seat.number, seat.clients, key);
    seat.arrivals.map(schedule).map(Queue::new)
}

/// What a client has for one part of a row beside its lane.
struct Share<'a> {
    queue: Option<&'a mut Queue>,
    work: Option<(&'a mut Errand, &'a mut Option<Pause>)>,
    role: usize,
    wait: fn(u64),
}

impl Share<'_> {
    fn drive(self, lane: &mut Lane, assignment: &Assignment, recorder: &mut Recorder) -> Result<Served, Stop> {
        // However it ends: the others need not wait for it any more.
        let mut member = assignment.company.as_deref().map(Company::member);
        let (span, work) = match &assignment.pace {
            Pace::Closed(bound) => return closed(closed::drive(lane, *bound, &mut recorder.response)),
            Pace::Open(span) => (*span, None),
            Pace::Work(slice) => (slice.span, Some(slice)),
        };
        let (errand, paused) = self.work.unzip();
        let turn = work.zip(errand).map(|(slice, errand)| Turn {
            errand,
            joint: &slice.joint,
            role: self.role,
            span,
        });
        let paused = paused.filter(|_| lane.pauses());
        let outcome = match (self.queue, &mut member, turn) {
            (Some(queue), Some(member), turn) => {
                let wait = self.wait;
                let recorded = (&mut recorder.response, &mut recorder.service);
                open_loop::drive(lane, Pacing { span, wait, turn }, queue, member, recorded)
            }
            (None, member, Some(mut turn)) => closed(match paused.zip(member.as_mut()) {
                Some((paused, member)) => pausing::drive(lane, &mut turn, member, paused, &mut recorder.response),
                None => closed::drive_turn(lane, &mut turn, &mut recorder.response),
            }),
            _ => unreachable!("a client with arrivals has a queue and a company, and one in a closed loop a bound"),
        };
        if let (Some(slice), Err(_)) = (work, &outcome) {
            slice.joint.break_off();
        }
        outcome
    }
}

fn closed(ops: Result<u64, Stop>) -> Result<Served, Stop> {
    ops.map(|ops| Served {
        ops,
        ..Served::default()
    })
}

impl Link {
    fn connect(goal: &Goal, mode: Mode) -> Result<Self, Failure> {
        let mut connection = goal.wire.connect().map_err(Failure::connect)?;
        begin_session(connection.as_mut(), &goal.program).map_err(Failure::statement)?;
        let mode = if goal.program.connects { Mode::Unprepared } else { mode };
        connection.prepare(&goal.program, mode).map_err(Failure::statement)?;
        if goal.program.connects {
            connection = Box::new(Anew::after(connection, &goal.wire, &goal.program));
        }
        Ok(Self {
            connection,
            scratch: Scratch::appending(&goal.program, &goal.appended),
            program: goal.program.clone(),
            queue: None,
            embedded: goal.wire.embedded(),
            work: None,
        })
    }

    /// Of a slice: where the last one has left the work, or its beginning, at `fresh`.
    fn take_up(&mut self, assignment: &Assignment, fresh: &Stream, seat: &Seat) -> Option<Work> {
        let work = self.work.take();
        let Pace::Work(slice) = &assignment.pace else {
            return None;
        };
        if !slice.is_first {
            return work;
        }
        let errand = Errand::begin(&slice.joint, seat);
        self.queue = queue_of(seat, assignment.seed).map(|queue| queue.bounded(errand.left()));
        Some(Work {
            stream: fresh.clone(),
            errand,
            paused: None,
        })
    }
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
