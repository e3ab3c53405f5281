//! The account of the calling thread: of a client, and of an embedded server, which runs inside it.

use super::gauge::Gauge;
use super::process::{Sched, Usage, add_io, clock_ns};
use crate::record::{ClientFigures, ServerFigures};

/// Reads the counters of the thread that made it; but for `seen_by_others` it must not be used by another.
#[derive(Debug)]
pub struct ThreadMeter {
    schedstat: Option<Gauge>,
    io: Option<Gauge>,
}

impl ThreadMeter {
    pub fn of_this_thread() -> Self {
        let thread = std::fs::canonicalize("/proc/thread-self").unwrap_or_default();
        Self {
            schedstat: Gauge::open(thread.join("schedstat")).ok(),
            io: Gauge::open(thread.join("io")).ok(),
        }
    }

    /// What this thread has used so far, as a client.
    pub fn as_client(&self) -> ClientFigures {
        let usage = thread_usage();
        ClientFigures {
            client_cpu_ns: thread_cpu_ns(),
            client_user_ns: timeval_ns(usage.ru_utime),
            client_system_ns: timeval_ns(usage.ru_stime),
            client_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        }
    }

    /// CPU time, bytes read and bytes written so far, as another thread may ask for them: of a thread that is on a CPU the kernel
    /// tells the CPU time of its last tick.
    pub fn seen_by_others(&self) -> ServerFigures {
        let sched = self.schedstat.as_ref().and_then(|file| file.read(Sched::parse).ok());
        let io = self.io.as_ref().and_then(read_io);
        ServerFigures {
            server_cpu_ns: sched.map(|sched| sched.cpu_ns),
            server_read_bytes: io.map(|io| io.read_bytes),
            server_write_bytes: io.map(|io| io.write_bytes),
            ..ServerFigures::default()
        }
    }

    /// What this thread has used so far, as the server that runs in it.
    pub fn as_server(&self) -> ServerFigures {
        let cpu = thread_cpu_ns();
        let usage = thread_usage();
        let sched = self.schedstat.as_ref().and_then(|file| file.read(Sched::parse).ok());
        let io = self.io.as_ref().and_then(read_io);
        ServerFigures {
            server_cpu_ns: Some(cpu),
            server_user_ns: Some(timeval_ns(usage.ru_utime)),
            server_system_ns: Some(timeval_ns(usage.ru_stime)),
            server_foreground_cpu_ns: Some(cpu),
            server_background_cpu_ns: Some(0),
            server_wait_ns: sched.map(|sched| sched.wait_ns),
            server_switches: Some((usage.ru_nvcsw + usage.ru_nivcsw) as u64),
            server_minor_faults: Some(usage.ru_minflt as u64),
            server_major_faults: Some(usage.ru_majflt as u64),
            server_read_bytes: io.map(|io| io.read_bytes),
            server_write_bytes: io.map(|io| io.write_bytes),
            server_read_calls: io.map(|io| io.read_calls),
            server_write_calls: io.map(|io| io.write_calls),
            server_read_call_bytes: io.map(|io| io.read_call_bytes),
            server_write_call_bytes: io.map(|io| io.write_call_bytes),
            ..ServerFigures::default()
        }
    }
}

fn read_io(file: &Gauge) -> Option<Usage> {
    let mut usage = Usage::default();
    file.read(|content| add_io(&mut usage, content)).ok()?;
    Some(usage)
}

fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

fn thread_usage() -> libc::rusage {
    // SAFETY: an rusage is plain integers, for which zero is valid, and it outlives the call.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    }
}

fn timeval_ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}
