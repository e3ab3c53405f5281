//! What SQL may do: all within its own database. Files and code outside are out of its reach, whoever wrote it.

use std::ffi::{CStr, c_char, c_int, c_void};

use libsqlite3_sys as ffi;

/// What the library is told to say of a statement that was refused.
pub const REFUSED: &str = "SQL stays within its own database: no ATTACH and no VACUUM INTO with the name of a file, no extensions, \
                           and no functions and pragmas that reach files";

/// Functions of the library, of its command line and of its usual extensions that read, write or load files.
const FUNCTIONS: [&[u8]; 8] = [
    b"load_extension",
    b"writefile",
    b"readfile",
    b"edit",
    b"fsdir",
    b"lsmode",
    b"fts3_tokenizer",
    b"sqlite3_sqlar_extract",
];
/// Modules of virtual tables that do so.
const MODULES: [&[u8]; 4] = [b"csv", b"fsdir", b"zipfile", b"vsv"];
const PRAGMAS: [&[u8]; 2] = [b"temp_store_directory", b"data_store_directory"];

/// An authorizer of `sqlite3_set_authorizer`: asked while statements are prepared, of everything that they will do.
///
/// # Safety
/// `first` and `second` are C strings or null, as the library gives them.
pub unsafe extern "C" fn authorize(
    _: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    let is_refused = match action {
        // SAFETY: the caller's promise, here and below
        ffi::SQLITE_ATTACH => !unsafe { text(first) }.is_some_and(|name| name.is_empty() || name == b":memory:"),
        ffi::SQLITE_FUNCTION => unsafe { is_one_of(second, &FUNCTIONS) },
        ffi::SQLITE_CREATE_VTABLE => unsafe { is_one_of(second, &MODULES) },
        ffi::SQLITE_PRAGMA => unsafe { is_one_of(first, &PRAGMAS) },
        ffi::SQLITE_READ => unsafe { is_one_of(first, &MODULES) },
        _ => false,
    };
    if is_refused { ffi::SQLITE_DENY } else { ffi::SQLITE_OK }
}

unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

unsafe fn is_one_of(pointer: *const c_char, names: &[&[u8]]) -> bool {
    // SAFETY: the caller's promise
    unsafe { text(pointer) }.is_some_and(|name| names.iter().any(|one| name.eq_ignore_ascii_case(one)))
}
