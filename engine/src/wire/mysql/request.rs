//! Executions of prepared statements, kept encoded: between two of them only the values' bytes change. And values as SQL.

use std::ops::Range;

use super::column::{Column, LONG_LONG, VAR_STRING};
use super::packet::{self, EXECUTE, NO_BACKSLASH_ESCAPES, write_length};
use crate::workload::text::write_integer;
use crate::workload::{Params, Value};

/// COM_STMT_EXECUTE of one statement.
pub struct Request {
    id: u32,
    /// Of the statement's result, as they were told last: when it was prepared, or by an execution that changed them.
    pub columns: Vec<Column>,
    /// The slot of every placeholder, in the order of the text.
    slots: Vec<usize>,
    bytes: Vec<u8>,
    /// Where each placeholder's value is in `bytes`.
    fields: Vec<Field>,
    /// The types that the server has been told.
    known_types: Vec<u8>,
    /// Whether `bytes` can be patched: they hold no types.
    is_kept: bool,
}

#[derive(Debug, Clone)]
pub enum Field {
    Integer(usize),
    Text(Range<usize>),
}

impl Request {
    pub fn new(id: u32, columns: Vec<Column>, slots: Vec<usize>) -> Self {
        Self {
            id,
            columns,
            slots,
            bytes: Vec::new(),
            fields: Vec::new(),
            known_types: Vec::new(),
            is_kept: false,
        }
    }

    /// The server's number of the statement.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The bytes to send for these parameters.
    #[inline]
    pub fn bytes(&mut self, params: &Params) -> &[u8] {
        if !self.patch(params) {
            self.encode(params);
        }
        &self.bytes
    }

    /// The server may not have taken note of the types: they are sent again.
    #[cold]
    pub fn forget_types(&mut self) {
        self.known_types.clear();
        self.is_kept = false;
    }

    /// Puts the parameters where the former ones were; false when they do not fit.
    #[inline]
    fn patch(&mut self, params: &Params) -> bool {
        if !self.is_kept {
            return false;
        }
        for (field, &slot) in self.fields.iter().zip(&self.slots) {
            match (field, params.get(slot)) {
                (&Field::Integer(at), Value::Integer(value)) => {
                    self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
                }
                (Field::Text(range), Value::Text(text)) if range.len() == text.len() => {
                    self.bytes[range.clone()].copy_from_slice(text);
                }
                _ => return false,
            }
        }
        true
    }

    /// The first time and after `forget_types` with the types, later without.
    fn encode(&mut self, params: &Params) {
        let types = self.slots.iter().map(|&slot| type_of(params.get(slot)));
        let tells_types = !types.clone().eq(self.known_types.iter().copied());
        if tells_types {
            self.known_types.clear();
            self.known_types.extend(types);
        }
        self.fields.clear();
        let Self {
            id,
            slots,
            bytes,
            fields,
            known_types,
            ..
        } = self;
        packet::command(EXECUTE, bytes, |out| {
            let told = if tells_types { known_types.as_slice() } else { &[] };
            write_execution(*id, slots.len(), told, out);
            fields.extend(slots.iter().map(|&slot| write_value(params.get(slot), out)));
        });
        self.is_kept = !tells_types;
    }
}

/// Appends an execution up to its values; the types of the placeholders are told when there are any.
pub fn write_execution(id: u32, placeholders: usize, types: &[u8], out: &mut Vec<u8>) {
    const NO_CURSOR: u8 = 0;
    const ITERATIONS: u32 = 1;
    out.extend_from_slice(&id.to_le_bytes());
    out.push(NO_CURSOR);
    out.extend_from_slice(&ITERATIONS.to_le_bytes());
    if placeholders == 0 {
        return;
    }
    let nulls_bytes = placeholders.div_ceil(8);
    out.resize(out.len() + nulls_bytes, 0);
    out.push(u8::from(!types.is_empty()));
    out.extend(types.iter().flat_map(|&kind| [kind, 0]));
}

pub fn type_of(value: Value<'_>) -> u8 {
    match value {
        Value::Integer(_) => LONG_LONG,
        Value::Text(_) => VAR_STRING,
    }
}

/// Appends a value; tells where its bytes are.
pub fn write_value(value: Value<'_>, out: &mut Vec<u8>) -> Field {
    match value {
        Value::Integer(value) => {
            out.extend_from_slice(&value.to_le_bytes());
            Field::Integer(out.len() - 8)
        }
        Value::Text(text) => {
            write_length(text.len(), out);
            let start = out.len();
            out.extend_from_slice(text);
            Field::Text(start..out.len())
        }
    }
}

/// Appends a value as an SQL literal, for a server of this status.
pub fn write_literal(value: Value<'_>, status: u16, out: &mut Vec<u8>) {
    match value {
        Value::Integer(value) => write_integer(value, out),
        Value::Text(text) => write_text_literal(text, status & NO_BACKSLASH_ESCAPES == 0, out),
    }
}

fn write_text_literal(text: &[u8], backslash_escapes: bool, out: &mut Vec<u8>) {
    out.push(b'\'');
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'\'', b'\\', rest) {
        let special = rest[at];
        out.extend_from_slice(&rest[..at]);
        if special == b'\'' || backslash_escapes {
            out.push(special);
        }
        out.push(special);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{TableRows, TableSpec};

    /// The values of a row whose columns are these.
    fn params(columns: serde_json::Value) -> Params {
        let json = serde_json::json!({"name": "t", "rows": 1, "columns": columns});
        let table: TableSpec = serde_json::from_value(json).unwrap();
        let mut params = Params::new();
        TableRows::new(&table, 1).unwrap().fill(0, &mut params);
        params
    }

    fn values(number: i64, text: &str) -> Params {
        params(serde_json::json!({"n": {"gen": "constant", "value": number}, "t": {"gen": "constant", "value": text}}))
    }

    const TYPES: [u8; 6] = [LONG_LONG, 0, VAR_STRING, 0, LONG_LONG, 0];

    fn expected(types: &[u8], number: i64, text: &str) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 0, EXECUTE, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0];
        bytes.push(u8::from(!types.is_empty()));
        bytes.extend_from_slice(types);
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.push(text.len() as u8);
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes[0] = (bytes.len() - 4) as u8;
        bytes
    }

    #[test]
    fn types_are_told_once_and_values_are_patched() {
        let mut request = Request::new(7, Vec::new(), vec![0, 1, 0]);
        assert_eq!(request.bytes(&values(5, "ab")), expected(&TYPES, 5, "ab"));
        for (number, text) in [(6, "cd"), (-7, "ef"), (8, "longer"), (9, ""), (10, "ab")] {
            assert_eq!(request.bytes(&values(number, text)), expected(&[], number, text));
        }
        request.forget_types();
        assert_eq!(request.bytes(&values(5, "ab")), expected(&TYPES, 5, "ab"));
        assert_eq!(request.bytes(&values(5, "ab")), expected(&[], 5, "ab"));
    }

    #[test]
    fn types_that_change_are_told_again() {
        let mut request = Request::new(7, Vec::new(), vec![0]);
        let one = |value: serde_json::Value| params(serde_json::json!({"v": {"gen": "constant", "value": value}}));
        let flag = |request: &mut Request, params: &Params| request.bytes(params)[15];
        assert_eq!(flag(&mut request, &one(1.into())), 1);
        assert_eq!(flag(&mut request, &one(2.into())), 0);
        assert_eq!(flag(&mut request, &one("x".into())), 1);
        assert_eq!(flag(&mut request, &one("y".into())), 0);
    }

    #[test]
    fn a_statement_without_placeholders_is_short() {
        let mut request = Request::new(258, Vec::new(), Vec::new());
        for _ in 0..3 {
            assert_eq!(
                request.bytes(&Params::new()),
                [10, 0, 0, 0, EXECUTE, 2, 1, 0, 0, 0, 1, 0, 0, 0]
            );
        }
    }

    #[test]
    fn literals_are_escaped_as_the_server_understands_them() {
        let literal = |value, status| {
            let mut out = Vec::new();
            write_literal(value, status, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(literal(Value::Integer(i64::MIN), 0), "-9223372036854775808");
        assert_eq!(literal(Value::Text(br"it's a \ or '\'"), 0), r"'it''s a \\ or ''\\'''");
        assert_eq!(literal(Value::Text(br"it's a \"), NO_BACKSLASH_ESCAPES), r"'it''s a \'");
        assert_eq!(literal(Value::Text(b""), 0), "''");
    }
}
