//! Having the server prepare statements, and forget them.

use super::answer::{Columns, Counts};
use super::column::Column;
use super::error::violation;
use super::link::Link;
use super::packet::{self, Body, CLOSE, ERROR};
use crate::wire::{ErrorClass, WireResult};

/// A statement as the server knows it.
#[derive(Debug, Clone)]
pub struct Statement {
    pub id: u32,
    pub placeholders: usize,
    /// Of its result as it was foreseen; none where there is no result.
    pub columns: Vec<Column>,
}

impl Link {
    /// `request` is the command to prepare.
    pub fn prepare(&mut self, request: &[u8]) -> WireResult<Statement> {
        self.command(request)?;
        let prepared = self.prepared();
        if prepared
            .as_ref()
            .is_err_and(|error| error.class == ErrorClass::LostConnection)
        {
            self.shut();
        }
        prepared
    }

    fn prepared(&mut self) -> WireResult<Statement> {
        self.begin_answer();
        let payload = self.payload()?;
        if payload.first() == Some(&ERROR) {
            return Err(packet::error(payload));
        }
        let mut body = Body(payload);
        let first = body.u8()?;
        if first != packet::OK {
            return Err(violation(format!(
                "byte {first:#04x} in answer to a statement to prepare"
            )));
        }
        let id = body.u32()?;
        let columns = body.u16()?;
        let placeholders = body.u16()?;
        self.definitions(placeholders, &mut Counts)?;
        let mut kept = Vec::new();
        self.definitions(columns, &mut Columns(&mut kept))?;
        Ok(Statement {
            id,
            placeholders: placeholders.into(),
            columns: kept,
        })
    }

    /// The server does not answer to this.
    pub fn close_statement(&mut self, id: u32) -> WireResult<()> {
        let mut request = Vec::new();
        packet::command(CLOSE, &mut request, |out| out.extend_from_slice(&id.to_le_bytes()));
        self.command(&request)
    }
}
