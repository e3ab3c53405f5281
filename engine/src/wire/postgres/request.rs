//! Requests that are kept encoded: between two executions only the parameters' bytes change.

use super::message;
use super::value::{self, Field};
use crate::wire::{ErrorClass, WireError, WireResult};
use crate::workload::Params;

/// Of parameters whose values are sent as text.
const UNKNOWN: u32 = 705;

/// Format codes of values.
pub const TEXT: u16 = 0;
pub const BINARY: u16 = 1;

/// Bind, Execute and Sync of one statement (with Parse in front for an unnamed one, and Describe where columns are asked for).
pub struct Request {
    bytes: Vec<u8>,
    like_libpq: bool,
    /// Length of what comes before Bind.
    head: usize,
    name: String,
    types: Vec<u32>,
    /// Where each parameter's bytes are; empty until the first execution.
    fields: Vec<Field>,
    result_format_at: usize,
}

impl Request {
    /// `head` goes in front of Bind; `types` are the parameters' types as the server told; with `like_libpq` the server
    /// tells the result's columns each time, and integers are sent as text.
    pub fn new(name: String, mut types: Vec<u32>, head: Vec<u8>, like_libpq: bool) -> Self {
        if like_libpq {
            types.fill(UNKNOWN);
        }
        Self {
            like_libpq,
            head: head.len(),
            bytes: head,
            name,
            types,
            fields: Vec::new(),
            result_format_at: 0,
        }
    }

    /// The bytes to send for these parameters and this format of the results.
    #[inline]
    pub fn bytes(&mut self, params: &Params, result_format: u16) -> WireResult<&[u8]> {
        if !self.patch(params)? {
            self.encode(params)?;
        }
        self.bytes[self.result_format_at + 1] = result_format as u8;
        Ok(&self.bytes)
    }

    /// Puts the parameters where the former ones were; false when they do not fit.
    #[inline]
    fn patch(&mut self, params: &Params) -> WireResult<bool> {
        // `result_format_at` is behind the head once the request was encoded.
        if self.result_format_at == 0 || self.fields.len() != params.len() {
            return Ok(false);
        }
        for (slot, (field, value)) in self.fields.iter().zip(params.iter()).enumerate() {
            if !value::patch(field, value, slot, &mut self.bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[cold]
    fn encode(&mut self, params: &Params) -> WireResult<()> {
        if params.len() != self.types.len() {
            return Err(WireError {
                class: ErrorClass::Other,
                message: format!("{} parameters for a statement of {}", params.len(), self.types.len()),
            });
        }
        self.bytes.truncate(self.head);
        self.fields.clear();
        self.result_format_at = 0;
        let mut failure = None;
        let (fields, result_format_at) = (&mut self.fields, &mut self.result_format_at);
        message::write(b'B', &mut self.bytes, |out| {
            message::write_text(b"", out);
            message::write_text(self.name.as_bytes(), out);
            write_formats(params, &self.types, out);
            out.extend_from_slice(&(params.len() as u16).to_be_bytes());
            for (slot, (value, &type_oid)) in params.iter().zip(&self.types).enumerate() {
                match value::write(value, type_oid, slot, out) {
                    Ok(field) => fields.push(field),
                    Err(error) => failure = Some(error),
                }
            }
            out.extend_from_slice(&1u16.to_be_bytes());
            *result_format_at = out.len();
            out.extend_from_slice(&BINARY.to_be_bytes());
        });
        if self.like_libpq {
            message::describe_portal(&mut self.bytes);
        }
        message::execute_and_sync(&mut self.bytes);
        match failure {
            Some(error) => {
                self.result_format_at = 0;
                Err(error)
            }
            None => Ok(()),
        }
    }
}

fn write_formats(params: &Params, types: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(&(params.len() as u16).to_be_bytes());
    for (value, &type_oid) in params.iter().zip(types) {
        let format = if value::is_binary(value, type_oid) {
            BINARY
        } else {
            TEXT
        };
        out.extend_from_slice(&format.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Value;

    #[test]
    fn integers_go_as_text_where_wanted() {
        let mut params = Params::new();
        params.reset(1);
        params.set(0, Value::Integer(258));
        let sent = |like_libpq| {
            let mut request = Request::new("s".to_owned(), vec![value::INT4], Vec::new(), like_libpq);
            request.bytes(&params, BINARY).unwrap().to_vec()
        };
        let one_parameter =
            |format: u8, value: &[u8]| [&[0, 1, 0, format, 0, 1, 0, 0, 0, value.len() as u8], value].concat();
        let (own, libpq) = (sent(false), sent(true));
        assert!(
            memchr::memmem::find(&own, &one_parameter(1, &[0, 0, 1, 2])).is_some(),
            "{own:?}"
        );
        assert!(
            memchr::memmem::find(&libpq, &one_parameter(0, b"258")).is_some(),
            "{libpq:?}"
        );
    }

    #[test]
    fn columns_are_asked_for_with_each_execution_where_wanted() {
        let bytes = |like_libpq| {
            let mut request = Request::new("s".to_owned(), Vec::new(), Vec::new(), like_libpq);
            request.bytes(&Params::new(), BINARY).unwrap().to_vec()
        };
        let (plain, described) = (bytes(false), bytes(true));
        let execute_at = plain.len() - b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04".len();
        let (bind, execute) = plain.split_at(execute_at);
        assert_eq!(described, [bind, b"D\0\0\0\x06P\0", execute].concat());
    }
}
