//! The socket and the framing of messages: one write per request, as few reads as the server's answers allow.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::Endpoint;
use super::message::{self, violation};
use crate::wire::{ErrorClass, RowSink, WireError, WireResult};

/// Enough for most answers in one read; grows when one message that has to be seen as a whole is larger.
const BUFFER_BYTES: usize = 64 << 10;
/// PostgreSQL itself cannot send more.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub struct Link {
    socket: UnixStream,
    /// Bytes read and not yet consumed are at `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// What the server answered to one request.
#[derive(Debug, Default, Clone, Copy)]
pub struct Answer {
    pub rows: u64,
    pub affected: u64,
    /// Of the last ReadyForQuery: `I`dle, in a `T`ransaction, or in one that has failed, `E`.
    pub transaction: u8,
}

impl Link {
    pub fn connect(endpoint: &Endpoint) -> std::io::Result<Self> {
        let socket = match endpoint {
            Endpoint::Unix { path } => UnixStream::connect(path)?,
            // Both kinds of sockets are read and written in the same way; one type spares a branch per call.
            Endpoint::Tcp { host, port } => UnixStream::from(OwnedFd::from(connect_tcp(host, *port)?)),
        };
        Ok(Self::over(socket))
    }

    pub fn over(socket: UnixStream) -> Self {
        Self {
            socket,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
        }
    }

    /// How long a read may wait; `None` is for ever.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> WireResult<()> {
        self.socket.set_read_timeout(timeout).map_err(lost)
    }

    #[inline]
    pub fn send(&mut self, request: &[u8]) -> WireResult<()> {
        match self.socket.write_all(request) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.last_words().unwrap_or_else(|| lost(error))),
        }
    }

    /// True when the server has sent something that was not read yet.
    pub fn has_answer(&self) -> bool {
        use std::os::fd::AsRawFd;
        let mut byte = 0u8;
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        // SAFETY: the buffer is one byte, as said.
        let received = unsafe { libc::recv(self.socket.as_raw_fd(), (&raw mut byte).cast(), 1, flags) };
        self.start < self.end || received > 0
    }

    /// The next message, whole: its kind and its body.
    pub fn message(&mut self) -> WireResult<(u8, &[u8])> {
        let (kind, length) = self.header()?;
        self.need(length)?;
        let body = self.start + 5..self.start + length;
        self.start += length;
        Ok((kind, &self.buffer[body]))
    }

    /// Reads the answer to a request up to ReadyForQuery. An error of the server is returned after that, so that the
    /// connection can be used again.
    #[inline]
    pub fn answer(&mut self) -> (WireResult<()>, Answer) {
        self.collect(Self::step)
    }

    /// As `answer`, with every row handed to `sink`.
    pub fn answer_into(&mut self, sink: &mut dyn RowSink) -> (WireResult<()>, Answer) {
        self.collect(|link, answer, failure| link.step_into(answer, failure, sink))
    }

    #[inline]
    fn collect(
        &mut self,
        mut step: impl FnMut(&mut Self, &mut Answer, &mut Option<WireError>) -> WireResult<bool>,
    ) -> (WireResult<()>, Answer) {
        let mut answer = Answer::default();
        let mut failure = None;
        loop {
            match step(self, &mut answer, &mut failure) {
                Ok(false) => {}
                Ok(true) => return (failure.map_or(Ok(()), Err), answer),
                Err(error) => {
                    self.shut();
                    let message = match failure {
                        Some(first) => format!("{}, then {}", first.message, error.message),
                        None => error.message,
                    };
                    return (Err(WireError { message, ..error }), answer);
                }
            }
        }
    }

    /// Consumes one message; true when it was the last of the answer.
    #[inline]
    fn step(&mut self, answer: &mut Answer, failure: &mut Option<WireError>) -> WireResult<bool> {
        let (kind, length) = self.header()?;
        if kind == b'D' {
            answer.rows += 1;
            self.skip(length)?;
            return Ok(false);
        }
        self.need(length)?;
        let body = &self.buffer[self.start + 5..self.start + length];
        self.start += length;
        digest(kind, body, answer, failure)
    }

    fn step_into(
        &mut self,
        answer: &mut Answer,
        failure: &mut Option<WireError>,
        sink: &mut dyn RowSink,
    ) -> WireResult<bool> {
        let (kind, body) = self.message()?;
        if kind == b'D' {
            answer.rows += 1;
            let mut values = Vec::new();
            message::data_row(body, &mut values)?;
            sink.row(&values);
            return Ok(false);
        }
        digest(kind, body, answer, failure)
    }

    /// Kind and whole length of the next message.
    #[inline]
    fn header(&mut self) -> WireResult<(u8, usize)> {
        self.need(5)?;
        let bytes = &self.buffer[self.start..self.start + 5];
        let length = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]) as usize;
        if !(4..=MAX_MESSAGE_BYTES).contains(&length) {
            return Err(violation(format!(
                "message {:?} says that it is {length} bytes long; accepted are 4 to {MAX_MESSAGE_BYTES}",
                char::from(bytes[0])
            )));
        }
        Ok((bytes[0], length + 1))
    }

    /// Consumes `length` bytes without keeping them.
    #[inline]
    fn skip(&mut self, length: usize) -> WireResult<()> {
        let mut rest = length;
        while rest > self.end - self.start {
            rest -= self.end - self.start;
            self.start = self.end;
            self.fill()?;
        }
        self.start += rest;
        Ok(())
    }

    /// Reads until `length` bytes are there.
    #[inline]
    fn need(&mut self, length: usize) -> WireResult<()> {
        while self.end - self.start < length {
            self.fill()?;
        }
        Ok(())
    }

    /// One read. The buffer doubles only when it is full of bytes that really came.
    fn fill(&mut self) -> WireResult<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end == self.buffer.len() {
                self.buffer.resize(2 * self.buffer.len(), 0);
            }
        }
        match self.socket.read(&mut self.buffer[self.end..]) {
            Ok(0) => Err(lost_with("the server closed the connection".to_owned())),
            Ok(length) => {
                self.end += length;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(lost(error)),
        }
    }

    /// After a failed write: the error that the server may have sent before it closed the connection.
    #[cold]
    fn last_words(&mut self) -> Option<WireError> {
        let _ = self.socket.set_read_timeout(Some(Duration::from_millis(100)));
        while let Ok((kind, body)) = self.message() {
            if kind == b'E' {
                return Some(message::error(body));
            }
        }
        None
    }

    /// Makes every later use of the connection fail.
    fn shut(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Takes note of a message that is not a row; true when it was the last of the answer.
#[inline]
fn digest(kind: u8, body: &[u8], answer: &mut Answer, failure: &mut Option<WireError>) -> WireResult<bool> {
    match kind {
        b'C' => answer.affected += message::affected(body),
        b'Z' => {
            answer.transaction = body.first().copied().unwrap_or(0);
            return Ok(true);
        }
        b'E' => {
            let error = message::error(body);
            if error.class == ErrorClass::LostConnection {
                return Err(error);
            }
            failure.get_or_insert(error);
        }
        // BindComplete, ParseComplete, CloseComplete, NoData, EmptyQuery, PortalSuspended, RowDescription,
        // ParameterDescription, Notice, Notification, ParameterStatus
        b'2' | b'1' | b'3' | b'n' | b'I' | b's' | b'T' | b't' | b'N' | b'A' | b'S' => {}
        b'G' | b'H' | b'W' => {
            return Err(violation(
                "the statement starts a COPY, which a test cannot do".to_owned(),
            ));
        }
        other => return Err(violation(format!("unknown message {:?}", char::from(other)))),
    }
    Ok(false)
}

fn connect_tcp(host: &str, port: u16) -> std::io::Result<TcpStream> {
    let mut result = Err(std::io::Error::new(ErrorKind::NotFound, "the host has no address"));
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

pub fn lost(error: std::io::Error) -> WireError {
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
