//! One prepared statement: bind, step to the end, reset.

use std::ffi::c_int;
use std::hint::black_box;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use libsqlite3_sys as ffi;

use super::api::{Api, Database, RawStatement};
use super::error::{error_of, other};
use crate::wire::{RowSink, TextTable, WireResult};
use crate::workload::{Params, Value};

pub struct Prepared {
    api: Arc<Api>,
    database: *mut Database,
    raw: *mut RawStatement,
    columns: c_int,
    writes: bool,
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
        };
        Ok((Some(prepared), &sql[used..]))
    }

    /// Whether it may change the database.
    pub fn writes(&self) -> bool {
        self.writes
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
        self.step_all(|statement| sink.row(&statement.texts()))
    }

    /// As `run`, without parameters, giving the result as text.
    pub fn query(&mut self) -> WireResult<TextTable> {
        let mut rows = Vec::new();
        let owned = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let done = self.step_all(|statement| {
            rows.push(statement.texts().into_iter().map(|value| value.map(owned)).collect());
        })?;
        Ok(TextTable {
            columns: (0..self.columns).map(|column| self.column_name(column)).collect(),
            rows,
            affected: done.affected,
        })
    }

    /// The texts have to stay where they are until the statement has run: they are not copied.
    #[inline]
    fn bind(&mut self, params: &Params) -> WireResult<()> {
        for (slot, value) in params.iter().enumerate() {
            let index = slot as c_int + 1;
            // SAFETY: the statement was reset after its last run; `params` is borrowed until this run has ended.
            let code = unsafe {
                match value {
                    Value::Integer(value) => (self.api.bind_int64)(self.raw, index, value),
                    Value::Text(text) => {
                        let length = text.len() as c_int;
                        (self.api.bind_text)(self.raw, index, text.as_ptr().cast(), length, ffi::SQLITE_STATIC())
                    }
                }
            };
            if code != ffi::SQLITE_OK {
                return Err(error_of(&self.api, self.database));
            }
        }
        Ok(())
    }

    #[inline]
    fn step_all(&mut self, mut row: impl FnMut(&Self)) -> WireResult<Done> {
        let mut done = Done::default();
        // SAFETY: `raw` is a prepared statement of the open `database`.
        unsafe {
            let code = loop {
                match (self.api.step)(self.raw) {
                    ffi::SQLITE_ROW => {
                        done.rows += 1;
                        row(self);
                    }
                    code => break code,
                }
            };
            if code == ffi::SQLITE_DONE && self.writes {
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

    /// The current row as text; borrowed until the next step.
    fn texts(&self) -> Vec<Option<&[u8]>> {
        (0..self.columns).map(|column| self.text(column)).collect()
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

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: `raw` is a prepared statement and is not used after this.
        unsafe { (self.api.finalize)(self.raw) };
    }
}
