//! Where a server listens, the way to it, how it is waited for and how its loss is told: what all wires with a socket share.

use std::ffi::c_int;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{ErrorClass, WireError};

/// For what a server does at once unless something is wrong: answers to who logs in, and the end of a connection.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Between signs of life of an idle connection's other host.
const KEEPALIVE_S: c_int = 30;
/// Without a sign of life for so long, a host is lost. It has to be longer than a server may be too busy to read what it is
/// sent.
const LOST_HOST_MS: c_int = 300_000;

#[derive(Debug, Clone)]
pub enum Endpoint {
    Unix { path: PathBuf },
    Tcp { host: String, port: u16 },
}

impl Endpoint {
    /// Both kinds of sockets are read and written in the same way; one type spares a branch per call.
    pub fn connect(&self) -> Result<Socket, WireError> {
        let connected = match self {
            Self::Unix { path } => UnixStream::connect(path),
            Self::Tcp { host, port } => connect_tcp(host, *port).map(|socket| UnixStream::from(OwnedFd::from(socket))),
        };
        connected
            .map(Socket::from)
            .map_err(|error| lost_with(format!("cannot connect to {self}: {error}")))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix { path } => write!(out, "{}", path.display()),
            Self::Tcp { host, port } => write!(out, "{host}:{port}"),
        }
    }
}

/// A connected socket that waits in `poll`, as the clients' libraries of PostgreSQL and MariaDB do. Who waits in a blocking
/// read of a Unix socket is woken for nothing each time the server takes up a request (its buffer has room again), which
/// costs the server up to a microsecond per request (docs/evidence/sysbench.md).
pub struct Socket {
    stream: UnixStream,
    /// How long a read may wait; `None` is for ever.
    read_timeout: Option<Timespec>,
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Self {
        Self {
            stream,
            read_timeout: None,
        }
    }
}

impl Socket {
    /// The same socket once more, with its own time to wait.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            stream: self.stream.try_clone()?,
            read_timeout: self.read_timeout,
        })
    }

    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        // Longer than the clock can tell is for ever.
        self.read_timeout = timeout.and_then(|timeout| timeout.try_into().ok());
    }

    /// Makes every later use fail.
    pub fn shut(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    #[inline]
    fn wait(&self) -> io::Result<()> {
        let mut watched = [PollFd::new(&self.stream, PollFlags::IN)];
        match poll(&mut watched, self.read_timeout.as_ref())? {
            0 => Err(ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }
}

// rustix calls the kernel itself. In glibc each of these calls is a point where a thread may be cancelled, which costs two
// atomic exchanges; no thread is cancelled here.

impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        let (length, _) = recv(&self.stream, buffer, RecvFlags::empty())?;
        Ok(length)
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(&self.stream, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}

fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut result = Err(io::Error::new(ErrorKind::NotFound, "the host has no address"));
    for address in (host, port).to_socket_addrs()? {
        result = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT);
        if result.is_ok() {
            break;
        }
    }
    let socket = result?;
    socket.set_nodelay(true)?;
    notice_lost_hosts(&socket)?;
    Ok(socket)
}

/// A host that vanishes says no good-bye: it is asked for a sign of life now and then, and given up when none comes. A server
/// that is frozen, or busy for an hour, has a kernel that gives it.
fn notice_lost_hosts(socket: &TcpStream) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, KEEPALIVE_S)?;
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, KEEPALIVE_S)?;
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, LOST_HOST_MS)
}

fn set_option(socket: &TcpStream, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    let size = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the value is as long as said, and outlives the call.
    match unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// After a goodbye: reads until the server has closed its end, which PostgreSQL leaves to the end of the process that has served
/// the connection.
pub fn await_end(stream: &mut (impl Read + ?Sized)) -> Result<(), WireError> {
    let mut rest = [0; 512];
    loop {
        match stream.read(&mut rest) {
            Ok(0) => return Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(lost_with("the server did not close the connection in time".to_owned()));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // However it has ended: it has.
            Err(_) => return Ok(()),
        }
    }
}

pub fn lost(error: io::Error) -> WireError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => lost_with("the server did not answer in time".to_owned()),
        _ => lost_with(format!("connection lost: {error}")),
    }
}

pub fn lost_with(message: String) -> WireError {
    WireError {
        class: ErrorClass::LostConnection,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn option(socket: &Socket, level: c_int, name: c_int) -> c_int {
        let (mut value, mut size) = (0, size_of::<c_int>() as libc::socklen_t);
        // SAFETY: the value is as long as said, and outlives the call.
        let failed =
            unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut value).cast(), &mut size) } != 0;
        assert!(!failed, "{}", io::Error::last_os_error());
        value
    }

    #[test]
    fn reads_wait_as_long_as_they_may() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut socket = Socket::from(ours);
        let mut buffer = [0; 8];
        socket.set_read_timeout(Some(Duration::from_millis(10)));
        let error = socket.read(&mut buffer).unwrap_err();
        assert_eq!(lost(error).message, "the server did not answer in time");

        socket.set_read_timeout(None);
        let answering = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            theirs.write_all(b"late").unwrap();
        });
        assert_eq!(socket.read(&mut buffer).unwrap(), 4);
        answering.join().unwrap();
        assert_eq!(socket.read(&mut buffer).unwrap(), 0, "the other end is closed");
    }

    /// Waits that had to give up the CPU, of the calling thread.
    fn waits() -> i64 {
        // SAFETY: all zeros is a valid value, which the call fills in.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
            usage.ru_nvcsw
        }
    }

    #[test]
    fn one_answer_is_one_wait() {
        const EXCHANGES: i64 = 500;
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let answering = std::thread::spawn(move || {
            let mut request = [0; 64];
            while theirs.read_exact(&mut request).is_ok() {
                std::thread::sleep(Duration::from_micros(50));
                theirs.write_all(&request).unwrap();
            }
        });
        let mut socket = Socket::from(ours);
        let before = waits();
        for _ in 0..EXCHANGES {
            socket.write_all(&[1; 64]).unwrap();
            socket.read_exact(&mut [0; 64]).unwrap();
        }
        // A blocking read waits again when the request is taken: 1,000 in all.
        let waited = waits() - before;
        assert!(waited < EXCHANGES * 5 / 4, "{waited}");
        drop(socket);
        answering.join().unwrap();
    }

    #[test]
    fn hosts_that_vanish_are_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Endpoint::Tcp {
            host: "127.0.0.1".into(),
            port: listener.local_addr().unwrap().port(),
        };
        let socket = endpoint.connect().unwrap();
        assert_eq!(option(&socket, libc::SOL_SOCKET, libc::SO_KEEPALIVE), 1);
        assert_eq!(option(&socket, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE), KEEPALIVE_S);
        assert_eq!(option(&socket, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT), LOST_HOST_MS);
    }
}
