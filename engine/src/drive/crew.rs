//! All clients of an open test. One client is driven by the calling thread; more have a thread each.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::client::Client;
use super::trouble::Failure;

pub enum Crew {
    Alone(Box<Client>),
    Many(Vec<Worker>),
}

type Task = Box<dyn FnOnce(&Mutex<Client>) + Send>;

/// A long-lived thread for one client, which is locked while a task runs.
pub struct Worker {
    client: Arc<Mutex<Client>>,
    /// None once the worker is told to leave.
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

const NO_PANIC: &str = "a worker that panics ends the engine";

fn locked(client: &Mutex<Client>) -> MutexGuard<'_, Client> {
    client.lock().expect(NO_PANIC)
}

impl Crew {
    /// `connect` makes the client of a number, in the thread that will drive it.
    pub fn assemble(
        clients: u32,
        connect: impl Fn(u32) -> Result<Client, Failure> + Clone + Send + 'static,
    ) -> Result<Self, Failure> {
        if clients == 1 {
            return Ok(Self::Alone(Box::new(connect(0)?)));
        }
        let workers = (0..clients).map(|number| {
            let connect = connect.clone();
            Worker::start(move || connect(number))
        });
        Ok(Self::Many(workers.collect::<Result<_, _>>()?))
    }

    pub fn clients(&self) -> usize {
        match self {
            Self::Alone(_) => 1,
            Self::Many(workers) => workers.len(),
        }
    }

    /// Runs a task on every client, all at once; `task_of` makes that of a client's number. The results are in their order.
    pub fn run<T: Send + 'static, F: FnOnce(&mut Client) -> T + Send + 'static>(
        &mut self,
        mut task_of: impl FnMut(u32) -> F,
    ) -> Vec<T> {
        match self {
            Self::Alone(client) => vec![task_of(0)(client)],
            Self::Many(workers) => {
                let begun = workers.iter().zip(0..);
                let results: Vec<_> = begun.map(|(worker, number)| worker.begin(task_of(number))).collect();
                results.iter().map(wait_for).collect()
            }
        }
    }

    /// Runs a task on the first client.
    pub fn run_first<T: Send + 'static>(&mut self, task: impl FnOnce(&mut Client) -> T + Send + 'static) -> T {
        self.run_one(0, task)
    }

    /// Runs a task on the client of a number.
    pub fn run_one<T: Send + 'static>(
        &mut self,
        number: u32,
        task: impl FnOnce(&mut Client) -> T + Send + 'static,
    ) -> T {
        match self {
            Self::Alone(client) => task(client),
            Self::Many(workers) => wait_for(&workers[number as usize].begin(task)),
        }
    }

    /// Has the calling thread look at one client after another, between their tasks.
    pub fn visit(&mut self, mut look: impl FnMut(&mut Client)) {
        match self {
            Self::Alone(client) => look(client),
            Self::Many(workers) => workers.iter().for_each(|worker| look(&mut locked(&worker.client))),
        }
    }
}

fn wait_for<T>(result: &Receiver<T>) -> T {
    result.recv().expect(NO_PANIC)
}

impl Worker {
    fn start(connect: impl FnOnce() -> Result<Client, Failure> + Send + 'static) -> Result<Self, Failure> {
        let (tasks, inbox) = channel::<Task>();
        let (report, connected) = channel();
        let body = move || match connect() {
            Ok(client) => {
                let client = Arc::new(Mutex::new(client));
                let _ = report.send(Ok(client.clone()));
                inbox.into_iter().for_each(|task| task(&client));
            }
            Err(failure) => drop(report.send(Err(failure))),
        };
        let thread = std::thread::Builder::new().name("client".into()).spawn(body);
        let thread = thread.map_err(|error| Failure::io(format!("cannot start a client thread: {error}")))?;
        wait_for(&connected).map(|client| Self {
            client,
            tasks: Some(tasks),
            thread: Some(thread),
        })
    }

    fn begin<T: Send + 'static>(&self, task: impl FnOnce(&mut Client) -> T + Send + 'static) -> Receiver<T> {
        let (report, result) = channel();
        let task: Task = Box::new(move |client| {
            // Unlocked first, so that whoever has the outcome finds the client free.
            let outcome = task(&mut locked(client));
            // Nobody waits any more when the command was given up.
            let _ = report.send(outcome);
        });
        if let Some(tasks) = &self.tasks {
            tasks.send(task).expect(NO_PANIC);
        }
        result
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // The client is this worker's alone then, and leaves with it.
            let _ = thread.join();
        }
    }
}
