//! A server with threads, for tests: a process of its own that answers over a Unix socket and works in the background.
//!
//! It is this very test program, told by its environment to serve. A request is one byte: `e` is echoed, `t` is answered
//! with the thread id of who serves the connection and `w` leaves work for later.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::process::clock_ns;
use super::tree;
use crate::test_tree::wait_for;

const SOCKET: &str = "DBVERSUS_FAKE_SERVER";
/// Full name of the test below, as the test program knows it.
const ENTRY: &str = "account::fake_server::serves_when_told_to";
/// What one `w` makes the flusher do.
pub const WORK_CPU_NS: u64 = 40_000_000;
const WORK_BYTES: usize = 1 << 20;

pub struct FakeServer {
    process: Child,
    directory: PathBuf,
}

/// A connection to the fake server.
pub struct Link(UnixStream);

impl FakeServer {
    pub fn start() -> Self {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("dbversus-fake-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", ENTRY, "--test-threads=1", "--nocapture"])
            .env(SOCKET, directory.join("socket"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { process, directory };
        wait_for("the fake server to answer", || {
            UnixStream::connect(server.socket()).is_ok()
        });
        server
    }

    pub fn pid(&self) -> i32 {
        self.process.id() as i32
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    pub fn connect(&self) -> Link {
        Link::to(&self.socket())
    }

    /// Id of the thread that does the work that is left for later, once it has its name.
    pub fn flusher(&self) -> i32 {
        let kind_of = |tid: i32| super::kind::of_thread(self.pid(), tid, None).unwrap();
        let mut flusher = None;
        wait_for("the flusher", || {
            let mut threads = tree::threads(self.pid()).unwrap().into_iter();
            flusher = threads.find(|tid| kind_of(*tid).as_deref() == Some("flusher"));
            flusher.is_some()
        });
        flusher.unwrap()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Link {
    pub fn to(socket: &Path) -> Self {
        Self(UnixStream::connect(socket).unwrap())
    }

    pub fn echo(&mut self) {
        assert_eq!(self.ask(b'e'), [b'e']);
    }

    pub fn tid(&mut self) -> i32 {
        i32::from_ne_bytes(self.ask(b't'))
    }

    /// Leaves WORK_CPU_NS and WORK_BYTES to the flusher; answered before it is done.
    pub fn leave_work(&mut self) {
        assert_eq!(self.ask(b'w'), [b'w']);
    }

    fn ask<const BYTES: usize>(&mut self, request: u8) -> [u8; BYTES] {
        let mut reply = [0; BYTES];
        self.0.write_all(&[request]).unwrap();
        self.0.read_exact(&mut reply).unwrap();
        reply
    }
}

/// Not a test: what the server process runs.
#[test]
fn serves_when_told_to() {
    let Some(socket) = std::env::var_os(SOCKET).map(PathBuf::from) else {
        return;
    };
    // SAFETY: takes numbers alone. The server ends with the test that started it.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let (leave_work, work) = channel();
    let file = socket.with_file_name("data");
    let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.into()).spawn(body).unwrap();
    };
    spawn("flusher-1", Box::new(move || flush(&work, &file)));
    spawn("ticker-1", Box::new(tick));
    for connection in UnixListener::bind(socket).unwrap().incoming() {
        let (connection, leave_work) = (connection.unwrap(), leave_work.clone());
        spawn(
            "serve",
            Box::new(move || serve(connection, &|| leave_work.send(()).unwrap())),
        );
    }
}

fn serve(mut connection: UnixStream, leave_work: &dyn Fn()) {
    let mut request = [0];
    while connection.read_exact(&mut request).is_ok() {
        let written = match request[0] {
            // SAFETY: has no preconditions.
            b't' => connection.write_all(&unsafe { libc::gettid() }.to_ne_bytes()),
            other => {
                if other == b'w' {
                    leave_work();
                }
                connection.write_all(&request)
            }
        };
        if written.is_err() {
            return;
        }
    }
}

fn flush(work: &Receiver<()>, file: &Path) {
    for () in work {
        burn(WORK_CPU_NS);
        let mut file = std::fs::File::create(file).unwrap();
        file.write_all(&vec![7; WORK_BYTES]).unwrap();
        file.sync_all().unwrap();
    }
}

/// A background thread that uses more CPU than connections do, but less than what counts as idle.
fn tick() {
    loop {
        burn(100_000);
        thread::sleep(Duration::from_millis(10));
    }
}

fn burn(cpu_ns: u64) {
    let used_ns = || clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).unwrap();
    let began = used_ns();
    while used_ns() - began < cpu_ns {}
}
