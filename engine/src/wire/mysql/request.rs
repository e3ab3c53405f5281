//! Executions of prepared statements, kept encoded: between two of them only the values' bytes change.

use super::column::Column;
use super::packet::{self, EXECUTE};
use super::value::{Field, patch, type_of, write_value};
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
            if !patch(field, params.get(slot), &mut self.bytes) {
                return false;
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
            let mut nulls = write_execution(*id, slots.len(), told, out);
            fields.extend(slots.iter().map(|&slot| {
                let value = params.get(slot);
                nulls.next(value, out);
                write_value(value, out)
            }));
        });
        self.is_kept = !tells_types;
    }
}

/// The bitmap that says which values are NULL.
pub struct Nulls {
    at: usize,
    value: usize,
}

impl Nulls {
    /// Takes note of the next value.
    #[inline]
    pub fn next(&mut self, value: Value<'_>, out: &mut [u8]) {
        if matches!(value, Value::Null(_)) {
            out[self.at + self.value / 8] |= 1 << (self.value % 8);
        }
        self.value += 1;
    }
}

/// Appends an execution up to its values; the types of the placeholders are told when there are any.
pub fn write_execution(id: u32, placeholders: usize, types: &[u8], out: &mut Vec<u8>) -> Nulls {
    const NO_CURSOR: u8 = 0;
    const ITERATIONS: u32 = 1;
    out.extend_from_slice(&id.to_le_bytes());
    out.push(NO_CURSOR);
    out.extend_from_slice(&ITERATIONS.to_le_bytes());
    let nulls = Nulls {
        at: out.len(),
        value: 0,
    };
    if placeholders == 0 {
        return nulls;
    }
    let nulls_bytes = placeholders.div_ceil(8);
    out.resize(out.len() + nulls_bytes, 0);
    out.push(u8::from(!types.is_empty()));
    out.extend(types.iter().flat_map(|&kind| [kind, 0]));
    nulls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::mysql::column::{LONG_LONG, VAR_STRING};
    use crate::workload::{TableRows, TableSpec};

    /// The values of a row whose columns are these.
    fn params(columns: serde_json::Value) -> Params {
        let json = serde_json::json!({"name": "t", "rows": 1, "columns": columns});
        let table: TableSpec = serde_json::from_value(json).unwrap();
        let mut params = Params::new();
        TableRows::new(&table, 1).unwrap().fill(0, &mut params).unwrap();
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
    fn nulls_are_in_the_bitmap_and_keep_their_types() {
        let mut request = Request::new(7, Vec::new(), vec![0, 1]);
        let some =
            params(serde_json::json!({"a": {"gen": "constant", "value": 1}, "b": {"gen": "constant", "value": 2}}));
        let null = params(serde_json::json!({"a": {"gen": "constant", "value": 1},
                                             "b": {"gen": "constant", "value": 2, "nulls": 1}}));
        let is_told = |bytes: &[u8]| bytes[15] == 1;
        assert!(is_told(request.bytes(&some)));
        for _ in 0..2 {
            let bytes = request.bytes(&null);
            assert_eq!((bytes[14], is_told(bytes), bytes.len()), (0b10, false, 24));
        }
        let bytes = request.bytes(&some);
        assert_eq!((bytes[14], is_told(bytes), bytes.len()), (0, false, 32));
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
}
