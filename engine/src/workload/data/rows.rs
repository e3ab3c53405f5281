//! Rows of a table from a staged file, one after another.

use std::fs::File;
use std::io::{BufReader, Read};

use super::field::{Line, plain, write_bytes};
use super::{open, path_of};
use crate::workload::params::Params;
use crate::workload::values::{Value, ValueType};

/// Reads the rows of one file. Which fields are taken, and as what, is said before the first is read.
#[derive(Debug)]
pub struct RowReader {
    name: String,
    source: BufReader<File>,
    line: Line,
    /// Number of the row that is read next.
    next: u64,
    rows: u64,
    bytes: u64,
}

impl RowReader {
    /// Fails where the file has fewer than `rows` rows.
    pub fn open(name: &str, rows: u64) -> Result<Self, String> {
        let (found, bytes) = size_of(name)?;
        if found < rows {
            return Err(format!(
                "{} has {found} rows, and {rows} are asked for",
                path_of(name).display()
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            source: open(name)?,
            line: Line::default(),
            next: 0,
            rows: found,
            bytes,
        })
    }

    /// Bytes of a usual row.
    pub fn row_bytes(&self) -> usize {
        (self.bytes / self.rows.max(1)) as usize
    }

    /// Puts the values of row `row` (from 0) into `values`: field by field, of these types.
    pub fn fill(&mut self, row: u64, types: &[ValueType], values: &mut Params) -> Result<(), String> {
        if row + 1 == self.next {
            return Ok(());
        }
        self.go_to(row)
            .and_then(|()| self.parse(types, values))
            .map_err(|message| format!("{}, row {}: {message}", path_of(&self.name).display(), row + 1))
    }

    fn go_to(&mut self, row: u64) -> Result<(), String> {
        if row < self.next {
            self.source = open(&self.name)?;
            self.next = 0;
        }
        while self.next <= row {
            if !self.line.read(&mut self.source)? {
                return Err("the file ends before".into());
            }
            self.next += 1;
        }
        Ok(())
    }

    fn parse(&self, types: &[ValueType], values: &mut Params) -> Result<(), String> {
        if self.line.len() != types.len() {
            return Err(format!(
                "there are {} fields instead of {}",
                self.line.len(),
                types.len()
            ));
        }
        values.reset(types.len());
        for (index, &value_type) in types.iter().enumerate() {
            match (self.line.field(index), value_type) {
                (None, _) => values.set(index, Value::Null(value_type)),
                (Some(text), ValueType::Text) => values.set_text(index, |out| out.extend_from_slice(text)),
                (Some(digits), ValueType::Bytes) => {
                    let mut written = Ok(());
                    values.set_bytes(index, |out| written = write_bytes(digits, out));
                    written?;
                }
                (Some(field), _) => values.set(index, plain(field, value_type)?),
            }
        }
        Ok(())
    }
}

/// Lines and bytes of a file.
fn size_of(name: &str) -> Result<(u64, u64), String> {
    let mut source = open(name)?.into_inner();
    let mut buffer = vec![0; super::BUFFER_BYTES];
    let (mut lines, mut bytes) = (0, 0);
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok((lines, bytes)),
            Ok(length) => {
                lines += memchr::memchr_iter(b'\n', &buffer[..length]).count() as u64;
                bytes += length as u64;
            }
            Err(error) => return Err(format!("{} cannot be read: {error}", path_of(name).display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::data::test_file;

    const TYPES: [ValueType; 3] = [ValueType::Integer, ValueType::Text, ValueType::Bytes];

    #[test]
    fn rows_are_read_in_any_order() {
        let file = test_file("1\ta\\tb\t00ff\n2\t\\N\t\\N\n3\tc\t\n");
        let mut reader = RowReader::open(file.name(), 3).unwrap();
        let mut values = Params::new();
        for (row, expected) in [
            (0, [Value::Integer(1), Value::Text(b"a\tb"), Value::Bytes(&[0, 255])]),
            (
                1,
                [
                    Value::Integer(2),
                    Value::Null(ValueType::Text),
                    Value::Null(ValueType::Bytes),
                ],
            ),
            (
                1,
                [
                    Value::Integer(2),
                    Value::Null(ValueType::Text),
                    Value::Null(ValueType::Bytes),
                ],
            ),
            (0, [Value::Integer(1), Value::Text(b"a\tb"), Value::Bytes(&[0, 255])]),
            (2, [Value::Integer(3), Value::Text(b"c"), Value::Bytes(b"")]),
        ] {
            reader.fill(row, &TYPES, &mut values).unwrap();
            assert!(values.iter().eq(expected), "row {row}: {values:?}");
        }
        assert_eq!(reader.row_bytes(), 8);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_row() {
        let file = test_file("1\ta\t00\nx\ta\t00\n1\ta\n");
        let mut reader = RowReader::open(file.name(), 3).unwrap();
        let mut error = |row| reader.fill(row, &TYPES, &mut Params::new()).unwrap_err();
        assert!(error(1).ends_with(", row 2: \"x\" is no Integer"));
        assert!(error(2).ends_with(", row 3: there are 2 fields instead of 3"));
        assert!(
            RowReader::open(file.name(), 4)
                .unwrap_err()
                .ends_with("has 3 rows, and 4 are asked for")
        );
        assert!(RowReader::open("/nowhere/x", 1).unwrap_err().contains("cannot be read"));
    }
}
