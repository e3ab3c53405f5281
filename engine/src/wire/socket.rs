//! Where a server listens, the way to it, and how its loss is told: what all wires with a socket share.

use std::ffi::c_int;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::{ErrorClass, WireError};

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
    pub fn connect(&self) -> Result<UnixStream, WireError> {
        let connected = match self {
            Self::Unix { path } => UnixStream::connect(path),
            Self::Tcp { host, port } => connect_tcp(host, *port).map(|socket| UnixStream::from(OwnedFd::from(socket))),
        };
        connected.map_err(|error| lost_with(format!("cannot connect to {self}: {error}")))
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

    fn option(socket: &UnixStream, level: c_int, name: c_int) -> c_int {
        let (mut value, mut size) = (0, size_of::<c_int>() as libc::socklen_t);
        // SAFETY: the value is as long as said, and outlives the call.
        let failed =
            unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut value).cast(), &mut size) } != 0;
        assert!(!failed, "{}", io::Error::last_os_error());
        value
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
