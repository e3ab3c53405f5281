//! Values of parameters in the binary protocol, and as SQL.

use std::ops::Range;

use super::column::{BLOB, DATE, DATETIME, DOUBLE, LONG_LONG, NEW_DECIMAL, TINY, VAR_STRING};
use super::packet::{NO_BACKSLASH_ESCAPES, write_length};
use crate::workload::text::write_integer;
use crate::workload::values::{Moment, write_date, write_decimal, write_float, write_hex, write_timestamp};
use crate::workload::{Value, ValueType};

/// Where a value's bytes are in an execution, and what they are.
#[derive(Debug, Clone)]
pub enum Field {
    Integer(usize),
    Float(usize),
    Bool(usize),
    /// Behind its length.
    Date(usize),
    Timestamp {
        at: usize,
        fine: bool,
    },
    Text(Range<usize>),
    Bytes(Range<usize>),
    Null,
    /// Its length differs from value to value, so that it is encoded anew each time.
    Other,
}

/// Bytes of a date, of a moment in whole seconds, and of one with microseconds. Shorter forms of special values are not
/// used: every value of a placeholder has the same width.
const DATE_BYTES: usize = 4;
const SECOND_BYTES: usize = 7;
const FINE_BYTES: usize = 11;

pub fn type_of(value: Value<'_>) -> u8 {
    match value {
        Value::Integer(_) | Value::Null(ValueType::Integer | ValueType::Number) => LONG_LONG,
        Value::Text(_) | Value::Null(ValueType::Text) => VAR_STRING,
        Value::Float(_) | Value::Null(ValueType::Float4 | ValueType::Float8) => DOUBLE,
        Value::Decimal { .. } | Value::Null(ValueType::Decimal(_)) => NEW_DECIMAL,
        Value::Bool(_) | Value::Null(ValueType::Bool) => TINY,
        Value::Date(_) | Value::Null(ValueType::Date) => DATE,
        Value::Timestamp { .. } | Value::Null(ValueType::Timestamp | ValueType::TimestampFine) => DATETIME,
        // As a string, a server would take it for text of the connection's character set.
        Value::Bytes(_) | Value::Null(ValueType::Bytes) => BLOB,
    }
}

/// Puts a value where the former one was; false when it does not fit.
#[inline]
pub fn patch(field: &Field, value: Value<'_>, bytes: &mut [u8]) -> bool {
    match (field, value) {
        (&Field::Integer(at), Value::Integer(value)) => put(bytes, at, value.to_le_bytes()),
        (Field::Text(range), Value::Text(text)) | (Field::Bytes(range), Value::Bytes(text))
            if range.len() == text.len() =>
        {
            bytes[range.clone()].copy_from_slice(text);
        }
        (&Field::Float(at), Value::Float(value)) => put(bytes, at, value.to_le_bytes()),
        (&Field::Timestamp { at, fine: true }, Value::Timestamp { us, fine: true }) => put(bytes, at, packed(us)),
        (&Field::Timestamp { at, fine: false }, Value::Timestamp { us, fine: false }) => {
            bytes[at..at + SECOND_BYTES].copy_from_slice(&packed(us)[..SECOND_BYTES]);
        }
        (&Field::Date(at), Value::Date(days)) => {
            bytes[at..at + DATE_BYTES].copy_from_slice(&packed_date(days)[..DATE_BYTES]);
        }
        (&Field::Bool(at), Value::Bool(value)) => put(bytes, at, [value.into()]),
        (Field::Null, Value::Null(_)) => {}
        _ => return false,
    }
    true
}

/// Appends a value; tells where its bytes are. NULL has none.
pub fn write_value(value: Value<'_>, out: &mut Vec<u8>) -> Field {
    let at = out.len();
    match value {
        Value::Integer(value) => {
            out.extend_from_slice(&value.to_le_bytes());
            Field::Integer(at)
        }
        Value::Text(text) => Field::Text(write_bytes(text, out)),
        Value::Bytes(bytes) => Field::Bytes(write_bytes(bytes, out)),
        Value::Float(value) => {
            out.extend_from_slice(&value.to_le_bytes());
            Field::Float(at)
        }
        Value::Bool(value) => {
            out.push(value.into());
            Field::Bool(at)
        }
        Value::Date(days) => {
            write_bytes(&packed_date(days)[..DATE_BYTES], out);
            Field::Date(at + 1)
        }
        Value::Timestamp { us, fine } => {
            let width = if fine { FINE_BYTES } else { SECOND_BYTES };
            write_bytes(&packed(us)[..width], out);
            Field::Timestamp { at: at + 1, fine }
        }
        Value::Decimal { units, scale } => {
            // Shorter than 251 bytes: its length takes one.
            out.push(0);
            write_decimal(units, scale, out);
            out[at] = (out.len() - at - 1) as u8;
            Field::Other
        }
        Value::Null(_) => Field::Null,
    }
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) -> Range<usize> {
    write_length(bytes.len(), out);
    let start = out.len();
    out.extend_from_slice(bytes);
    start..out.len()
}

fn packed(us: i64) -> [u8; FINE_BYTES] {
    pack(Moment::of_us(us))
}

fn packed_date(days: i32) -> [u8; FINE_BYTES] {
    pack(Moment::of_days(days.into()))
}

fn pack(moment: Moment) -> [u8; FINE_BYTES] {
    let [year_low, year_high] = (moment.year as u16).to_le_bytes();
    let [a, b, c, d] = moment.us.to_le_bytes();
    let Moment {
        month,
        day,
        hour,
        minute,
        second,
        ..
    } = moment;
    [year_low, year_high, month, day, hour, minute, second, a, b, c, d]
}

#[inline]
fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}

/// Appends a value as an SQL literal, for a server of this status.
pub fn write_literal(value: Value<'_>, status: u16, out: &mut Vec<u8>) {
    match value {
        Value::Integer(value) => write_integer(value, out),
        Value::Text(text) => write_text_literal(text, status & NO_BACKSLASH_ESCAPES == 0, out),
        Value::Float(value) => write_float(value, out),
        Value::Decimal { units, scale } => write_decimal(units, scale, out),
        Value::Bool(value) => write_integer(value.into(), out),
        Value::Date(days) => quoted(out, |out| write_date(days, out)),
        Value::Timestamp { us, fine } => quoted(out, |out| write_timestamp(us, fine, out)),
        Value::Bytes(bytes) => {
            out.push(b'x');
            quoted(out, |out| write_hex(bytes, out));
        }
        Value::Null(_) => out.extend_from_slice(b"NULL"),
    }
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'\'');
    write(out);
    out.push(b'\'');
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

    const LEAP_DAY: i32 = 19_782;
    const LEAP_DAY_US: i64 = LEAP_DAY as i64 * 86_400_000_000;

    #[test]
    fn values_of_fixed_width_are_patched_in_place() {
        let moment = |us, fine| Value::Timestamp { us, fine };
        let last_us = LEAP_DAY_US + 86_399_999_999;
        for (first, second, kind, expected) in [
            (Value::Float(0.0), Value::Float(1.5), DOUBLE, &1.5f64.to_le_bytes()[..]),
            (Value::Bool(false), Value::Bool(true), TINY, &[1]),
            (Value::Date(0), Value::Date(LEAP_DAY), DATE, &[4, 0xe8, 7, 2, 29]),
            (
                moment(0, false),
                moment(LEAP_DAY_US, false),
                DATETIME,
                &[7, 0xe8, 7, 2, 29, 0, 0, 0],
            ),
            (
                moment(0, true),
                moment(last_us, true),
                DATETIME,
                &[11, 0xe8, 7, 2, 29, 23, 59, 59, 0x3f, 0x42, 0x0f, 0],
            ),
            (Value::Bytes(b"ab"), Value::Bytes(b"\0c"), BLOB, b"\x02\0c"),
        ] {
            let mut bytes = Vec::new();
            let field = write_value(first, &mut bytes);
            assert!(patch(&field, second, &mut bytes), "{second:?}");
            assert_eq!(bytes, expected, "{second:?}");
            assert_eq!(type_of(second), kind);
            assert!(!patch(&field, Value::Null(ValueType::Text), &mut bytes));
        }
    }

    #[test]
    fn decimals_are_texts_of_their_own_type() {
        let (value, mut bytes) = (Value::Decimal { units: -5, scale: 2 }, Vec::new());
        assert!(matches!(write_value(value, &mut bytes), Field::Other));
        assert_eq!((bytes.as_slice(), type_of(value)), (&b"\x05-0.05"[..], NEW_DECIMAL));
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
        assert_eq!(literal(Value::Float(0.5), 0), "5e-1");
        assert_eq!(literal(Value::Bool(true), 0), "1");
        assert_eq!(literal(Value::Date(LEAP_DAY), 0), "'2024-02-29'");
        let moment = Value::Timestamp {
            us: LEAP_DAY_US,
            fine: true,
        };
        assert_eq!(literal(moment, 0), "'2024-02-29 00:00:00.000000'");
        assert_eq!(literal(Value::Bytes(b"\x01Z"), 0), "x'015a'");
        assert_eq!(literal(Value::Null(ValueType::Date), 0), "NULL");
    }
}
