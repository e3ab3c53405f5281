//! Where a server listens, the way to it, and how its loss is told: what all wires with a socket share.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::{ErrorClass, WireError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

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
    Ok(socket)
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
