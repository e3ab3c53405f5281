//! Answers to commands, read to their end: results one after another, each with its columns and rows.

use super::column::Column;
use super::error::violation;
use super::link::Link;
use super::packet::{self, Body, EOF, ERROR, LARGEST, LOCAL_FILE, MORE_RESULTS, OK};
use crate::wire::{ErrorClass, WireError, WireResult};

/// What the server answered to one command.
#[derive(Debug, Default, Clone, Copy)]
pub struct Answer {
    pub rows: u64,
    pub affected: u64,
}

/// Takes what the results of an answer hold.
pub trait Receiver {
    /// Whether `begin` and `column` are to be called.
    const COLUMNS: bool;
    /// Whether `row` is to be called.
    const ROWS: bool;
    /// A result with rows begins. Its columns are told next, or they are those that the prepared statement had last.
    fn begin(&mut self, _told: bool) {}
    fn column(&mut self, _definition: &[u8]) -> WireResult<()> {
        Ok(())
    }
    fn row(&mut self, _row: &[u8]) -> WireResult<()> {
        Ok(())
    }
    /// A result has ended.
    fn end(&mut self, _affected: u64) {}
}

/// Wants the counts alone.
pub struct Counts;

impl Receiver for Counts {
    const COLUMNS: bool = false;
    const ROWS: bool = false;
}

/// Keeps the columns of a prepared statement as they were told last.
pub struct Columns<'a>(pub &'a mut Vec<Column>);

impl Receiver for Columns<'_> {
    const COLUMNS: bool = true;
    const ROWS: bool = false;

    fn begin(&mut self, told: bool) {
        if told {
            self.0.clear();
        }
    }

    fn column(&mut self, definition: &[u8]) -> WireResult<()> {
        self.0.push(Column::read(definition)?);
        Ok(())
    }
}

/// What follows a result.
enum Next {
    Result,
    Nothing,
    /// The server's error ends the answer.
    Refusal(WireError),
}

impl Link {
    /// Reads the answer to one command. An error of the server is returned once all of the answer is read, so that the
    /// connection can be used again; after any other error it cannot.
    #[inline]
    pub fn answer(&mut self, receiver: &mut impl Receiver) -> (WireResult<()>, Answer) {
        let mut answer = Answer::default();
        self.begin_answer();
        loop {
            match self.result(receiver, &mut answer) {
                Ok(Next::Result) => {}
                Ok(Next::Nothing) => return (Ok(()), answer),
                Ok(Next::Refusal(error)) if error.class != ErrorClass::LostConnection => return (Err(error), answer),
                Ok(Next::Refusal(error)) | Err(error) => {
                    self.shut();
                    return (Err(error), answer);
                }
            }
        }
    }

    #[inline(always)]
    fn result<R: Receiver>(&mut self, receiver: &mut R, answer: &mut Answer) -> WireResult<Next> {
        let (first, length) = self.head()?;
        let cache_metadata = self.cache_metadata;
        let payload = self.whole(length)?;
        let (columns, told) = match first {
            OK => {
                let done = packet::ok(payload)?;
                answer.affected += done.affected;
                receiver.end(done.affected);
                return Ok(self.note(done.status));
            }
            ERROR => return Ok(Next::Refusal(packet::error(payload))),
            LOCAL_FILE => {
                return Err(violation(
                    "the server asks for a file of the client, which a test cannot give".to_owned(),
                ));
            }
            _ => {
                let mut body = Body(payload);
                (body.length()?, !cache_metadata || body.u8()? != 0)
            }
        };
        if R::COLUMNS {
            receiver.begin(told);
        }
        self.columns(if told { columns } else { 0 }, receiver)?;
        self.rows(receiver, answer)
    }

    #[inline(always)]
    fn columns<R: Receiver>(&mut self, columns: u64, receiver: &mut R) -> WireResult<()> {
        for _ in 0..columns {
            let (first, length) = self.head()?;
            if matches!(first, ERROR | EOF) {
                return Err(violation(format!("byte {first:#04x} where a column is due")));
            }
            if R::COLUMNS {
                receiver.column(self.whole(length)?)?;
            } else {
                self.skip(length)?;
            }
        }
        if self.deprecate_eof {
            Ok(())
        } else {
            self.end_of_definitions()
        }
    }

    #[inline(always)]
    fn rows<R: Receiver>(&mut self, receiver: &mut R, answer: &mut Answer) -> WireResult<Next> {
        // A row that starts with the same byte holds a value of 16 MB or more.
        let longest_end = if self.deprecate_eof { LARGEST - 1 } else { 8 };
        loop {
            let (first, length) = self.head()?;
            if first == EOF && length <= longest_end {
                let deprecate_eof = self.deprecate_eof;
                let payload = self.whole(length)?;
                let done = if deprecate_eof {
                    packet::ok(payload)?
                } else {
                    packet::eof(payload)?
                };
                receiver.end(0);
                return Ok(self.note(done.status));
            }
            if first == ERROR {
                return Ok(Next::Refusal(packet::error(self.whole(length)?)));
            }
            answer.rows += 1;
            if R::ROWS {
                receiver.row(self.whole(length)?)?;
            } else {
                self.skip(length)?;
            }
        }
    }

    #[inline(always)]
    fn note(&mut self, status: u16) -> Next {
        self.status = status;
        if status & MORE_RESULTS == 0 {
            Next::Nothing
        } else {
            Next::Result
        }
    }

    /// Reads definitions of parameters or columns, and what ends them.
    pub fn definitions(&mut self, count: u16, receiver: &mut impl Receiver) -> WireResult<()> {
        if count == 0 {
            return Ok(());
        }
        self.columns(u64::from(count), receiver)
    }

    fn end_of_definitions(&mut self) -> WireResult<()> {
        let payload = self.payload()?;
        if payload.first() != Some(&EOF) {
            return Err(violation("more columns than were announced".to_owned()));
        }
        packet::eof(payload).map(drop)
    }
}
