//! Filling a table by COPY … FROM STDIN.

use std::io::Read;

use super::link::Link;
use super::message;
use super::value::write_plain;
use crate::wire::{ErrorClass, WireError, WireResult};
use crate::workload::text::write_integer;
use crate::workload::{Params, TableRows, TableSpec, Value};

/// Size of one CopyData message.
const CHUNK_BYTES: usize = 256 << 10;
/// Kind and length in front of the data.
const HEADER_BYTES: usize = 5;

/// Sends all rows. An error of the server ends it early; that it took fewer rows is one.
pub fn load(link: &mut Link, table: &TableSpec, seed: u64, progress: &mut dyn FnMut(u64)) -> WireResult<()> {
    let mut rows = TableRows::new(table, seed).map_err(other)?;
    start(
        link,
        format!("COPY {} ({}) FROM STDIN", table.name, table.column_list()).as_bytes(),
    )?;
    let mut params = Params::new();
    let mut chunk = Vec::with_capacity(CHUNK_BYTES + (64 << 10));
    chunk.resize(HEADER_BYTES, 0);
    for row in 0..table.rows {
        rows.fill(row, &mut params).map_err(other)?;
        write_row(&params, &mut chunk);
        if chunk.len() >= CHUNK_BYTES {
            send_chunk(link, &mut chunk)?;
            progress(row + 1);
            if is_refused(link)? {
                break;
            }
        }
    }
    send_chunk(link, &mut chunk)?;
    table.check_loaded(finish(link)?).map_err(other)?;
    progress(table.rows);
    Ok(())
}

/// Runs `sql`, a COPY … FROM STDIN, and sends `data` as it is. An error of the server ends it early.
pub fn copy_in(link: &mut Link, sql: &[u8], data: &mut dyn Read) -> WireResult<()> {
    start(link, sql)?;
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    loop {
        chunk.resize(HEADER_BYTES, 0);
        let read = data.take((CHUNK_BYTES - HEADER_BYTES) as u64).read_to_end(&mut chunk);
        if let Err(error) = read {
            give_up(link)?;
            return Err(other(format!("the data of COPY cannot be read: {error}")));
        }
        if chunk.len() == HEADER_BYTES {
            break;
        }
        send_chunk(link, &mut chunk)?;
        if is_refused(link)? {
            break;
        }
    }
    finish(link).map(drop)
}

/// Has the server forget a COPY.
fn give_up(link: &mut Link) -> WireResult<()> {
    let mut request = Vec::new();
    message::write(b'f', &mut request, |out| message::write_text(b"it was given up", out));
    link.send(&request)?;
    let _ = link.answer();
    Ok(())
}

/// Whether the server has said anything that ends the COPY. Notices may come at any time, and are read past.
fn is_refused(link: &mut Link) -> WireResult<bool> {
    while link.has_answer() {
        if !matches!(link.kind()?, b'N' | b'S' | b'A') {
            return Ok(true);
        }
        link.message()?;
    }
    Ok(false)
}

fn start(link: &mut Link, sql: &[u8]) -> WireResult<()> {
    let mut request = Vec::new();
    message::query(sql, &mut request);
    link.send(&request)?;
    loop {
        match link.message()? {
            (b'G', _) => return Ok(()),
            (b'E', body) => {
                let error = message::error(body);
                let _ = link.answer();
                return Err(error);
            }
            (b'N' | b'S' | b'A', _) => {}
            (other, _) => {
                return Err(message::violation(format!(
                    "message {:?} in answer to COPY",
                    char::from(other)
                )));
            }
        }
    }
}

/// Sends the rows of `chunk`, whose first bytes are kept for the header, and empties it.
fn send_chunk(link: &mut Link, chunk: &mut Vec<u8>) -> WireResult<()> {
    if chunk.len() > HEADER_BYTES {
        chunk[0] = b'd';
        let length = (chunk.len() - 1) as u32;
        chunk[1..HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
        link.send(chunk)?;
        chunk.truncate(HEADER_BYTES);
    }
    Ok(())
}

/// Ends the COPY; gives how many rows the server took.
fn finish(link: &mut Link) -> WireResult<u64> {
    let mut request = Vec::new();
    message::write(b'c', &mut request, |_| {});
    link.send(&request)?;
    let (result, answer) = link.answer();
    result.map(|()| answer.affected)
}

fn other(message: String) -> WireError {
    WireError {
        class: ErrorClass::Other,
        message,
    }
}

fn write_row(params: &Params, out: &mut Vec<u8>) {
    for (column, value) in params.iter().enumerate() {
        if column > 0 {
            out.push(b'\t');
        }
        match value {
            Value::Integer(value) => write_integer(value, out),
            Value::Text(text) => write_escaped(text, out),
            Value::Null(_) => out.extend_from_slice(br"\N"),
            Value::Bytes(_) => {
                // The backslash in front of the digits.
                out.push(b'\\');
                write_plain(value, out);
            }
            value => write_plain(value, out),
        }
    }
    out.push(b'\n');
}

/// COPY's text format: backslash, tab and line ends are escaped.
#[inline]
fn write_escaped(text: &[u8], out: &mut Vec<u8>) {
    let escape = |byte: u8| match byte {
        b'\\' => Some(b'\\'),
        b'\t' => Some(b't'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        _ => None,
    };
    if !text.iter().any(|&byte| escape(byte).is_some()) {
        out.extend_from_slice(text);
        return;
    }
    for &byte in text {
        match escape(byte) {
            Some(mark) => out.extend_from_slice(&[b'\\', mark]),
            None => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ValueType;

    #[test]
    fn texts_are_escaped_for_copy() {
        let mut out = Vec::new();
        write_escaped(b"a\\b\tc\nd\r", &mut out);
        assert_eq!(out, br"a\\b\tc\nd\r");
    }

    #[test]
    fn rows_are_lines() {
        let mut params = Params::new();
        params.reset(3);
        params.set(0, Value::Float(0.5));
        params.set(1, Value::Null(ValueType::Text));
        params.set(2, Value::Timestamp { us: 0, fine: false });
        let mut out = Vec::new();
        write_row(&params, &mut out);
        assert_eq!(out, b"5e-1\t\\N\t1970-01-01 00:00:00+00\n");
    }
}
