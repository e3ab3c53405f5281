//! One prepared statement: bind, step to the end, reset.

use std::ffi::c_int;
use std::hint::black_box;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use libsqlite3_sys as ffi;

use super::api::{Api, Database, RawStatement};
use super::error::{error_of, other};
use super::value::{float_of, stored};
use crate::wire::{RowSink, TextTable, WireResult};
use crate::workload::values::{write_date, write_plain_float};
use crate::workload::{FirstRow, Params, Value, ValueType};

pub struct Prepared {
    api: Arc<Api>,
    database: *mut Database,
    raw: *mut RawStatement,
    columns: c_int,
    writes: bool,
    /// For a value that is copied when it is bound.
    buffer: Vec<u8>,
}

/// What one execution did.
#[derive(Debug, Default, Clone, Copy)]
pub struct Done {
    pub rows: u64,
    pub affected: u64,
}

impl Prepared {
    /// Prepares the first statement of `sql`; gives it and what follows it. There is none in blanks and comments.
    pub fn new<'a>(api: &Arc<Api>, database: *mut Database, sql: &'a [u8]) -> WireResult<(Option<Self>, &'a [u8])> {
        let mut raw = null_mut();
        let mut tail = null();
        let length = c_int::try_from(sql.len()).map_err(|_| other("the statement is longer than 2 GiB".to_owned()))?;
        // SAFETY: `database` is open; `sql` has the length told.
        let code = unsafe { (api.prepare)(database, sql.as_ptr().cast(), length, &mut raw, &mut tail) };
        if code != ffi::SQLITE_OK {
            return Err(error_of(api, database));
        }
        // SAFETY: `tail` points into `sql`, behind the statement.
        let used = unsafe { tail.offset_from(sql.as_ptr().cast()) } as usize;
        if raw.is_null() {
            return Ok((None, &sql[used..]));
        }
        // SAFETY: `raw` is a prepared statement.
        let (columns, writes) = unsafe { ((api.column_count)(raw), (api.readonly)(raw) == 0) };
        let prepared = Self {
            api: Arc::clone(api),
            database,
            raw,
            columns,
            writes,
            buffer: Vec::new(),
        };
        Ok((Some(prepared), &sql[used..]))
    }

    /// How many values its rows have.
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Whether it may change the database.
    pub fn writes(&self) -> bool {
        self.writes
    }

    pub fn raw(&self) -> *mut RawStatement {
        self.raw
    }

    pub fn parameter_count(&self) -> usize {
        // SAFETY: `raw` is a prepared statement.
        unsafe { (self.api.parameter_count)(self.raw) as usize }
    }

    /// Runs with these parameters and reads every value.
    #[inline]
    pub fn run(&mut self, params: &Params) -> WireResult<Done> {
        self.bind(params)?;
        self.step_all(Self::read_row)
    }

    /// As `run`, handing every row to `sink` as text.
    pub fn run_into(&mut self, params: &Params, sink: &mut dyn RowSink) -> WireResult<Done> {
        self.bind(params)?;
        let mut row = TextRow::default();
        self.step_all(|statement| sink.row(&row.read(statement)))
    }

    /// As `run`, with the values of the first row to `first`, and every row to `sink` where there is one.
    pub fn run_keeping(
        &mut self,
        params: &Params,
        first: &mut FirstRow,
        mut sink: Option<&mut dyn RowSink>,
    ) -> WireResult<Done> {
        self.bind(params)?;
        let mut text = TextRow::default();
        let mut is_first = true;
        self.step_all(|statement| {
            if std::mem::take(&mut is_first) {
                (0..first.columns()).for_each(|column| first.put(column, statement.value(column as c_int)));
            }
            match &mut sink {
                Some(sink) => sink.row(&text.read(statement)),
                None => statement.read_row(),
            }
        })
    }

    /// As `run`, without parameters, giving the result as text.
    pub fn query(&mut self) -> WireResult<TextTable> {
        let mut rows = Vec::new();
        let mut row = TextRow::default();
        let owned = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let done = self.step_all(|statement| {
            rows.push(row.read(statement).into_iter().map(|value| value.map(owned)).collect());
        })?;
        Ok(TextTable {
            columns: (0..self.columns).map(|column| self.column_name(column)).collect(),
            rows,
            affected: done.affected,
        })
    }

    #[inline]
    fn bind(&mut self, params: &Params) -> WireResult<()> {
        for (slot, value) in params.iter().enumerate() {
            if self.bind_one(slot as c_int + 1, value) != ffi::SQLITE_OK {
                return Err(error_of(&self.api, self.database));
            }
        }
        Ok(())
    }

    /// Texts and bytes have to stay where they are until the statement has run: they are not copied.
    #[inline]
    fn bind_one(&mut self, index: c_int, value: Value<'_>) -> c_int {
        let (api, raw) = (&self.api, self.raw);
        // SAFETY: the statement was reset after its last run; the parameters are borrowed until this run has ended.
        unsafe {
            match value {
                Value::Integer(value) => (api.bind_int64)(raw, index, value),
                Value::Text(text) => {
                    let length = text.len() as c_int;
                    (api.bind_text)(raw, index, text.as_ptr().cast(), length, ffi::SQLITE_STATIC())
                }
                Value::Float(value) => (api.bind_double)(raw, index, value),
                Value::Decimal { units, scale } => (api.bind_double)(raw, index, float_of(units, scale)),
                Value::Bool(value) => (api.bind_int64)(raw, index, value.into()),
                Value::Timestamp { us, fine } => (api.bind_int64)(raw, index, stored(us, fine)),
                Value::Date(days) => {
                    self.buffer.clear();
                    write_date(days, &mut self.buffer);
                    let length = self.buffer.len() as c_int;
                    (api.bind_text)(raw, index, self.buffer.as_ptr().cast(), length, ffi::SQLITE_TRANSIENT())
                }
                Value::Bytes(bytes) => {
                    let length = bytes.len() as c_int;
                    (api.bind_blob)(raw, index, bytes.as_ptr().cast(), length, ffi::SQLITE_STATIC())
                }
                Value::Null(_) => (api.bind_null)(raw, index),
            }
        }
    }

    #[inline]
    fn step_all(&mut self, mut row: impl FnMut(&Self)) -> WireResult<Done> {
        let mut done = Done::default();
        // SAFETY: `raw` is a prepared statement of the open `database`.
        unsafe {
            let before = (self.api.total_changes)(self.database);
            let code = loop {
                match (self.api.step)(self.raw) {
                    ffi::SQLITE_ROW => {
                        done.rows += 1;
                        row(self);
                    }
                    code => break code,
                }
            };
            // CREATE INDEX and the like leave the count of the statement before.
            if code == ffi::SQLITE_DONE && self.writes && (self.api.total_changes)(self.database) != before {
                done.affected = (self.api.changes)(self.database) as u64;
            }
            if (self.api.reset)(self.raw) != ffi::SQLITE_OK || code != ffi::SQLITE_DONE {
                return Err(error_of(&self.api, self.database));
            }
        }
        Ok(done)
    }

    /// Fetches every value of the current row, as a client would that wants it.
    #[inline]
    fn read_row(&self) {
        for column in 0..self.columns {
            // SAFETY: the statement is on a row that has this column.
            unsafe {
                match (self.api.column_type)(self.raw, column) {
                    ffi::SQLITE_INTEGER => {
                        black_box((self.api.column_int64)(self.raw, column));
                    }
                    ffi::SQLITE_TEXT => {
                        black_box((self.api.column_text)(self.raw, column));
                        black_box((self.api.column_bytes)(self.raw, column));
                    }
                    ffi::SQLITE_FLOAT => {
                        black_box((self.api.column_double)(self.raw, column));
                    }
                    ffi::SQLITE_BLOB => {
                        black_box((self.api.column_blob)(self.raw, column));
                        black_box((self.api.column_bytes)(self.raw, column));
                    }
                    _ => {}
                }
            }
        }
    }

    /// As SQLite has it.
    fn value(&self, column: c_int) -> Value<'_> {
        // SAFETY: the statement is on a row that has this column; a blob has the length told after it was fetched.
        unsafe {
            match (self.api.column_type)(self.raw, column) {
                ffi::SQLITE_INTEGER => Value::Integer((self.api.column_int64)(self.raw, column)),
                ffi::SQLITE_FLOAT => Value::Float((self.api.column_double)(self.raw, column)),
                ffi::SQLITE_BLOB => {
                    let blob = (self.api.column_blob)(self.raw, column).cast::<u8>();
                    let length = (self.api.column_bytes)(self.raw, column) as usize;
                    Value::Bytes(if blob.is_null() {
                        &[]
                    } else {
                        std::slice::from_raw_parts(blob, length)
                    })
                }
                _ => self.text(column).map_or(Value::Null(ValueType::Text), Value::Text),
            }
        }
    }

    fn float(&self, column: c_int) -> Option<f64> {
        // SAFETY: the statement is on a row that has this column.
        unsafe {
            let is_float = (self.api.column_type)(self.raw, column) == ffi::SQLITE_FLOAT;
            is_float.then(|| (self.api.column_double)(self.raw, column))
        }
    }

    fn text(&self, column: c_int) -> Option<&[u8]> {
        // SAFETY: the statement is on a row that has this column; the text has the length told after it was fetched.
        unsafe {
            let text = (self.api.column_text)(self.raw, column);
            if text.is_null() {
                return None;
            }
            let length = (self.api.column_bytes)(self.raw, column) as usize;
            Some(std::slice::from_raw_parts(text, length))
        }
    }

    fn column_name(&self, column: c_int) -> String {
        // SAFETY: the statement has this column; the name is copied at once.
        unsafe {
            let name = (self.api.column_name)(self.raw, column);
            if name.is_null() {
                return String::new();
            }
            std::ffi::CStr::from_ptr(name).to_string_lossy().into_owned()
        }
    }
}

/// A row as text.
#[derive(Default)]
struct TextRow {
    floats: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
}

impl TextRow {
    /// Floating point numbers in the shortest form that is theirs alone: SQLite's own text of them has 15 digits. Borrowed
    /// until the next step.
    fn read<'a>(&'a mut self, statement: &'a Prepared) -> Vec<Option<&'a [u8]>> {
        self.floats.clear();
        self.places.clear();
        for column in 0..statement.columns {
            let place = statement.float(column).map(|value| {
                let start = self.floats.len();
                write_plain_float(value, &mut self.floats);
                start..self.floats.len()
            });
            self.places.push(place);
        }
        let value = |(column, place): (usize, &Option<Range<usize>>)| match place {
            Some(place) => Some(&self.floats[place.clone()]),
            None => statement.text(column as c_int),
        };
        self.places.iter().enumerate().map(value).collect()
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: `raw` is a prepared statement and is not used after this.
        unsafe { (self.api.finalize)(self.raw) };
    }
}
