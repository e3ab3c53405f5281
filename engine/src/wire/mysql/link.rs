//! The stream and its packets: one write per command, as few reads as the server's answers allow.
//!
//! What an answer needs is always inlined: on a core shared with the server every function called has to be fetched anew.

use std::time::Duration;

use super::error::violation;
use super::packet::{self, ERROR, HEADER_BYTES, LARGEST, header};
use super::stream::Stream;
use crate::wire::inbox::Inbox;
use crate::wire::socket::{ANSWER_TIMEOUT, await_end, lost};
use crate::wire::{WireError, WireResult};

/// What `max_allowed_packet` can be set to.
const MAX_PAYLOAD_BYTES: usize = 1 << 30;

pub struct Link {
    stream: Box<dyn Stream>,
    inbox: Inbox,
    /// Number that the next packet has to have.
    sequence: u8,
    /// Number that the first packet of an answer has to have.
    first_of_answer: u8,
    /// A payload of several packets, without their headers.
    joined: Vec<u8>,
    /// Whether the client may be told the end of rows by an OK packet in place of an EOF packet.
    pub deprecate_eof: bool,
    /// Whether the number of columns of a result comes with a byte that tells if their definitions follow.
    pub cache_metadata: bool,
    /// As the server told it last.
    pub status: u16,
}

impl Link {
    pub fn over(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            inbox: Inbox::default(),
            sequence: 0,
            first_of_answer: 0,
            joined: Vec::new(),
            deprecate_eof: false,
            cache_metadata: false,
            status: 0,
        }
    }

    /// Goes on over another stream, between two packets.
    pub fn continue_over(&mut self, stream: Box<dyn Stream>) -> WireResult<()> {
        if !self.inbox.available().is_empty() {
            return Err(violation("the server speaks before its turn".to_owned()));
        }
        self.stream = stream;
        Ok(())
    }

    /// How long a read may wait; `None` is for ever.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.stream.set_read_timeout(timeout);
    }

    /// Says the last word, and waits until the server has closed its end.
    pub fn close(&mut self, goodbye: &[u8]) -> WireResult<()> {
        self.set_read_timeout(Some(ANSWER_TIMEOUT));
        self.command(goodbye)?;
        await_end(&mut *self.stream)
    }

    /// Sends one command, whose first bytes are its sealed header.
    #[inline(always)]
    pub fn command(&mut self, request: &[u8]) -> WireResult<()> {
        if request.len() - HEADER_BYTES >= LARGEST {
            return self.command_in_parts(request);
        }
        self.first_of_answer = 1;
        self.write(request)
    }

    #[cold]
    fn command_in_parts(&mut self, request: &[u8]) -> WireResult<()> {
        let payload = &request[HEADER_BYTES..];
        self.sequence = 0;
        for part in payload.chunks(LARGEST) {
            self.reply(part)?;
        }
        // A last packet that is not full, be it empty, tells that this was all.
        if payload.len().is_multiple_of(LARGEST) {
            self.reply(&[])?;
        }
        self.first_of_answer = self.sequence;
        Ok(())
    }

    /// Sends one packet that goes on with a conversation.
    pub fn reply(&mut self, payload: &[u8]) -> WireResult<()> {
        let mut packet = Vec::with_capacity(HEADER_BYTES + payload.len());
        packet.extend_from_slice(&header(payload.len(), self.sequence));
        packet.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.write(&packet)
    }

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) -> WireResult<()> {
        match self.stream.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.last_words().unwrap_or_else(|| lost(error))),
        }
    }

    /// To be called before the answer to a command is read.
    #[inline]
    pub fn begin_answer(&mut self) {
        self.sequence = self.first_of_answer;
    }

    /// The next payload, whole.
    pub fn payload(&mut self) -> WireResult<&[u8]> {
        let length = self.length()?;
        self.whole(length)
    }

    /// First byte and length of the next packet. The packet is then to be consumed by `whole` or `skip`.
    #[inline(always)]
    pub fn head(&mut self) -> WireResult<(u8, usize)> {
        self.inbox.need(&mut *self.stream, 1)?;
        // Nearly all: what is needed of them has come with the first byte, and they are in order.
        if let Some(&[low, middle, high, number, first]) = self.inbox.available().first_chunk()
            && number == self.sequence
            && let length @ 1.. = u32::from_le_bytes([low, middle, high, 0])
        {
            self.sequence = number.wrapping_add(1);
            return Ok((first, length as usize));
        }
        self.unusual_head()
    }

    #[cold]
    fn unusual_head(&mut self) -> WireResult<(u8, usize)> {
        let length = self.length()?;
        if length == 0 {
            return Err(violation("an empty packet".to_owned()));
        }
        self.inbox.need(&mut *self.stream, HEADER_BYTES + 1)?;
        Ok((self.inbox.available()[HEADER_BYTES], length))
    }

    /// Consumes the payload that starts with a packet of this length.
    #[inline]
    pub fn whole(&mut self, length: usize) -> WireResult<&[u8]> {
        if length == LARGEST {
            return self.join();
        }
        self.inbox.need(&mut *self.stream, HEADER_BYTES + length)?;
        Ok(&self.inbox.take(HEADER_BYTES + length)[HEADER_BYTES..])
    }

    /// As `whole`, without keeping it.
    #[inline(always)]
    pub fn skip(&mut self, length: usize) -> WireResult<()> {
        self.inbox.skip(&mut *self.stream, HEADER_BYTES + length)?;
        if length == LARGEST {
            return self.skip_continuation();
        }
        Ok(())
    }

    /// Makes every later use of the connection fail.
    pub fn shut(&self) {
        self.stream.shut();
    }

    /// Length of the next packet, whose number is checked.
    #[inline(always)]
    fn length(&mut self) -> WireResult<usize> {
        self.inbox.need(&mut *self.stream, HEADER_BYTES)?;
        let bytes = self.inbox.available();
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
        if bytes[3] != self.sequence {
            self.check_interruption(length)?;
        }
        self.sequence = self.sequence.wrapping_add(1);
        Ok(length)
    }

    /// Servers that close a connection tell why in a packet of their own numbering.
    #[cold]
    fn check_interruption(&mut self, length: usize) -> WireResult<()> {
        let number = self.inbox.available()[3];
        if length > 0 {
            self.inbox.need(&mut *self.stream, HEADER_BYTES + 1)?;
            if self.inbox.available()[HEADER_BYTES] == ERROR {
                return Ok(());
            }
        }
        Err(violation(format!("packet {number} where {} is due", self.sequence)))
    }

    #[cold]
    fn join(&mut self) -> WireResult<&[u8]> {
        self.joined.clear();
        let mut length = LARGEST;
        loop {
            self.inbox.need(&mut *self.stream, HEADER_BYTES)?;
            self.inbox.take(HEADER_BYTES);
            self.inbox.move_to(&mut self.joined, &mut *self.stream, length)?;
            if length < LARGEST {
                return Ok(&self.joined);
            }
            if self.joined.len() > MAX_PAYLOAD_BYTES {
                return Err(violation(format!("a payload of more than {MAX_PAYLOAD_BYTES} bytes")));
            }
            length = self.length()?;
        }
    }

    #[cold]
    fn skip_continuation(&mut self) -> WireResult<()> {
        loop {
            let length = self.length()?;
            self.inbox.skip(&mut *self.stream, HEADER_BYTES + length)?;
            if length < LARGEST {
                return Ok(());
            }
        }
    }

    /// After a failed write: the error that the server may have sent before it closed the connection.
    #[cold]
    fn last_words(&mut self) -> Option<WireError> {
        self.set_read_timeout(Some(Duration::from_millis(100)));
        while let Ok(payload) = self.payload() {
            if payload.first() == Some(&ERROR) {
                return Some(packet::error(payload));
            }
        }
        None
    }
}
