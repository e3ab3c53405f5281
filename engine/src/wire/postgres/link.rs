//! The socket and the framing of messages: one write per request, as few reads as the server's answers allow.

use std::io::Write;
use std::time::Duration;

use super::message::{self, violation};
use crate::wire::inbox::Inbox;
use crate::wire::socket::{ANSWER_TIMEOUT, Socket, await_end, lost};
use crate::wire::{ErrorClass, RowSink, WireError, WireResult};
use crate::workload::FirstRow;

/// PostgreSQL itself cannot send more.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// Kind and length in front of a message's body.
const HEADER_BYTES: usize = 5;

pub struct Link {
    socket: Socket,
    inbox: Inbox,
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
    pub fn over(socket: Socket) -> Self {
        Self {
            socket,
            inbox: Inbox::default(),
        }
    }

    /// How long a read may wait; `None` is for ever.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.socket.set_read_timeout(timeout);
    }

    /// Says the last word, and waits until the server has closed its end.
    pub fn close(&mut self, goodbye: &[u8]) -> WireResult<()> {
        self.set_read_timeout(Some(ANSWER_TIMEOUT));
        self.send(goodbye)?;
        await_end(&mut self.socket)
    }

    #[inline(always)]
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
        !self.inbox.available().is_empty() || received > 0
    }

    /// The kind of the next message, which stays to be read.
    pub fn kind(&mut self) -> WireResult<u8> {
        Ok(self.header()?.0)
    }

    /// The next message, whole: its kind and its body.
    pub fn message(&mut self) -> WireResult<(u8, &[u8])> {
        let (kind, length) = self.header()?;
        self.inbox.need(&mut self.socket, length)?;
        Ok((kind, &self.inbox.take(length)[HEADER_BYTES..]))
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

    /// As `answer`, with the values of the first row to `row`, and every row to `sink` where there is one. `types`: of the
    /// columns, as they were told last.
    pub fn answer_keeping(
        &mut self,
        types: &mut Vec<u32>,
        row: &mut FirstRow,
        mut sink: Option<&mut dyn RowSink>,
    ) -> (WireResult<()>, Answer) {
        self.collect(|link, answer, failure| {
            let (kind, body) = link.message()?;
            match kind {
                b'T' => message::column_types(body, types)?,
                b'D' => {
                    if answer.rows == 0 {
                        match message::first_row(body, types, row) {
                            Err(error) if error.class == ErrorClass::LostConnection => return Err(error),
                            kept => *failure = failure.take().or(kept.err()),
                        }
                    }
                    answer.rows += 1;
                    if let Some(sink) = &mut sink {
                        hand_over(body, *sink)?;
                    }
                }
                _ => return digest(kind, body, answer, failure),
            }
            Ok(false)
        })
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
                    self.socket.shut();
                    let message = match failure {
                        Some(first) => format!("{}, then {}", first.message, error.message),
                        None => error.message,
                    };
                    return (Err(WireError { message, ..error }), answer);
                }
            }
        }
    }

    /// Consumes messages, one at least; true when the last one of the answer was among them.
    #[inline]
    fn step(&mut self, answer: &mut Answer, failure: &mut Option<WireError>) -> WireResult<bool> {
        self.inbox.need(&mut self.socket, HEADER_BYTES)?;
        let (consumed, is_over) = skim(self.inbox.available(), answer);
        self.inbox.take(consumed);
        if is_over {
            return Ok(true);
        }
        let (kind, length) = self.header()?;
        if kind == b'D' {
            answer.rows += 1;
            self.inbox.skip(&mut self.socket, length)?;
            return Ok(false);
        }
        self.inbox.need(&mut self.socket, length)?;
        digest(kind, &self.inbox.take(length)[HEADER_BYTES..], answer, failure)
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
            return hand_over(body, sink).map(|()| false);
        }
        digest(kind, body, answer, failure)
    }

    /// Kind and whole length of the next message.
    #[inline(always)]
    fn header(&mut self) -> WireResult<(u8, usize)> {
        self.inbox.need(&mut self.socket, HEADER_BYTES)?;
        let &[kind, ref length @ ..] = self.inbox.first::<HEADER_BYTES>();
        let length = u32::from_be_bytes(*length) as usize;
        if !(4..=MAX_MESSAGE_BYTES).contains(&length) {
            return Err(wrong_length(kind, length));
        }
        Ok((kind, length + 1))
    }

    /// After a failed write: the error that the server may have sent before it closed the connection.
    #[cold]
    fn last_words(&mut self) -> Option<WireError> {
        self.set_read_timeout(Some(Duration::from_millis(100)));
        while let Ok((kind, body)) = self.message() {
            if kind == b'E' {
                return Some(message::error(body));
            }
        }
        None
    }
}

fn hand_over(row: &[u8], sink: &mut dyn RowSink) -> WireResult<()> {
    let mut values = Vec::new();
    message::data_row(row, &mut values)?;
    sink.row(&values);
    Ok(())
}

#[cold]
fn wrong_length(kind: u8, length: usize) -> WireError {
    violation(format!(
        "message {:?} says that it is {length} bytes long; accepted are 4 to {MAX_MESSAGE_BYTES}",
        char::from(kind)
    ))
}

/// Takes note of the plain messages that are there as a whole, up to the end of the answer: nearly all that a server sends.
/// How many bytes they have, and whether the answer is over. The rest needs a closer look, or is not here yet.
#[inline]
fn skim(bytes: &[u8], answer: &mut Answer) -> (usize, bool) {
    let mut rest = bytes;
    while let Some((&[kind, ref length @ ..], _)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let length = u32::from_be_bytes(*length) as usize + 1;
        let Some(body) = rest.get(HEADER_BYTES..length) else {
            break;
        };
        match kind {
            b'D' => answer.rows += 1,
            b'2' | b'T' | b'1' | b'n' => {}
            b'C' => answer.affected += message::affected(body),
            b'Z' => {
                answer.transaction = body.first().copied().unwrap_or(0);
                return (bytes.len() - rest.len() + length, true);
            }
            _ => break,
        }
        rest = &rest[length..];
    }
    (bytes.len() - rest.len(), false)
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

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[u8] = b"2\0\0\0\x04T\0\0\0\x06\0\0D\0\0\0\x07\0\x01xD\0\0\0\x04C\0\0\0\x0dUPDATE 3\0";
    const READY: &[u8] = b"Z\0\0\0\x05T";

    #[test]
    fn plain_messages_are_counted_alike_wherever_they_are_cut() {
        let bytes = [ROWS, READY].concat();
        for cut in 0..=bytes.len() {
            let mut answer = Answer::default();
            let (consumed, is_over) = skim(&bytes[..cut], &mut answer);
            assert!(consumed <= cut && is_over == (cut == bytes.len()), "cut at {cut}");
            if !is_over {
                assert_eq!(skim(&bytes[consumed..], &mut answer), (bytes.len() - consumed, true));
            }
            assert_eq!(
                (answer.rows, answer.affected, answer.transaction),
                (2, 3, b'T'),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn what_needs_a_closer_look_is_left_and_so_is_what_comes_after_the_answer() {
        for odd in [
            &b"E\0\0\0\x05\0"[..],
            b"N\0\0\0\x05\0",
            b"H\0\0\0\x04",
            b"D\0\0\0\x03",
            b"D\xff\xff\xff\xff",
        ] {
            let bytes = [ROWS, odd, READY].concat();
            assert_eq!(skim(&bytes, &mut Answer::default()), (ROWS.len(), false), "{odd:?}");
        }
        let bytes = [READY, ROWS].concat();
        assert_eq!(skim(&bytes, &mut Answer::default()), (READY.len(), true));
    }
}
