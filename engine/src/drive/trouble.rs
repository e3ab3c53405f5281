//! What goes wrong: errors that a client rolls back and repeats, and those that end a command.

use serde::Serialize;

use super::clock::now_ns;
use crate::record::Errors;
use crate::wire::{Connection, ErrorClass, WireError};

/// So many retryable errors in a row mean that the event will never succeed.
const MOST_RETRIES: u32 = 1000;
/// So many errors in a row that are not retryable mean that the test cannot run here.
const MOST_FAILURES: u32 = 20;
/// So long with nothing but errors, too: a lock may be waited for for a minute each time.
const LONGEST_NS: u64 = 120_000_000_000;

/// Why a command failed, as answered to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// One sentence; the server's own words where it is the server that failed.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The statement that was refused, where it is not the one of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    Usage,
    Connect,
    Server,
    Io,
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    pub fn io(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Io, message)
    }

    pub fn connect(error: WireError) -> Self {
        Self::new(FailureKind::Connect, error.message)
    }

    /// What a statement failed with.
    pub fn statement(error: WireError) -> Self {
        let lost = error.class == ErrorClass::LostConnection;
        let kind = if lost {
            FailureKind::Connect
        } else {
            FailureKind::Server
        };
        Self::new(kind, error.message)
    }

    pub fn of(self, statement: &str) -> Self {
        Self {
            statement: Some(statement.to_owned()),
            ..self
        }
    }

    pub fn at(self, target: &str) -> Self {
        Self {
            target: Some(target.to_owned()),
            ..self
        }
    }

    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            target: None,
            statement: None,
        }
    }
}

/// The error after which there is no point in driving a target any further.
#[derive(Debug, Clone)]
pub struct Stop(pub WireError);

impl Stop {
    pub fn kind(&self) -> &'static str {
        match self.0.class {
            ErrorClass::LostConnection => "lost_connection",
            _ => "server",
        }
    }
}

/// Errors of one client in one part of a row.
#[derive(Debug, Default)]
pub struct Trouble {
    pub errors: Errors,
    retries_in_row: u32,
    failures_in_row: u32,
    /// The first of the errors in a row.
    since_ns: Option<u64>,
}

impl Trouble {
    /// To be called after every event that went well.
    #[inline]
    pub fn over(&mut self) {
        self.retries_in_row = 0;
        self.failures_in_row = 0;
        self.since_ns = None;
    }

    /// Counts the error and rolls back, after which an event can be tried again.
    pub fn handle(&mut self, error: WireError, connection: &mut dyn Connection) -> Result<(), Stop> {
        self.errors.note(&error);
        let since_ns = *self.since_ns.get_or_insert_with(now_ns);
        match error.class {
            ErrorClass::LostConnection => return Err(Stop(error)),
            ErrorClass::Other => self.failures_in_row += 1,
            _ => self.retries_in_row += 1,
        }
        let rolled_back = connection.rollback();
        if self.failures_in_row >= MOST_FAILURES
            || self.retries_in_row >= MOST_RETRIES
            || now_ns() - since_ns >= LONGEST_NS
        {
            // The reason to stop is the error at hand, whatever became of the roll-back.
            return Err(Stop(error));
        }
        rolled_back.map_err(Stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fake::FakeConnection;

    fn error(class: ErrorClass) -> WireError {
        WireError {
            class,
            message: "no".into(),
        }
    }

    #[test]
    fn lost_connections_stop_at_once_and_other_errors_when_nothing_else_happens() {
        let mut connection = FakeConnection::default();
        let mut trouble = Trouble::default();
        for _ in 1..MOST_FAILURES {
            trouble.handle(error(ErrorClass::Other), &mut connection).unwrap();
        }
        trouble.over();
        trouble.handle(error(ErrorClass::Other), &mut connection).unwrap();
        assert_eq!(trouble.errors.count(ErrorClass::Other), u64::from(MOST_FAILURES));
        let stop = trouble
            .handle(error(ErrorClass::LostConnection), &mut connection)
            .unwrap_err();
        assert_eq!(stop.kind(), "lost_connection");
    }

    #[test]
    fn deadlocks_are_repeated_but_not_for_ever() {
        let mut connection = FakeConnection::default();
        let mut trouble = Trouble::default();
        let tries = (1..).find(|_| trouble.handle(error(ErrorClass::Deadlock), &mut connection).is_err());
        assert_eq!(tries, Some(MOST_RETRIES));
        assert_eq!(connection.rollbacks, MOST_RETRIES);
    }

    #[test]
    fn lock_timeouts_are_repeated_for_two_minutes_at_most() {
        let mut connection = FakeConnection::default();
        let mut trouble = Trouble::default();
        for (waited_ns, is_over) in [(0, false), (LONGEST_NS / 2, false), (LONGEST_NS, true)] {
            trouble.since_ns = Some(now_ns() - waited_ns);
            let handled = trouble.handle(error(ErrorClass::LockTimeout), &mut connection);
            assert_eq!(handled.is_err(), is_over, "{waited_ns}");
        }
        trouble.over();
        trouble.handle(error(ErrorClass::LockTimeout), &mut connection).unwrap();
    }
}
