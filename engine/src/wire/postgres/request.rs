//! Requests that are kept encoded: between two executions only the parameters' bytes change.

use std::ops::Range;

use super::message;
use crate::wire::{ErrorClass, WireError, WireResult};
use crate::workload::text::write_integer;
use crate::workload::{Params, Value};

const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
/// Its values are sent as text.
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

#[derive(Debug, Clone)]
enum Field {
    Int2(usize),
    Int4(usize),
    Int8(usize),
    Text(Range<usize>),
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
            match (field, value) {
                (&Field::Int4(at), Value::Integer(value)) => put(&mut self.bytes, at, int4(value, slot)?.to_be_bytes()),
                (&Field::Int8(at), Value::Integer(value)) => put(&mut self.bytes, at, value.to_be_bytes()),
                (&Field::Int2(at), Value::Integer(value)) => put(&mut self.bytes, at, int2(value, slot)?.to_be_bytes()),
                (Field::Text(range), Value::Text(text)) if range.len() == text.len() => {
                    self.bytes[range.clone()].copy_from_slice(text);
                }
                _ => return Ok(false),
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
                match write_value(value, type_oid, slot, out) {
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

fn is_binary(value: Value<'_>, type_oid: u32) -> bool {
    matches!((value, type_oid), (Value::Integer(_), INT2 | INT4 | INT8))
}

fn write_formats(params: &Params, types: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(&(params.len() as u16).to_be_bytes());
    for (value, &type_oid) in params.iter().zip(types) {
        let format = if is_binary(value, type_oid) { BINARY } else { TEXT };
        out.extend_from_slice(&format.to_be_bytes());
    }
}

/// Appends length and bytes of a value; tells where the bytes are.
fn write_value(value: Value<'_>, type_oid: u32, slot: usize, out: &mut Vec<u8>) -> WireResult<Field> {
    let at = out.len() + 4;
    Ok(match (value, type_oid) {
        (Value::Integer(value), INT2) => {
            write_field(&int2(value, slot)?.to_be_bytes(), out);
            Field::Int2(at)
        }
        (Value::Integer(value), INT4) => {
            write_field(&int4(value, slot)?.to_be_bytes(), out);
            Field::Int4(at)
        }
        (Value::Integer(value), INT8) => {
            write_field(&value.to_be_bytes(), out);
            Field::Int8(at)
        }
        (Value::Integer(value), _) => {
            // As text: its length differs from value to value, so that it is encoded anew each time.
            let mut text = Vec::with_capacity(20);
            write_integer(value, &mut text);
            write_field(&text, out);
            Field::Text(at..out.len())
        }
        (Value::Text(text), _) => {
            write_field(text, out);
            Field::Text(at..out.len())
        }
    })
}

fn write_field(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

#[inline]
fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}

#[inline]
fn int4(value: i64, slot: usize) -> WireResult<i32> {
    i32::try_from(value).map_err(|_| out_of_range(value, slot, "integer"))
}

#[inline]
fn int2(value: i64, slot: usize) -> WireResult<i16> {
    i16::try_from(value).map_err(|_| out_of_range(value, slot, "smallint"))
}

#[cold]
fn out_of_range(value: i64, slot: usize, type_name: &str) -> WireError {
    WireError {
        class: ErrorClass::Other,
        message: format!(
            "parameter ${} is {value}, which the server's type {type_name} cannot hold",
            slot + 1
        ),
    }
}

/// Appends a value as an SQL literal.
pub fn write_literal(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Integer(value) => write_integer(value, out),
        Value::Text(text) => write_text_literal(text, out),
    }
}

fn write_text_literal(text: &[u8], out: &mut Vec<u8>) {
    // With a backslash in it, only the E form means the same whatever standard_conforming_strings is.
    let escaped = memchr::memchr(b'\\', text).is_some();
    out.extend_from_slice(if escaped { b"E'" } else { b"'" });
    for &byte in text {
        if byte == b'\'' || (escaped && byte == b'\\') {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_go_as_text_where_wanted() {
        let mut params = Params::new();
        params.reset(1);
        params.set_integer(0, 258);
        let sent = |like_libpq| {
            let mut request = Request::new("s".to_owned(), vec![INT4], Vec::new(), like_libpq);
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

    #[test]
    fn literals_are_escaped() {
        let literal = |value| {
            let mut out = Vec::new();
            write_literal(value, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(literal(Value::Integer(i64::MIN)), "-9223372036854775808");
        assert_eq!(literal(Value::Text(b"it's")), "'it''s'");
        assert_eq!(literal(Value::Text(br"a\'b")), r"E'a\\''b'");
    }
}
