//! Definitions of a result's columns, and values of the binary protocol as the text that the server would have sent.

use std::io::Write;

use super::packet::Body;
use crate::wire::WireResult;
use crate::workload::Value;

pub const TINY: u8 = 0x01;
const SHORT: u8 = 0x02;
const LONG: u8 = 0x03;
const FLOAT: u8 = 0x04;
pub const DOUBLE: u8 = 0x05;
const NULL: u8 = 0x06;
const TIMESTAMP: u8 = 0x07;
pub const LONG_LONG: u8 = 0x08;
const INT24: u8 = 0x09;
pub const DATE: u8 = 0x0a;
const TIME: u8 = 0x0b;
pub const DATETIME: u8 = 0x0c;
const YEAR: u8 = 0x0d;
pub const NEW_DECIMAL: u8 = 0xf6;
pub const BLOB: u8 = 0xfc;
pub const VAR_STRING: u8 = 0xfd;

const UNSIGNED: u16 = 0x20;
/// Number of decimals of a floating point column that has no fixed one.
const NOT_FIXED: u8 = 31;

#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    kind: u8,
    unsigned: bool,
    decimals: u8,
}

impl Column {
    /// Reads a column definition.
    pub fn read(definition: &[u8]) -> WireResult<Self> {
        Self::read_named(definition, text_of)
    }

    /// As `read`, without allocation: the name is left out.
    pub fn read_form(definition: &[u8]) -> WireResult<Self> {
        Self::read_named(definition, |_| String::new())
    }

    fn read_named(definition: &[u8], name_of: impl FnOnce(&[u8]) -> String) -> WireResult<Self> {
        let mut body = Body(definition);
        for _catalog_schema_table_and_original_table in 0..4 {
            body.bytes()?;
        }
        let name = name_of(body.bytes()?);
        let _original_name = body.bytes()?;
        let _length_of_the_rest = body.length()?;
        let _collation = body.u16()?;
        let _display_length = body.u32()?;
        let kind = body.u8()?;
        let flags = body.u16()?;
        let decimals = body.u8()?;
        Ok(Self {
            name,
            kind,
            unsigned: flags & UNSIGNED != 0,
            decimals,
        })
    }

    /// A value that was sent or written as text.
    pub fn value_of<'a>(&self, text: &'a [u8]) -> Value<'a> {
        let spelled = std::str::from_utf8(text).unwrap_or_default();
        let number = match self.kind {
            TINY | SHORT | LONG | INT24 | LONG_LONG | YEAR => spelled.parse().ok().map(Value::Integer),
            FLOAT | DOUBLE => spelled.parse().ok().map(Value::Float),
            _ => None,
        };
        number.unwrap_or(Value::Text(text))
    }

    /// Appends the next value of a binary row as text.
    pub fn write_value(&self, body: &mut Body<'_>, out: &mut Vec<u8>) -> WireResult<()> {
        match self.kind {
            TINY => self.write_integer(body.array::<1>()?, out),
            SHORT | YEAR => self.write_integer(body.array::<2>()?, out),
            LONG | INT24 => self.write_integer(body.array::<4>()?, out),
            LONG_LONG => self.write_integer(body.array::<8>()?, out),
            FLOAT => {
                let value = f32::from_le_bytes(body.array()?);
                self.write_float(f64::from(value), value.to_string(), format!("{value:e}"), out);
            }
            DOUBLE => {
                let value = f64::from_le_bytes(body.array()?);
                self.write_float(value, value.to_string(), format!("{value:e}"), out);
            }
            DATE => write_date(&mut Body(body.bytes()?), out)?,
            DATETIME | TIMESTAMP => self.write_moment(&mut Body(body.bytes()?), out)?,
            TIME => self.write_time(&mut Body(body.bytes()?), out)?,
            NULL => {}
            _ => out.extend_from_slice(body.bytes()?),
        }
        Ok(())
    }

    fn write_integer<const N: usize>(&self, bytes: [u8; N], out: &mut Vec<u8>) {
        let negative = !self.unsigned && bytes[N - 1] & 0x80 != 0;
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..N].copy_from_slice(&bytes);
        if self.unsigned {
            print(out, u64::from_le_bytes(wide));
        } else {
            print(out, i64::from_le_bytes(wide));
        }
    }

    fn write_float(&self, value: f64, plain: String, scientific: String, out: &mut Vec<u8>) {
        if self.decimals < NOT_FIXED {
            let _ = write!(out, "{value:.*}", usize::from(self.decimals));
            return;
        }
        let magnitude = value.abs();
        let is_plain = value == 0.0 || (1e-5..1e15).contains(&magnitude);
        out.extend_from_slice(if is_plain { plain } else { scientific }.as_bytes());
    }

    fn write_moment(&self, body: &mut Body<'_>, out: &mut Vec<u8>) -> WireResult<()> {
        write_date(body, out)?;
        let [hour, minute, second] = if body.0.is_empty() { [0; 3] } else { body.array()? };
        let _ = write!(out, " {hour:02}:{minute:02}:{second:02}");
        self.write_fraction(body, out)
    }

    fn write_time(&self, body: &mut Body<'_>, out: &mut Vec<u8>) -> WireResult<()> {
        let (mut days, mut clock) = (0, [0; 3]);
        if !body.0.is_empty() {
            if body.u8()? != 0 {
                out.push(b'-');
            }
            days = body.u32()?;
            clock = body.array()?;
        }
        let hours = u64::from(days) * 24 + u64::from(clock[0]);
        let _ = write!(out, "{hours:02}:{:02}:{:02}", clock[1], clock[2]);
        self.write_fraction(body, out)
    }

    /// As many digits of the second as the column has.
    fn write_fraction(&self, body: &mut Body<'_>, out: &mut Vec<u8>) -> WireResult<()> {
        let microseconds = if body.0.is_empty() { 0 } else { body.u32()? };
        let digits = usize::from(self.decimals);
        if (1..=6).contains(&digits) {
            let all = format!("{microseconds:06}");
            out.push(b'.');
            out.extend_from_slice(&all.as_bytes()[..digits]);
        }
        Ok(())
    }
}

fn write_date(body: &mut Body<'_>, out: &mut Vec<u8>) -> WireResult<()> {
    let (mut year, mut rest) = (0, [0; 2]);
    if !body.0.is_empty() {
        year = body.u16()?;
        rest = body.array()?;
    }
    let _ = write!(out, "{year:04}-{:02}-{:02}", rest[0], rest[1]);
    Ok(())
}

fn print(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

/// A text of the server. What is no UTF-8 is in the character set of the connection, latin1.
pub fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u8, unsigned: bool, decimals: u8) -> Column {
        Column {
            name: "a".to_owned(),
            kind,
            unsigned,
            decimals,
        }
    }

    fn text(column: &Column, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        let mut body = Body(bytes);
        column.write_value(&mut body, &mut out).unwrap();
        assert!(body.0.is_empty(), "{column:?} leaves {:?}", body.0);
        for cut in 0..bytes.len() {
            let shorter = column.write_value(&mut Body(&bytes[..cut]), &mut Vec::new());
            assert!(shorter.is_err(), "{column:?} cut to {cut}");
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_are_decimal() {
        for (kind, unsigned, bytes, expected) in [
            (TINY, false, &[0xff][..], "-1"),
            (TINY, true, &[0xff], "255"),
            (SHORT, false, &[0, 0x80], "-32768"),
            (YEAR, true, &[0xe8, 0x07], "2024"),
            (LONG, false, &[1, 0, 0, 0], "1"),
            (INT24, true, &[0xff, 0xff, 0xff, 0], "16777215"),
            (LONG_LONG, false, &[0xff; 8], "-1"),
            (LONG_LONG, true, &[0xff; 8], "18446744073709551615"),
        ] {
            assert_eq!(text(&column(kind, unsigned, 0), bytes), expected);
        }
    }

    #[test]
    fn floats_are_as_short_as_they_can_be() {
        for (value, expected) in [
            (0.1, "0.1"),
            (-2.0, "-2"),
            (1e20, "1e20"),
            (0.0, "0"),
            (1.5e-7, "1.5e-7"),
        ] {
            assert_eq!(
                text(&column(DOUBLE, false, NOT_FIXED), &f64::to_le_bytes(value)),
                expected
            );
        }
        assert_eq!(text(&column(FLOAT, false, NOT_FIXED), &0.1f32.to_le_bytes()), "0.1");
        assert_eq!(text(&column(DOUBLE, false, 2), &1.5f64.to_le_bytes()), "1.50");
    }

    #[test]
    fn moments_are_written_out() {
        let date = [4, 0xe8, 0x07, 2, 29];
        assert_eq!(text(&column(DATE, false, 0), &date), "2024-02-29");
        assert_eq!(text(&column(DATE, false, 0), &[0]), "0000-00-00");
        assert_eq!(text(&column(DATETIME, false, 0), &[0]), "0000-00-00 00:00:00");
        assert_eq!(text(&column(TIMESTAMP, false, 0), &date), "2024-02-29 00:00:00");
        let fine = [11, 0xe8, 0x07, 2, 29, 23, 5, 6, 0x40, 0xe2, 0x01, 0];
        assert_eq!(text(&column(DATETIME, false, 6), &fine), "2024-02-29 23:05:06.123456");
        assert_eq!(text(&column(DATETIME, false, 3), &fine), "2024-02-29 23:05:06.123");
        assert_eq!(text(&column(TIME, false, 0), &[0]), "00:00:00");
        assert_eq!(text(&column(TIME, false, 0), &[8, 1, 2, 0, 0, 0, 3, 4, 5]), "-51:04:05");
    }

    #[test]
    fn everything_else_is_text_already() {
        assert_eq!(text(&column(NEW_DECIMAL, false, 2), b"\x0512.50"), "12.50");
        assert_eq!(text(&column(VAR_STRING, false, 0), b"\x02ab"), "ab");
        assert_eq!(text(&column(NULL, false, 0), b""), "");
    }

    #[test]
    fn definitions_are_read_or_refused() {
        let mut definition =
            b"\x03def\x01d\x01t\x01t\x03sum\x00\x0c\x3f\x00\x14\x00\x00\x00\xf6\x80\x00\x02\x00\x00".to_vec();
        let column = Column::read(&definition).unwrap();
        assert_eq!((column.name.as_str(), column.kind, column.decimals), ("sum", 0xf6, 2));
        definition.truncate(definition.len() - 2);
        while definition.pop().is_some() {
            assert!(Column::read(&definition).is_err());
        }
    }

    #[test]
    fn texts_of_the_server_are_utf8_or_latin1() {
        assert_eq!(text_of("ü".as_bytes()), "ü");
        assert_eq!(text_of(b"\xfc"), "ü");
    }
}
