//! Values of parameters: in the binary format where the server's type of the parameter has one that fits, else as text.

use std::ops::Range;

use crate::wire::{ErrorClass, WireError, WireResult};
use crate::workload::text::{put_integer, write_integer};
use crate::workload::values::{write_date, write_decimal, write_float, write_hex, write_timestamp};
use crate::workload::{Value, ValueType};

const BOOL: u32 = 16;
const BYTEA: u32 = 17;
const INT8: u32 = 20;
const INT2: u32 = 21;
pub const INT4: u32 = 23;
const OID: u32 = 26;
const FLOAT4: u32 = 700;
const FLOAT8: u32 = 701;
const DATE: u32 = 1082;
const TIMESTAMP: u32 = 1114;
const TIMESTAMPTZ: u32 = 1184;

/// From 1970-01-01 to 2000-01-01, where PostgreSQL's time begins.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_US: i64 = EPOCH_DAYS as i64 * 86_400_000_000;

/// A value that the server has sent as text, of a column of this type.
pub fn read(text: Option<&[u8]>, type_oid: u32) -> Value<'_> {
    let Some(text) = text else {
        return Value::Null(ValueType::Text);
    };
    let spelled = std::str::from_utf8(text).unwrap_or_default();
    let number = match type_oid {
        INT2 | INT4 | INT8 | OID => spelled.parse().ok().map(Value::Integer),
        FLOAT4 | FLOAT8 => spelled
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .map(Value::Float),
        BOOL => Some(Value::Bool(text == b"t")),
        _ => None,
    };
    number.unwrap_or(Value::Text(text))
}

/// In front of a value's bytes.
pub const LENGTH_BYTES: usize = 4;

/// Where a value's bytes are in a request, and what they are.
#[derive(Debug, Clone)]
pub struct Field {
    pub kind: Kind,
    pub place: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Bool,
    Date,
    Timestamp,
    Text,
    Bytes,
    /// An integer as text.
    Digits,
    Null,
    /// As text whose length differs from value to value, so that it is encoded anew each time.
    Other,
}

/// Puts a value where the former one was; false when it does not fit.
#[inline]
pub fn patch(field: &Field, value: Value<'_>, slot: usize, bytes: &mut [u8]) -> WireResult<bool> {
    let place = &mut bytes[field.place.clone()];
    match (field.kind, value) {
        (Kind::Int4, Value::Integer(value)) => place.copy_from_slice(&int4(value, slot)?.to_be_bytes()),
        (Kind::Int8, Value::Integer(value)) => place.copy_from_slice(&value.to_be_bytes()),
        (Kind::Int2, Value::Integer(value)) => place.copy_from_slice(&int2(value, slot)?.to_be_bytes()),
        (Kind::Text, Value::Text(text)) | (Kind::Bytes, Value::Bytes(text)) if place.len() == text.len() => {
            place.copy_from_slice(text);
        }
        (Kind::Digits, Value::Integer(value)) => return Ok(put_integer(value, place)),
        (Kind::Timestamp, Value::Timestamp { us, .. }) => place.copy_from_slice(&(us - EPOCH_US).to_be_bytes()),
        (Kind::Float8, Value::Float(value)) => place.copy_from_slice(&value.to_be_bytes()),
        (Kind::Float4, Value::Float(value)) => place.copy_from_slice(&(value as f32).to_be_bytes()),
        (Kind::Date, Value::Date(days)) => place.copy_from_slice(&(days - EPOCH_DAYS).to_be_bytes()),
        (Kind::Bool, Value::Bool(value)) => place.copy_from_slice(&[value.into()]),
        (Kind::Null, Value::Null(_)) => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether the value goes in the binary format to a parameter of that type.
pub fn is_binary(value: Value<'_>, type_oid: u32) -> bool {
    matches!(
        (value, type_oid),
        (Value::Integer(_), INT2 | INT4 | INT8)
            | (Value::Float(_), FLOAT4 | FLOAT8)
            | (Value::Bool(_), BOOL)
            | (Value::Date(_), DATE)
            | (Value::Timestamp { .. }, TIMESTAMP | TIMESTAMPTZ)
            | (Value::Bytes(_), BYTEA)
    )
}

/// Appends length and bytes of a value; tells where the bytes are.
pub fn write(value: Value<'_>, type_oid: u32, slot: usize, out: &mut Vec<u8>) -> WireResult<Field> {
    let start = out.len() + LENGTH_BYTES;
    let kind = match (value, type_oid) {
        (Value::Integer(value), INT2) => write_field(Kind::Int2, &int2(value, slot)?.to_be_bytes(), out),
        (Value::Integer(value), INT4) => write_field(Kind::Int4, &int4(value, slot)?.to_be_bytes(), out),
        (Value::Integer(value), INT8) => write_field(Kind::Int8, &value.to_be_bytes(), out),
        (Value::Float(value), FLOAT4) => write_field(Kind::Float4, &(value as f32).to_be_bytes(), out),
        (Value::Float(value), FLOAT8) => write_field(Kind::Float8, &value.to_be_bytes(), out),
        (Value::Bool(value), BOOL) => write_field(Kind::Bool, &[value.into()], out),
        (Value::Date(days), DATE) => write_field(Kind::Date, &(days - EPOCH_DAYS).to_be_bytes(), out),
        (Value::Timestamp { us, .. }, TIMESTAMP | TIMESTAMPTZ) => {
            write_field(Kind::Timestamp, &(us - EPOCH_US).to_be_bytes(), out)
        }
        (Value::Bytes(bytes), BYTEA) => write_field(Kind::Bytes, bytes, out),
        (Value::Text(text), _) => write_field(Kind::Text, text, out),
        (Value::Null(_), _) => {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            Kind::Null
        }
        (Value::Integer(_), _) => write_as_text(Kind::Digits, value, out),
        (value, _) => write_as_text(Kind::Other, value, out),
    };
    let place = start..out.len();
    Ok(Field { kind, place })
}

fn write_field(kind: Kind, bytes: &[u8], out: &mut Vec<u8>) -> Kind {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
    kind
}

/// A boolean is a number here: the server sees no boolean in a parameter that it did not call one.
fn write_as_text(kind: Kind, value: Value<'_>, out: &mut Vec<u8>) -> Kind {
    let length_at = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    match value {
        Value::Bool(value) => write_integer(value.into(), out),
        value => write_plain(value, out),
    }
    let length = (out.len() - length_at - LENGTH_BYTES) as u32;
    out[length_at..length_at + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
    kind
}

/// Appends a value as the server reads it where it expects its type. The zone goes with a timestamp, so that one that is
/// taken for `timestamptz` is the same moment; for `timestamp` it has no meaning.
pub fn write_plain(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Integer(value) => write_integer(value, out),
        Value::Float(value) => write_float(value, out),
        Value::Decimal { units, scale } => write_decimal(units, scale, out),
        Value::Bool(value) => out.push(if value { b't' } else { b'f' }),
        Value::Date(days) => write_date(days, out),
        Value::Timestamp { us, fine } => {
            write_timestamp(us, fine, out);
            out.extend_from_slice(b"+00");
        }
        Value::Text(text) => out.extend_from_slice(text),
        Value::Bytes(bytes) => {
            out.extend_from_slice(br"\x");
            write_hex(bytes, out);
        }
        Value::Null(_) => {}
    }
}

/// Appends a value as an SQL literal.
pub fn write_literal(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Integer(_) | Value::Float(_) | Value::Decimal { .. } => write_plain(value, out),
        Value::Text(text) => write_text_literal(text, out),
        Value::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::Null(_) => out.extend_from_slice(b"NULL"),
        Value::Date(_) | Value::Timestamp { .. } => {
            out.push(b'\'');
            write_plain(value, out);
            out.push(b'\'');
        }
        Value::Bytes(bytes) => {
            out.extend_from_slice(br"E'\\x");
            write_hex(bytes, out);
            out.push(b'\'');
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Value<'static> = Value::Timestamp {
        us: EPOCH_US + 1_000_000,
        fine: false,
    };

    #[test]
    fn values_of_fixed_width_are_patched_in_place() {
        for (type_oid, first, second, expected) in [
            (
                TIMESTAMP,
                SECOND,
                Value::Timestamp {
                    us: EPOCH_US - 1,
                    fine: true,
                },
                &[255u8; 8][..],
            ),
            (FLOAT8, Value::Float(0.0), Value::Float(1.5), &1.5f64.to_be_bytes()),
            (FLOAT4, Value::Float(0.0), Value::Float(1.5), &1.5f32.to_be_bytes()),
            (DATE, Value::Date(0), Value::Date(EPOCH_DAYS + 258), &[0, 0, 1, 2]),
            (BOOL, Value::Bool(false), Value::Bool(true), &[1]),
            (BYTEA, Value::Bytes(b"ab"), Value::Bytes(b"\0c"), b"\0c"),
            (UNKNOWN_TEXT, Value::Integer(10), Value::Integer(-9), b"-9"),
        ] {
            let mut bytes = Vec::new();
            assert_eq!(is_binary(first, type_oid), type_oid != UNKNOWN_TEXT);
            let field = write(first, type_oid, 0, &mut bytes).unwrap();
            assert!(patch(&field, second, 0, &mut bytes).unwrap(), "{second:?}");
            assert_eq!(bytes[4..], *expected, "{second:?}");
            assert_eq!(bytes[..4], (expected.len() as u32).to_be_bytes());
            assert!(!patch(&field, Value::Null(ValueType::Text), 0, &mut bytes).unwrap());
        }
    }

    #[test]
    fn what_the_server_types_otherwise_goes_as_text() {
        const NUMERIC: u32 = 1700;
        for (type_oid, value, expected) in [
            (NUMERIC, Value::Decimal { units: -5, scale: 2 }, &b"\0\0\0\x05-0.05"[..]),
            (FLOAT8, Value::Integer(12), b"\0\0\0\x0212"),
            (INT4, Value::Bool(true), b"\0\0\0\x011"),
            (DATE, SECOND, b"\0\0\0\x162000-01-01 00:00:01+00"),
            (UNKNOWN_TEXT, Value::Null(ValueType::Text), b"\xff\xff\xff\xff"),
        ] {
            let mut bytes = Vec::new();
            assert!(!is_binary(value, type_oid));
            let field = write(value, type_oid, 0, &mut bytes).unwrap();
            assert_eq!(bytes, expected, "{value:?}");
            assert!(!patch(&field, Value::Integer(1), 0, &mut bytes).unwrap());
        }
    }

    const UNKNOWN_TEXT: u32 = 25;

    #[test]
    fn an_integer_with_more_or_fewer_digits_does_not_fit() {
        let mut bytes = Vec::new();
        let field = write(Value::Integer(42), UNKNOWN_TEXT, 0, &mut bytes).unwrap();
        for other in [0, 9, -42, 100, i64::MIN] {
            assert!(!patch(&field, Value::Integer(other), 0, &mut bytes).unwrap(), "{other}");
        }
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
        assert_eq!(literal(Value::Float(0.5)), "5e-1");
        assert_eq!(literal(Value::Decimal { units: 1230, scale: 2 }), "12.30");
        assert_eq!(literal(Value::Bool(true)), "true");
        assert_eq!(literal(Value::Date(0)), "'1970-01-01'");
        assert_eq!(literal(SECOND), "'2000-01-01 00:00:01+00'");
        assert_eq!(literal(Value::Bytes(b"\x01Z")), r"E'\\x015a'");
        assert_eq!(literal(Value::Null(ValueType::Bool)), "NULL");
    }
}
