//! Errors of SQLite, in the library's own words and with the class that the drive loop has to know.

use std::ffi::{CStr, c_int};

use libsqlite3_sys as ffi;

use super::api::{Api, Database};
use super::authorizer::REFUSED;
use crate::wire::{ErrorClass, WireError};

/// The latest error of a database, in the library's own words.
#[cold]
pub fn error_of(api: &Api, database: *mut Database) -> WireError {
    if database.is_null() {
        return other("out of memory".to_owned());
    }
    // SAFETY: the database is open; the message is copied at once.
    let (code, message) = unsafe {
        let message = CStr::from_ptr((api.error_message)(database))
            .to_string_lossy()
            .into_owned();
        ((api.extended_error_code)(database), message)
    };
    // of a function it says so with the code of any error
    let why = if code == ffi::SQLITE_AUTH || message.starts_with("not authorized") {
        format!("; {REFUSED}")
    } else {
        String::new()
    };
    WireError {
        class: classify(code),
        message: format!("{message} (SQLite error {code}){why}"),
    }
}

fn classify(code: c_int) -> ErrorClass {
    const PRIMARY: c_int = 0xff;
    match code {
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_ROWID => {
            ErrorClass::DuplicateKey
        }
        _ if [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED].contains(&(code & PRIMARY)) => ErrorClass::LockTimeout,
        _ => ErrorClass::Other,
    }
}

pub fn other(message: String) -> WireError {
    WireError {
        class: ErrorClass::Other,
        message,
    }
}
