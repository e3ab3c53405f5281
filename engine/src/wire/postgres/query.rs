//! Results of ad-hoc queries, all values as text.

use super::link::Link;
use super::message::{self, violation};
use crate::wire::{ErrorClass, TextTable, WireResult};

/// Reads the answer to a simple query: the last of its results, or the server's error, and the state of the transaction.
pub fn read(link: &mut Link) -> WireResult<(WireResult<TextTable>, u8)> {
    let mut table = TextTable::default();
    let mut current = None;
    let mut failure = None;
    loop {
        match link.message()? {
            (b'T', body) => current = Some(new_table(body)?),
            (b'D', body) => current.get_or_insert_default().rows.push(row(body)?),
            (b'C', body) => {
                table = current.take().unwrap_or_default();
                table.affected = message::affected(body);
            }
            (b'E', body) => {
                let error = message::error(body);
                if error.class == ErrorClass::LostConnection {
                    return Err(error);
                }
                failure = Some(error);
            }
            (b'G', _) => refuse_copy(link)?,
            (b'Z', body) => {
                let transaction = body.first().copied().unwrap_or(0);
                return Ok((failure.map_or(Ok(table), Err), transaction));
            }
            (b'I' | b'N' | b'S' | b'A' | b'H' | b'd' | b'c', _) => {}
            (other, _) => {
                return Err(violation(format!(
                    "message {:?} in answer to a query",
                    char::from(other)
                )));
            }
        }
    }
}

fn new_table(body: &[u8]) -> WireResult<TextTable> {
    Ok(TextTable {
        columns: message::columns(body)?.into_iter().map(|(name, _)| name).collect(),
        ..TextTable::default()
    })
}

fn row(body: &[u8]) -> WireResult<Vec<Option<String>>> {
    let mut values = Vec::new();
    message::data_row(body, &mut values)?;
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    Ok(values.into_iter().map(|value| value.map(text)).collect())
}

fn refuse_copy(link: &mut Link) -> WireResult<()> {
    let mut request = Vec::new();
    message::write(b'f', &mut request, |out| {
        message::write_text(b"there is nothing to copy from", out)
    });
    link.send(&request)
}
