//! Values as wires send them: their types, how drawn numbers become them, and how they are written as text.

mod calendar;
mod kind;
mod written;

pub use calendar::{Moment, days_from_civil};
pub use kind::ValueType;
pub use written::{write_date, write_decimal, write_float, write_hex, write_plain_float, write_timestamp};

/// A parameter's or a column's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Integer(i64),
    Float(f64),
    /// `units` × 10^-`scale`.
    Decimal {
        units: i64,
        scale: u8,
    },
    Bool(bool),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01 00:00 UTC; whole seconds unless `fine`.
    Timestamp {
        us: i64,
        fine: bool,
    },
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    /// No value of this type.
    Null(ValueType),
}

impl Value<'_> {
    /// The same value where it is no text and no bytes.
    #[inline]
    pub fn plain(self) -> Option<Value<'static>> {
        Some(match self {
            Self::Integer(value) => Value::Integer(value),
            Self::Float(value) => Value::Float(value),
            Self::Decimal { units, scale } => Value::Decimal { units, scale },
            Self::Bool(value) => Value::Bool(value),
            Self::Date(days) => Value::Date(days),
            Self::Timestamp { us, fine } => Value::Timestamp { us, fine },
            Self::Null(value_type) => Value::Null(value_type),
            Self::Text(_) | Self::Bytes(_) => return None,
        })
    }

    /// The number that it was made of, or could have been: of NULL, texts and bytes none.
    #[inline]
    pub fn number(self) -> Option<Number> {
        Some(match self {
            Self::Integer(value) => Number::Integer(value),
            Self::Float(value) => Number::Float(value),
            Self::Decimal { units, scale } => Number::Float(units as f64 / 10f64.powi(scale.into())),
            Self::Bool(value) => Number::Integer(value.into()),
            Self::Date(days) => Number::Integer(i64::from(days) * calendar::US_PER_DAY),
            Self::Timestamp { us, .. } => Number::Integer(us),
            Self::Text(_) | Self::Bytes(_) | Self::Null(_) => return None,
        })
    }
}

impl Value<'_> {
    /// As `number`, and of a text the number that it spells.
    pub fn spelled_number(self) -> Option<Number> {
        let Self::Text(text) = self else { return self.number() };
        let text = std::str::from_utf8(text).ok()?.trim();
        let integer = text.parse().ok().map(Number::Integer);
        integer.or_else(|| {
            text.parse()
                .ok()
                .filter(|value: &f64| value.is_finite())
                .map(Number::Float)
        })
    }
}

/// What generators of numbers draw, before a type makes a value of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    /// Integers wrap around.
    #[inline]
    pub fn plus(self, add: i64) -> Self {
        match self {
            Self::Integer(value) => Self::Integer(value.wrapping_add(add)),
            Self::Float(value) => Self::Float(value + add as f64),
        }
    }

    pub fn as_float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}
