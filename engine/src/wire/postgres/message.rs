//! Messages of the PostgreSQL protocol 3.0: writing those of the client, reading fields of those of the server.

use super::value::read;
use crate::wire::{ErrorClass, WireError, WireResult, check_columns};
use crate::workload::FirstRow;

/// Appends one message whose body is written by `body`; the length is filled in afterwards.
pub fn write(kind: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    write_untyped(out, body);
}

/// As `write`, without the leading byte: the start-up message has none.
pub fn write_untyped(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - length_at) as u32;
    out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
}

/// Changes the length that the first message says it has.
pub fn stretch(messages: &mut [u8], change: impl FnOnce(usize) -> usize) {
    let length: &mut [u8; 4] = messages[1..]
        .first_chunk_mut()
        .expect("a message begins with kind and length");
    *length = (change(u32::from_be_bytes(*length) as usize) as u32).to_be_bytes();
}

pub fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(text);
    out.push(0);
}

pub fn parse(name: &str, sql: &[u8], out: &mut Vec<u8>) {
    write(b'P', out, |out| {
        write_text(name.as_bytes(), out);
        write_text(sql, out);
        out.extend_from_slice(&0u16.to_be_bytes());
    });
}

pub fn describe_statement(name: &str, out: &mut Vec<u8>) {
    write(b'D', out, |out| {
        out.push(b'S');
        write_text(name.as_bytes(), out);
    });
}

pub fn describe_portal(out: &mut Vec<u8>) {
    write(b'D', out, |out| {
        out.push(b'P');
        write_text(b"", out);
    });
}

/// Execute of the unnamed portal, all rows, followed by Sync.
pub fn execute_and_sync(out: &mut Vec<u8>) {
    write(b'E', out, |out| {
        write_text(b"", out);
        out.extend_from_slice(&0u32.to_be_bytes());
    });
    sync(out);
}

pub fn sync(out: &mut Vec<u8>) {
    write(b'S', out, |_| {});
}

pub fn query(sql: &[u8], out: &mut Vec<u8>) {
    write(b'Q', out, |out| write_text(sql, out));
}

/// Reads the fields of a message body one after another; a body that ends too early is an error, never a panic.
pub struct Body<'a>(pub &'a [u8]);

impl<'a> Body<'a> {
    pub fn take(&mut self, length: usize) -> WireResult<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn u8(&mut self) -> WireResult<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn u16(&mut self) -> WireResult<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn i32(&mut self) -> WireResult<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// A text up to its terminating zero.
    pub fn text(&mut self) -> WireResult<&'a [u8]> {
        let length = memchr::memchr(0, self.0).ok_or_else(cut_short)?;
        let text = &self.0[..length];
        self.0 = &self.0[length + 1..];
        Ok(text)
    }

    fn array<const N: usize>(&mut self) -> WireResult<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }
}

fn cut_short() -> WireError {
    violation("a message ends before its last field".to_owned())
}

/// The server does not follow the protocol; the connection is of no use any more.
pub fn violation(what: String) -> WireError {
    WireError {
        class: ErrorClass::LostConnection,
        message: format!("broken PostgreSQL protocol: {what}"),
    }
}

/// Values of a data row; `None` is NULL.
pub fn data_row<'a>(body: &'a [u8], values: &mut Vec<Option<&'a [u8]>>) -> WireResult<()> {
    let mut body = Body(body);
    values.clear();
    for _ in 0..body.u16()? {
        values.push(value(&mut body)?);
    }
    Ok(())
}

/// The value at the front of what is left of a data row; `None` is NULL.
fn value<'a>(body: &mut Body<'a>) -> WireResult<Option<&'a [u8]>> {
    Ok(match body.i32()? {
        -1 => None,
        length => Some(body.take(usize::try_from(length).map_err(|_| cut_short())?)?),
    })
}

/// The values of a data row that others need, for columns of these types.
pub fn first_row(body: &[u8], types: &[u32], row: &mut FirstRow) -> WireResult<()> {
    let mut body = Body(body);
    let columns = usize::from(body.u16()?);
    check_columns(columns, row.columns())?;
    for column in 0..row.columns() {
        let value = value(&mut body)?;
        row.put(column, read(value, types.get(column).copied().unwrap_or_default()));
    }
    Ok(())
}

/// Types of a statement's parameters, from a ParameterDescription.
pub fn parameter_types(body: &[u8]) -> WireResult<Vec<u32>> {
    let mut body = Body(body);
    let count = body.u16()?;
    (0..count).map(|_| Ok(body.i32()? as u32)).collect()
}

/// Names and types of a result's columns, from a RowDescription.
pub fn columns(body: &[u8]) -> WireResult<Vec<(String, u32)>> {
    let mut body = Body(body);
    let count = body.u16()?;
    let mut column = || {
        let name = String::from_utf8_lossy(body.text()?).into_owned();
        body.take(6)?;
        let type_oid = body.i32()? as u32;
        body.take(8)?;
        Ok((name, type_oid))
    };
    (0..count).map(|_| column()).collect()
}

/// Types of a result's columns, from a RowDescription.
pub fn column_types(body: &[u8], types: &mut Vec<u32>) -> WireResult<()> {
    let mut body = Body(body);
    types.clear();
    for _ in 0..body.u16()? {
        body.text()?;
        body.take(6)?;
        types.push(body.i32()? as u32);
        body.take(8)?;
    }
    Ok(())
}

/// The error in an ErrorResponse, in the server's own words.
pub fn error(body: &[u8]) -> WireError {
    let mut body = Body(body);
    let [mut severity, mut code, mut message, mut detail, mut hint] = [const { String::new() }; 5];
    while let (Ok(field), Ok(text)) = (body.u8(), body.text()) {
        let text = String::from_utf8_lossy(text).into_owned();
        match field {
            b'S' => severity = text,
            b'C' => code = text,
            b'M' => message = text,
            b'D' => detail = format!(" ({text})"),
            b'H' => hint = format!(" (hint: {text})"),
            _ => {}
        }
    }
    WireError {
        class: classify(&severity, &code),
        message: format!("{severity} {code}: {message}{detail}{hint}"),
    }
}

fn classify(severity: &str, code: &str) -> ErrorClass {
    match code {
        "40P01" => ErrorClass::Deadlock,
        "40001" => ErrorClass::Serialization,
        "23505" => ErrorClass::DuplicateKey,
        "55P03" => ErrorClass::LockTimeout,
        "57P01" | "57P02" | "57P03" => ErrorClass::LostConnection,
        _ if matches!(severity, "FATAL" | "PANIC") => ErrorClass::LostConnection,
        _ => ErrorClass::Other,
    }
}

/// Rows changed, from the tag of a CommandComplete: `UPDATE 3`, `INSERT 0 1`; none for `SELECT 5`, whose rows were counted.
#[inline]
pub fn affected(tag: &[u8]) -> u64 {
    let changes = [&b"INSERT "[..], b"UPDATE ", b"DELETE ", b"MERGE ", b"COPY "];
    if tag.first() == Some(&b'S') || !changes.iter().any(|change| tag.starts_with(change)) {
        return 0;
    }
    let digits = tag
        .iter()
        .rev()
        .skip_while(|&&byte| byte == 0)
        .take_while(|byte| byte.is_ascii_digit());
    let add = |(sum, unit): (u64, u64), &digit: &u8| {
        (
            sum.wrapping_add(unit.wrapping_mul(u64::from(digit - b'0'))),
            unit.wrapping_mul(10),
        )
    };
    digits.fold((0, 1), add).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affected_rows_are_in_the_tags_of_changes_only() {
        let cases = [
            ("SELECT 5\0", 0),
            ("INSERT 0 12\0", 12),
            ("UPDATE 0\0", 0),
            ("DELETE 1030\0", 1030),
            ("MERGE 2", 2),
            ("COPY 7\0", 7),
            ("UPDATE \0", 0),
            ("CREATE TABLE\0", 0),
            ("", 0),
        ];
        for (tag, expected) in cases {
            assert_eq!(affected(tag.as_bytes()), expected, "{tag:?}");
        }
    }

    #[test]
    fn errors_keep_the_servers_words_and_get_a_class() {
        let body = b"SERROR\0C40P01\0Mdeadlock detected\0Dwaits\0Hretry\0\0";
        let error = error(body);
        assert_eq!(error.class, ErrorClass::Deadlock);
        assert_eq!(error.message, "ERROR 40P01: deadlock detected (waits) (hint: retry)");
        for (severity, code, class) in [
            ("ERROR", "40001", ErrorClass::Serialization),
            ("ERROR", "23505", ErrorClass::DuplicateKey),
            ("ERROR", "55P03", ErrorClass::LockTimeout),
            ("FATAL", "57P01", ErrorClass::LostConnection),
            ("FATAL", "XX000", ErrorClass::LostConnection),
            ("ERROR", "42P01", ErrorClass::Other),
        ] {
            assert_eq!(classify(severity, code), class, "{severity} {code}");
        }
    }

    #[test]
    fn bodies_that_end_too_early_are_errors() {
        let mut values = Vec::new();
        let row = [0, 2, 0, 0, 0, 1, b'x', 255, 255, 255, 255];
        data_row(&row, &mut values).unwrap();
        assert_eq!(values, [Some(&b"x"[..]), None]);
        for length in 0..row.len() {
            let mut values = Vec::new();
            assert!(data_row(&row[..length], &mut values).is_err(), "{length}");
        }
        let mut values = Vec::new();
        assert!(data_row(&[0, 1, 255, 255, 255, 254], &mut values).is_err());
        assert!(columns(&[0, 1, b'a', 0, 1]).is_err());
        assert!(parameter_types(&[0, 9, 0, 0]).is_err());
        error(b"Sx");
    }
}
