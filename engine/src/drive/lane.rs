//! One client's way to one target, in one part of a row.

use super::trouble::{Stop, Trouble};
use crate::wire::{Connection, Tally};
use crate::workload::Program;
use crate::workload::program::Scratch;
use crate::workload::stream::Stream;

/// Runs events and keeps count of what came of them.
pub struct Lane<'a> {
    pub program: &'a Program,
    pub connection: &'a mut dyn Connection,
    pub scratch: &'a mut Scratch,
    pub stream: Stream,
    pub tally: Tally,
    pub trouble: Trouble,
}

impl Lane<'_> {
    /// Runs one event. False: it failed and was rolled back; the next attempt has new parameters.
    #[inline]
    pub fn attempt(&mut self) -> Result<bool, Stop> {
        match self
            .program
            .run_event(self.connection, &mut self.stream, self.scratch, &mut self.tally)
        {
            Ok(()) => {
                self.trouble.over();
                Ok(true)
            }
            Err(error) => self.trouble.handle(error, self.connection).map(|()| false),
        }
    }
}
