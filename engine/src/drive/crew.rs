//! All clients of an open test. One client is driven by the calling thread; more have a thread each.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::client::Client;
use super::trouble::Failure;

pub enum Crew {
    Alone(Box<Client>),
    Many(Vec<Worker>),
}

type Task = Box<dyn FnOnce(&mut Client) + Send>;

/// A long-lived thread that owns one client.
pub struct Worker {
    /// None once the worker is told to leave.
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
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

    /// Runs one task on each of the first clients, all at once; the results are in the order of the tasks.
    pub fn run<T: Send + 'static>(
        &mut self,
        tasks: impl IntoIterator<Item = impl FnOnce(&mut Client) -> T + Send + 'static>,
    ) -> Vec<T> {
        match self {
            Self::Alone(client) => tasks.into_iter().take(1).map(|task| task(client)).collect(),
            Self::Many(workers) => {
                let results: Vec<_> = workers
                    .iter()
                    .zip(tasks)
                    .map(|(worker, task)| worker.begin(task))
                    .collect();
                results
                    .into_iter()
                    .map(|result| result.recv().expect("a worker that panics ends the engine"))
                    .collect()
            }
        }
    }
}

impl Worker {
    fn start(connect: impl FnOnce() -> Result<Client, Failure> + Send + 'static) -> Result<Self, Failure> {
        let (tasks, inbox) = channel::<Task>();
        let (report, connected) = channel();
        let body = move || match connect() {
            Ok(mut client) => {
                let _ = report.send(Ok(()));
                inbox.into_iter().for_each(|task| task(&mut client));
            }
            Err(failure) => drop(report.send(Err(failure))),
        };
        let thread = std::thread::Builder::new().name("client".into()).spawn(body);
        let thread = thread.map_err(|error| Failure::io(format!("cannot start a client thread: {error}")))?;
        let worker = Self {
            tasks: Some(tasks),
            thread: Some(thread),
        };
        connected
            .recv()
            .expect("a worker that panics ends the engine")
            .map(|()| worker)
    }

    fn begin<T: Send + 'static>(&self, task: impl FnOnce(&mut Client) -> T + Send + 'static) -> Receiver<T> {
        let (report, result) = channel();
        let task: Task = Box::new(move |client| {
            // Nobody waits any more when the command was given up.
            let _ = report.send(task(client));
        });
        if let Some(tasks) = &self.tasks {
            tasks.send(task).expect("a worker that panics ends the engine");
        }
        result
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // Its connections are closed when this returns.
            let _ = thread.join();
        }
    }
}
