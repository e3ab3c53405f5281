//! Requests that are kept encoded: between two executions only the parameters' bytes change.

use super::message;
use super::value::{self, Field, Kind, LENGTH_BYTES};
use crate::wire::{ErrorClass, WireError, WireResult};
use crate::workload::{Params, Value};

/// Of parameters whose values are sent as text.
const UNKNOWN: u32 = 705;

/// Format codes of values.
pub const TEXT: u16 = 0;
pub const BINARY: u16 = 1;

/// Of longer requests all is encoded anew: else each of many values would move those behind it.
const MOST_MOVED_BYTES: usize = 256;

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
        for (slot, value) in params.iter().enumerate() {
            if !value::patch(&self.fields[slot], value, slot, &mut self.bytes)? && !self.refit(slot, value) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts an integer where one of more or fewer digits was; what comes after it moves. False when the value is no integer, or
    /// too much would have to move.
    fn refit(&mut self, slot: usize, value: Value<'_>) -> bool {
        let Field { kind, place: former } = self.fields[slot].clone();
        let (Kind::Digits, Value::Integer(value), end) = (kind, value, self.bytes.len()) else {
            return false;
        };
        if end - former.end > MOST_MOVED_BYTES {
            return false;
        }
        let mut text = itoa::Buffer::new();
        let digits = text.format(value).as_bytes();
        let moved = |at: usize| at + digits.len() - former.len();
        self.bytes.resize(end.max(moved(end)), 0);
        self.bytes.copy_within(former.end..end, former.start + digits.len());
        self.bytes.truncate(moved(end));
        let length = (digits.len() as u32).to_be_bytes();
        self.bytes[former.start - LENGTH_BYTES..former.start].copy_from_slice(&length);
        self.bytes[former.start..moved(former.end)].copy_from_slice(digits);
        message::stretch(&mut self.bytes[self.head..], moved);
        self.fields[slot].place.end = moved(former.end);
        for later in &mut self.fields[slot + 1..] {
            later.place = moved(later.place.start)..moved(later.place.end);
        }
        self.result_format_at = moved(self.result_format_at);
        true
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
    fn numbers_of_any_length_come_out_as_in_a_new_request() {
        let mut parse = Vec::new();
        message::parse("", b"SELECT $1, $2, $3", &mut parse);
        for head in [Vec::new(), parse] {
            let request = || Request::new("s".to_owned(), vec![value::INT4; 3], head.clone(), true);
            let mut kept = request();
            for (first, text, last) in [
                (7, "ab", 1),
                (10, "cd", -1),
                (-123_456, "ef", 12_345),
                (0, "gh", i64::MIN),
                (9, "longer", i64::MAX),
                (10, "longer", 0),
            ] {
                let mut params = Params::new();
                params.reset(3);
                params.set(0, Value::Integer(first));
                params.put(1, Value::Text(text.as_bytes()));
                params.set(2, Value::Integer(last));
                let expected = request().bytes(&params, BINARY).unwrap().to_vec();
                assert_eq!(kept.bytes(&params, BINARY).unwrap(), expected, "{first} {text} {last}");
            }
        }
    }

    #[test]
    fn a_number_in_front_of_a_long_text_does_not_move_it() {
        let mut request = Request::new("s".to_owned(), vec![value::INT4; 2], Vec::new(), true);
        let mut bytes = |number| {
            let mut params = Params::new();
            params.reset(2);
            params.set(0, Value::Integer(number));
            params.put(1, Value::Text(&[b'x'; 2 * MOST_MOVED_BYTES]));
            let before = request.fields.len();
            let is_patched = request.patch(&params).unwrap();
            request.bytes(&params, BINARY).unwrap();
            (before > 0, is_patched)
        };
        assert_eq!(
            [9, 8, 10, 11].map(&mut bytes),
            [(false, false), (true, true), (true, false), (true, true)]
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
