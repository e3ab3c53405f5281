//! What SQLite, which knows integers, floating point numbers, texts and bytes, is given for the other types.

use crate::workload::Value;
use crate::workload::text::write_integer;
use crate::workload::values::{write_date, write_float, write_hex};

/// A timestamp as it is stored: whole seconds since 1970-01-01 UTC, or microseconds where it is `fine`.
#[inline]
pub fn stored(us: i64, fine: bool) -> i64 {
    if fine { us } else { us.div_euclid(1_000_000) }
}

/// The floating point number next to a decimal one.
#[inline]
pub fn float_of(units: i64, scale: u8) -> f64 {
    units as f64 / 10f64.powi(scale.into())
}

/// Appends a value as an SQL literal.
pub fn write_literal(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Integer(value) => write_integer(value, out),
        Value::Text(text) => quoted(out, |out| {
            for &byte in text {
                if byte == b'\'' {
                    out.push(byte);
                }
                out.push(byte);
            }
        }),
        Value::Float(value) => write_float(value, out),
        Value::Decimal { units, scale } => write_float(float_of(units, scale), out),
        Value::Bool(value) => write_integer(value.into(), out),
        Value::Timestamp { us, fine } => write_integer(stored(us, fine), out),
        Value::Date(days) => quoted(out, |out| write_date(days, out)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ValueType;

    #[test]
    fn literals_are_of_the_types_that_there_are() {
        let literal = |value| {
            let mut out = Vec::new();
            write_literal(value, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(literal(Value::Text(b"it's")), "'it''s'");
        assert_eq!(literal(Value::Decimal { units: 1230, scale: 2 }), "1.23e1");
        assert_eq!(literal(Value::Timestamp { us: -1, fine: false }), "-1");
        assert_eq!(literal(Value::Timestamp { us: -1, fine: true }), "-1");
        assert_eq!(
            literal(Value::Timestamp {
                us: 1_500_000,
                fine: false
            }),
            "1"
        );
        assert_eq!(literal(Value::Date(0)), "'1970-01-01'");
        assert_eq!(literal(Value::Bytes(b"Z")), "x'5a'");
        assert_eq!(literal(Value::Bool(true)), "1");
        assert_eq!(literal(Value::Null(ValueType::Text)), "NULL");
    }
}
