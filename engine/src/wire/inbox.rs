//! Bytes received and not yet consumed: as few reads as the server's answers allow, no memory on the server's word.

use std::io::{ErrorKind, Read};

use super::WireResult;
use super::socket::{lost, lost_with};

/// Enough for most answers in one read; grows when something that has to be seen as a whole is larger.
const BUFFER_BYTES: usize = 64 << 10;

pub struct Inbox {
    buffer: Vec<u8>,
    /// What is there is at `start..end`.
    start: usize,
    end: usize,
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
        }
    }
}

impl Inbox {
    /// The bytes that are there.
    #[inline(always)]
    pub fn available(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The first `N` bytes, which have to be there.
    #[inline(always)]
    pub fn first<const N: usize>(&self) -> &[u8; N] {
        self.available().first_chunk().expect("as many bytes as were needed")
    }

    /// Reads until `length` bytes are there.
    #[inline(always)]
    pub fn need(&mut self, socket: &mut (impl Read + ?Sized), length: usize) -> WireResult<()> {
        while self.end - self.start < length {
            self.fill(socket)?;
        }
        Ok(())
    }

    /// Consumes `length` bytes, which have to be there.
    #[inline(always)]
    pub fn take(&mut self, length: usize) -> &[u8] {
        let taken = self.start..self.start + length;
        self.start += length;
        &self.buffer[taken]
    }

    /// Consumes `length` bytes without keeping them.
    #[inline(always)]
    pub fn skip(&mut self, socket: &mut (impl Read + ?Sized), length: usize) -> WireResult<()> {
        self.pass(socket, length, |_| {})
    }

    /// Consumes `length` bytes, appended to `out` as they come.
    pub fn move_to(&mut self, out: &mut Vec<u8>, socket: &mut (impl Read + ?Sized), length: usize) -> WireResult<()> {
        self.pass(socket, length, |bytes| out.extend_from_slice(bytes))
    }

    #[inline(always)]
    fn pass(
        &mut self,
        socket: &mut (impl Read + ?Sized),
        length: usize,
        mut with: impl FnMut(&[u8]),
    ) -> WireResult<()> {
        let mut rest = length;
        while rest > self.end - self.start {
            rest -= self.end - self.start;
            with(self.available());
            self.start = self.end;
            self.fill(socket)?;
        }
        with(self.take(rest));
        Ok(())
    }

    /// One read. The buffer doubles only when it is full of bytes that really came.
    fn fill(&mut self, socket: &mut (impl Read + ?Sized)) -> WireResult<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end == self.buffer.len() {
                self.buffer.resize(2 * self.buffer.len(), 0);
            }
        }
        match socket.read(&mut self.buffer[self.end..]) {
            Ok(0) => Err(lost_with("the server closed the connection".to_owned())),
            Ok(length) => {
                self.end += length;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(lost(error)),
        }
    }
}
