//! Types of values, by their neutral names, and what they make of drawn numbers.

use super::calendar::US_PER_DAY;
use super::{Number, Value};

/// How a value is encoded. Integers of all widths are one type: servers say how wide a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueType {
    Integer,
    Float4,
    Float8,
    /// With so many digits after the point.
    Decimal(u8),
    Bool,
    Date,
    /// Of whole seconds.
    Timestamp,
    /// With microseconds.
    TimestampFine,
    Text,
    Bytes,
    /// What numbers that a server has told come to: an integer or a fraction, as it happens.
    Number,
}

const ACCEPTED: &str = "int2, int4, int8, float4, float8, decimal(P,S), bool, date, timestamp, timestamp(6), text, \
                        char(N), varchar(N), json, uuid, bytes";
/// As many as an i64 holds.
const MOST_DECIMAL_DIGITS: u8 = 18;

impl ValueType {
    /// From a neutral name such as `float8`, `char(10)` or `decimal(10,2)`.
    pub fn parse(name: &str) -> Result<Self, String> {
        let (stem, size) = match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
            Some((stem, size)) => (stem, Some(size)),
            None => (name, None),
        };
        Ok(match (stem, size) {
            ("int2" | "int4" | "int8", None) => Self::Integer,
            ("float4", None) => Self::Float4,
            ("float8", None) => Self::Float8,
            ("decimal", Some(size)) => Self::Decimal(scale_of(size).ok_or_else(|| {
                format!("type {name:?}: accepted is decimal(P,S) with S <= P <= {MOST_DECIMAL_DIGITS}")
            })?),
            ("bool", None) => Self::Bool,
            ("date", None) => Self::Date,
            ("timestamp", None | Some("0")) => Self::Timestamp,
            ("timestamp", Some("6")) => Self::TimestampFine,
            ("text" | "char" | "varchar" | "json" | "uuid", _) => Self::Text,
            ("bytes", _) => Self::Bytes,
            _ => return Err(format!("unknown type {name:?}; accepted is {ACCEPTED}")),
        })
    }

    /// Whether its values are made of drawn numbers; else of texts and bytes.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Bytes)
    }

    /// Whether ranges of numbers are drawn from all numbers in them, not from the integers alone.
    pub fn is_continuous(self) -> bool {
        matches!(self, Self::Float4 | Self::Float8 | Self::Decimal(_))
    }

    /// What a drawn number stands for: of times and dates microseconds since 1970-01-01 UTC, rounded down; of `bool` 0 is
    /// false and all else true. Fractions are rounded where the type has none.
    #[inline(always)]
    pub fn value(self, number: Number) -> Value<'static> {
        match (self, number) {
            (Self::Integer | Self::Number, Number::Integer(value)) => Value::Integer(value),
            (Self::Number, Number::Float(value)) => Value::Float(value),
            (Self::Integer, Number::Float(value)) => Value::Integer(value.round() as i64),
            (Self::Float8, number) => Value::Float(number.as_float()),
            (Self::Float4, number) => Value::Float(rounded_for_float4(number.as_float())),
            (Self::Decimal(scale), number) => Value::Decimal {
                units: units_of(number, scale),
                scale,
            },
            (Self::Bool, number) => Value::Bool(number.as_float() != 0.0),
            (Self::Date, number) => Value::Date(whole(number).div_euclid(US_PER_DAY) as i32),
            (Self::Timestamp, number) => {
                let us = whole(number);
                Value::Timestamp {
                    us: us - us.rem_euclid(1_000_000),
                    fine: false,
                }
            }
            (Self::TimestampFine, number) => Value::Timestamp {
                us: whole(number),
                fine: true,
            },
            (Self::Text | Self::Bytes, _) => Value::Null(self),
        }
    }
}

fn scale_of(size: &str) -> Option<u8> {
    let (precision, scale) = size.split_once(',')?;
    let precision: u8 = precision.trim().parse().ok()?;
    let scale = scale.trim().parse().ok()?;
    (scale <= precision && (1..=MOST_DECIMAL_DIGITS).contains(&precision)).then_some(scale)
}

fn whole(number: Number) -> i64 {
    match number {
        Number::Integer(value) => value,
        Number::Float(value) => value.floor() as i64,
    }
}

fn units_of(number: Number, scale: u8) -> i64 {
    match number {
        Number::Integer(value) => value.saturating_mul(10i64.pow(scale.into())),
        Number::Float(value) => (value * 10f64.powi(scale.into())).round() as i64,
    }
}

/// Rounded to six significant digits: as many as every float4 keeps and every DBMS shows. DBMSs that have float8 alone then
/// hold the same number.
fn rounded_for_float4(value: f64) -> f64 {
    let mut text = Buffer::default();
    // Such a text is never longer than the buffer.
    let _ = std::fmt::write(&mut text, format_args!("{value:.5e}"));
    let text = std::str::from_utf8(&text.bytes[..text.len]).unwrap_or_default();
    text.parse().unwrap_or(value)
}

/// A text without allocation.
#[derive(Default)]
struct Buffer {
    bytes: [u8; 32],
    len: usize,
}

impl std::fmt::Write for Buffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        let place = self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_suites() {
        for (name, expected) in [
            ("int2", ValueType::Integer),
            ("decimal(10,2)", ValueType::Decimal(2)),
            ("decimal(18, 18)", ValueType::Decimal(18)),
            ("timestamp", ValueType::Timestamp),
            ("timestamp(0)", ValueType::Timestamp),
            ("timestamp(6)", ValueType::TimestampFine),
            ("varchar(40)", ValueType::Text),
            ("bytes(16)", ValueType::Bytes),
        ] {
            assert_eq!(ValueType::parse(name), Ok(expected), "{name}");
        }
        for name in [
            "int3",
            "decimal",
            "decimal(2)",
            "decimal(19,2)",
            "decimal(2,3)",
            "timestamp(3)",
            "float8(2)",
        ] {
            let error = ValueType::parse(name).unwrap_err();
            assert!(error.contains("accepted is"), "{error}");
        }
    }

    #[test]
    fn numbers_become_values() {
        use Number::{Float, Integer};
        let second = |us| Value::Timestamp { us, fine: false };
        let cents = |units| Value::Decimal { units, scale: 2 };
        for (kind, number, expected) in [
            (ValueType::Integer, Float(2.5), Value::Integer(3)),
            (ValueType::Float8, Integer(2), Value::Float(2.0)),
            (ValueType::Float4, Float(0.1f32.into()), Value::Float(0.1)),
            (ValueType::Float4, Float(-1234.5678), Value::Float(-1234.57)),
            (ValueType::Float4, Float(1e300), Value::Float(1e300)),
            (ValueType::Decimal(2), Float(-1.239), cents(-124)),
            (ValueType::Decimal(2), Integer(3), cents(300)),
            (ValueType::Bool, Integer(0), Value::Bool(false)),
            (ValueType::Bool, Float(0.5), Value::Bool(true)),
            (ValueType::Timestamp, Integer(1_999_999), second(1_000_000)),
            (ValueType::Timestamp, Integer(-1), second(-1_000_000)),
            (
                ValueType::TimestampFine,
                Integer(-1),
                Value::Timestamp { us: -1, fine: true },
            ),
            (ValueType::Date, Integer(-1), Value::Date(-1)),
            (ValueType::Date, Integer(US_PER_DAY), Value::Date(1)),
        ] {
            assert_eq!(kind.value(number), expected, "{kind:?} {number:?}");
        }
    }
}
