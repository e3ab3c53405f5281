//! Fields of a line, and the values that they stand for.

use std::io::BufRead;
use std::ops::Range;

use crate::workload::values::{Value, ValueType};

/// One line taken apart; texts are as the user's file has them.
#[derive(Debug, Default)]
pub struct Line {
    text: Vec<u8>,
    fields: Vec<Option<Range<usize>>>,
}

impl Line {
    /// The next line of `source`; false at its end.
    pub fn read(&mut self, source: &mut impl BufRead) -> Result<bool, String> {
        self.text.clear();
        let length = source
            .read_until(b'\n', &mut self.text)
            .map_err(|error| error.to_string())?;
        if length == 0 {
            return Ok(false);
        }
        if self.text.pop() != Some(b'\n') {
            return Err("the last line is not whole".into());
        }
        self.split();
        Ok(true)
    }

    fn split(&mut self) {
        self.fields.clear();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\t', &self.text).chain([self.text.len()]) {
            let is_null = &self.text[start..end] == br"\N";
            self.fields.push((!is_null).then_some(start..end));
            start = end + 1;
        }
        for field in self.fields.iter_mut().flatten() {
            let end = unescape(&mut self.text[field.clone()]);
            field.end = field.start + end;
        }
    }

    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// `None` is NULL; panics when there is no such field.
    pub fn field(&self, index: usize) -> Option<&[u8]> {
        self.fields[index].clone().map(|range| &self.text[range])
    }
}

/// Resolves backslashes in place; gives the new length.
fn unescape(text: &mut [u8]) -> usize {
    let Some(first) = memchr::memchr(b'\\', text) else {
        return text.len();
    };
    let (mut from, mut to) = (first, first);
    while from < text.len() {
        let mut byte = text[from];
        if byte == b'\\' && from + 1 < text.len() {
            from += 1;
            byte = match text[from] {
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                other => other,
            };
        }
        text[to] = byte;
        from += 1;
        to += 1;
    }
    to
}

/// The value of a field that is no text and no bytes.
pub fn plain(field: &[u8], value_type: ValueType) -> Result<Value<'static>, String> {
    let integer = || parse::<i64>(field, value_type);
    Ok(match value_type {
        ValueType::Integer => Value::Integer(integer()?),
        ValueType::Float4 | ValueType::Float8 => Value::Float(parse(field, value_type)?),
        ValueType::Decimal(scale) => Value::Decimal {
            units: integer()?,
            scale,
        },
        ValueType::Bool => Value::Bool(integer()? != 0),
        ValueType::Date => Value::Date(parse(field, value_type)?),
        ValueType::Timestamp => Value::Timestamp {
            us: integer()?,
            fine: false,
        },
        ValueType::TimestampFine => Value::Timestamp {
            us: integer()?,
            fine: true,
        },
        ValueType::Text | ValueType::Bytes | ValueType::Number => {
            return Err(format!("{value_type:?} is no plain value"));
        }
    })
}

fn parse<T: std::str::FromStr>(field: &[u8], value_type: ValueType) -> Result<T, String> {
    let text = std::str::from_utf8(field).unwrap_or_default();
    let no_value = |_| format!("{:?} is no {value_type:?}", String::from_utf8_lossy(field));
    text.parse().map_err(no_value)
}

/// Appends the bytes that hexadecimal digits stand for.
pub fn write_bytes(digits: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let wrong = || format!("{:?} are no hexadecimal digits", String::from_utf8_lossy(digits));
    if !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    for pair in digits.chunks_exact(2) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16).ok_or_else(wrong);
        out.push((digit(0)? * 16 + digit(1)?) as u8);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let mut source = &b"1\ta\\\\b\\tc\\nd\\r\t\\N\t\t\\\\N\n\n"[..];
        let mut line = Line::default();
        assert_eq!(line.read(&mut source), Ok(true));
        let fields: Vec<_> = (0..line.len()).map(|index| line.field(index)).collect();
        let expected: [Option<&[u8]>; 5] = [Some(b"1"), Some(b"a\\b\tc\nd\r"), None, Some(b""), Some(br"\N")];
        assert_eq!(fields, expected);
        assert_eq!(line.read(&mut source), Ok(true));
        assert_eq!((line.len(), line.field(0)), (1, Some(&b""[..])));
        assert_eq!(line.read(&mut source), Ok(false));
        assert!(line.read(&mut &b"1\t2"[..]).unwrap_err().contains("not whole"));
    }

    #[test]
    fn fields_are_values_of_their_types() {
        let us = |us, fine| Ok(Value::Timestamp { us, fine });
        for (text, kind, expected) in [
            ("-7", ValueType::Integer, Ok(Value::Integer(-7))),
            ("1e+20", ValueType::Float8, Ok(Value::Float(1e20))),
            (
                "-005",
                ValueType::Decimal(2),
                Ok(Value::Decimal { units: -5, scale: 2 }),
            ),
            ("1", ValueType::Bool, Ok(Value::Bool(true))),
            ("19724", ValueType::Date, Ok(Value::Date(19_724))),
            ("1000000", ValueType::Timestamp, us(1_000_000, false)),
            ("-1", ValueType::TimestampFine, us(-1, true)),
            ("x", ValueType::Integer, Err("\"x\" is no Integer".into())),
        ] {
            assert_eq!(plain(text.as_bytes(), kind), expected, "{text}");
        }
        let mut bytes = Vec::new();
        write_bytes(b"00fF", &mut bytes).unwrap();
        assert_eq!(bytes, [0, 255]);
        assert!(write_bytes(b"0", &mut bytes).is_err() && write_bytes(b"0g", &mut bytes).is_err());
    }
}
