//! Who receives rows: check mode, with values as text, and ad-hoc queries.

use std::ops::Range;

use super::answer::Receiver;
use super::column::{Column, text_of};
use super::packet::Body;
use crate::wire::{RowSink, TextTable, WireError, WireResult, check_columns};
use crate::workload::{FirstRow, Value, ValueType};

/// How the server sends values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// To a query.
    Text,
    /// To the execution of a prepared statement.
    Binary,
}

/// Hands rows to a sink.
pub struct Rows<'a> {
    sink: &'a mut dyn RowSink,
    format: Format,
    columns: &'a mut Vec<Column>,
    /// The values of one binary row, and where each of them is.
    texts: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
}

impl<'a> Rows<'a> {
    /// `columns`: of the prepared statement, for results that do not tell them; they are kept as they are told.
    pub fn new(format: Format, columns: &'a mut Vec<Column>, sink: &'a mut dyn RowSink) -> Self {
        Self {
            sink,
            format,
            columns,
            texts: Vec::new(),
            places: Vec::new(),
        }
    }

    fn text_row(&mut self, row: &[u8]) -> WireResult<()> {
        let mut body = Body(row);
        let values: Vec<_> = self.columns.iter().map(|_| body.value()).collect::<WireResult<_>>()?;
        self.sink.row(&values);
        Ok(())
    }

    fn binary_row(&mut self, row: &[u8]) -> WireResult<()> {
        write_binary(row, self.columns, &mut self.texts, &mut self.places)?;
        let text = |place: &Option<Range<usize>>| place.clone().map(|place| &self.texts[place]);
        let values: Vec<_> = self.places.iter().map(text).collect();
        self.sink.row(&values);
        Ok(())
    }
}

impl Receiver for Rows<'_> {
    const COLUMNS: bool = true;
    const ROWS: bool = true;

    fn begin(&mut self, told: bool) {
        if told {
            self.columns.clear();
        }
    }

    fn column(&mut self, definition: &[u8]) -> WireResult<()> {
        self.columns.push(Column::read(definition)?);
        Ok(())
    }

    fn row(&mut self, row: &[u8]) -> WireResult<()> {
        match self.format {
            Format::Text => self.text_row(row),
            Format::Binary => self.binary_row(row),
        }
    }
}

/// Writes the values of a binary row as text, and tells where each of them is.
fn write_binary(
    row: &[u8],
    columns: &[Column],
    texts: &mut Vec<u8>,
    places: &mut Vec<Option<Range<usize>>>,
) -> WireResult<()> {
    // The bitmap of NULLs has two bits in front that mean nothing.
    const UNUSED_BITS: usize = 2;
    let mut body = Body(row);
    body.u8()?;
    let nulls = body.take((columns.len() + UNUSED_BITS).div_ceil(8))?;
    texts.clear();
    places.clear();
    for (index, column) in columns.iter().enumerate() {
        let bit = index + UNUSED_BITS;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            places.push(None);
            continue;
        }
        let start = texts.len();
        column.write_value(&mut body, texts)?;
        places.push(Some(start..texts.len()));
    }
    Ok(())
}

/// Where values are written as text before they are kept; used again and again.
#[derive(Default)]
pub struct Buffers {
    texts: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
}

/// Gives others the values of the first row, and all rows to `rows` where there is one.
pub struct Keeping<'a, 'row, 'sink> {
    pub format: Format,
    pub columns: &'a mut Vec<Column>,
    pub buffers: &'a mut Buffers,
    pub row: &'a mut FirstRow<'row>,
    pub sink: Option<&'sink mut (dyn RowSink + 'sink)>,
    pub is_first: bool,
    /// The result has too few columns; the rest of the answer is read all the same.
    pub failure: Option<WireError>,
}

impl Keeping<'_, '_, '_> {
    fn keep(&mut self, row: &[u8]) -> WireResult<()> {
        if let Err(error) = check_columns(self.columns.len(), self.row.columns()) {
            self.failure = Some(error);
            return Ok(());
        }
        let mut body = Body(row);
        if self.format == Format::Binary {
            write_binary(row, self.columns, &mut self.buffers.texts, &mut self.buffers.places)?;
        }
        for (index, column) in self.columns.iter().enumerate().take(self.row.columns()) {
            let text = match self.format {
                Format::Text => body.value()?,
                Format::Binary => self.buffers.places[index]
                    .clone()
                    .map(|place| &self.buffers.texts[place]),
            };
            let value = text.map_or(Value::Null(ValueType::Text), |text| column.value_of(text));
            self.row.put(index, value);
        }
        Ok(())
    }
}

impl Receiver for Keeping<'_, '_, '_> {
    const COLUMNS: bool = true;
    const ROWS: bool = true;

    fn begin(&mut self, told: bool) {
        if told {
            self.columns.clear();
        }
    }

    fn column(&mut self, definition: &[u8]) -> WireResult<()> {
        self.columns.push(Column::read_form(definition)?);
        Ok(())
    }

    fn row(&mut self, row: &[u8]) -> WireResult<()> {
        if std::mem::take(&mut self.is_first) {
            self.keep(row)?;
        }
        match &mut self.sink {
            Some(sink) => Rows::new(self.format, self.columns, *sink).row(row),
            None => Ok(()),
        }
    }
}

/// Keeps the last of the results of a query.
#[derive(Default)]
pub struct Table {
    table: TextTable,
    /// Whether the next result takes its place.
    ended: bool,
}

impl Table {
    pub fn into_inner(self) -> TextTable {
        self.table
    }

    fn renew(&mut self) {
        if std::mem::take(&mut self.ended) {
            self.table = TextTable::default();
        }
    }
}

impl Receiver for Table {
    const COLUMNS: bool = true;
    const ROWS: bool = true;

    fn begin(&mut self, _told: bool) {
        self.renew();
    }

    fn column(&mut self, definition: &[u8]) -> WireResult<()> {
        self.table.columns.push(Column::read(definition)?.name);
        Ok(())
    }

    fn row(&mut self, row: &[u8]) -> WireResult<()> {
        let mut body = Body(row);
        let columns = self.table.columns.iter();
        let values = columns
            .map(|_| Ok(body.value()?.map(text_of)))
            .collect::<WireResult<_>>()?;
        self.table.rows.push(values);
        Ok(())
    }

    fn end(&mut self, affected: u64) {
        self.renew();
        self.table.affected = affected;
        self.ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Collected(Vec<String>);

    impl RowSink for Collected {
        fn row(&mut self, values: &[Option<&[u8]>]) {
            let text = |value: &Option<&[u8]>| value.map_or("NULL".to_owned(), text_of);
            self.0.push(values.iter().map(text).collect::<Vec<_>>().join("|"));
        }
    }

    fn definition(name: &str, kind: u8) -> Vec<u8> {
        let mut out = b"\x03def\x00\x00\x00".to_vec();
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\x00\x0c\x08\x00\x0b\x00\x00\x00");
        out.push(kind);
        out.extend_from_slice(&[0; 5]);
        out
    }

    #[test]
    fn binary_and_text_rows_come_out_alike() {
        let mut sink = Collected::default();
        for (format, row) in [
            (Format::Text, &b"\x02-1\xfb\x02ab"[..]),
            (Format::Binary, b"\x00\x08\xff\xff\xff\xff\x02ab"),
        ] {
            let mut columns = Vec::new();
            let mut rows = Rows::new(format, &mut columns, &mut sink);
            rows.begin(true);
            for (name, kind) in [("a", 3), ("b", 8), ("c", 253)] {
                rows.column(&definition(name, kind)).unwrap();
            }
            rows.row(row).unwrap();
            for cut in 0..row.len() {
                assert!(rows.row(&row[..cut]).is_err(), "{format:?} cut to {cut}");
            }
        }
        assert_eq!(sink.0, ["-1|NULL|ab"; 2]);
    }

    #[test]
    fn columns_that_are_not_told_are_those_of_the_statement() {
        let mut sink = Collected::default();
        let mut columns = vec![Column::read(&definition("a", 3)).unwrap()];
        let mut rows = Rows::new(Format::Binary, &mut columns, &mut sink);
        rows.begin(false);
        rows.row(b"\x00\x00\x07\x00\x00\x00").unwrap();
        rows.begin(true);
        rows.column(&definition("b", 253)).unwrap();
        rows.row(b"\x00\x00\x02ab").unwrap();
        assert_eq!(sink.0, ["7", "ab"]);
    }

    #[test]
    fn the_last_result_of_a_query_is_kept() {
        let mut table = Table::default();
        table.begin(true);
        table.column(&definition("a", 3)).unwrap();
        table.row(b"\x011").unwrap();
        table.end(0);
        table.begin(true);
        table.column(&definition("b", 3)).unwrap();
        table.row(b"\xfb").unwrap();
        table.end(0);
        let last = table.into_inner();
        assert_eq!((last.columns, last.rows), (vec!["b".to_owned()], vec![vec![None]]));
        let mut table = Table::default();
        table.begin(true);
        table.column(&definition("a", 3)).unwrap();
        table.end(0);
        table.end(3);
        let last = table.into_inner();
        assert_eq!((last.columns.len(), last.affected), (0, 3));
    }
}
