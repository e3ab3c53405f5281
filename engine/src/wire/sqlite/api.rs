//! The functions of the SQLite library that are used, of the bundled one or of any `libsqlite3.so` loaded at run time.

use std::ffi::{CStr, c_char, c_double, c_int, c_uchar, c_void};
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use libsqlite3_sys as ffi;

pub type Database = ffi::sqlite3;
pub type RawStatement = ffi::sqlite3_stmt;
type Destructor = ffi::sqlite3_destructor_type;
type Text = *const c_char;
type Authorizer = Option<unsafe extern "C" fn(*mut c_void, c_int, Text, Text, Text, Text) -> c_int>;
type Progress = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
/// What a library may have been compiled without.
pub type ProgressHandler = unsafe extern "C" fn(*mut Database, c_int, Progress, *mut c_void);
pub type ScanStatus = unsafe extern "C" fn(*mut RawStatement, c_int, c_int, *mut c_void) -> c_int;

/// Declares `Api` with a function pointer per function, and the two ways to fill it.
macro_rules! api {
    ($($name:ident = $symbol:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Function pointers into one copy of the library.
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            pub progress_handler: Option<ProgressHandler>,
            pub scan_status: Option<ScanStatus>,
            /// Keeps the functions loaded.
            _library: Option<Library>,
        }

        impl Api {
            /// The library that was compiled into the engine.
            pub fn bundled() -> Arc<Self> {
                Arc::new(Self {
                    $($name: ffi::$symbol,)*
                    progress_handler: Some(ffi::sqlite3_progress_handler),
                    scan_status: None,
                    _library: None,
                })
            }

            fn from_library(library: Library) -> Result<Self, String> {
                // SAFETY: these symbols have had these types in every version of SQLite 3.
                unsafe {
                    $(let $name = *library.get(concat!(stringify!($symbol), "\0").as_bytes())
                        .map_err(|error| format!("{error}; accepted is the shared library of SQLite 3"))?;)*
                    let progress_handler = library.get(b"sqlite3_progress_handler\0").ok().map(|found| *found);
                    let scan_status = library.get(b"sqlite3_stmt_scanstatus\0").ok().map(|found| *found);
                    Ok(Self { $($name,)* progress_handler, scan_status, _library: Some(library) })
                }
            }
        }
    };
}

api! {
    version = sqlite3_libversion: fn() -> *const c_char;
    version_number = sqlite3_libversion_number: fn() -> c_int;
    threadsafe = sqlite3_threadsafe: fn() -> c_int;
    open = sqlite3_open_v2: fn(*const c_char, *mut *mut Database, c_int, *const c_char) -> c_int;
    close = sqlite3_close: fn(*mut Database) -> c_int;
    busy_timeout = sqlite3_busy_timeout: fn(*mut Database, c_int) -> c_int;
    set_authorizer = sqlite3_set_authorizer: fn(*mut Database, Authorizer, *mut c_void) -> c_int;
    error_message = sqlite3_errmsg: fn(*mut Database) -> *const c_char;
    extended_error_code = sqlite3_extended_errcode: fn(*mut Database) -> c_int;
    autocommit = sqlite3_get_autocommit: fn(*mut Database) -> c_int;
    changes = sqlite3_changes: fn(*mut Database) -> c_int;
    total_changes = sqlite3_total_changes: fn(*mut Database) -> c_int;
    prepare = sqlite3_prepare_v2:
        fn(*mut Database, *const c_char, c_int, *mut *mut RawStatement, *mut *const c_char) -> c_int;
    finalize = sqlite3_finalize: fn(*mut RawStatement) -> c_int;
    readonly = sqlite3_stmt_readonly: fn(*mut RawStatement) -> c_int;
    statement_status = sqlite3_stmt_status: fn(*mut RawStatement, c_int, c_int) -> c_int;
    parameter_count = sqlite3_bind_parameter_count: fn(*mut RawStatement) -> c_int;
    bind_int64 = sqlite3_bind_int64: fn(*mut RawStatement, c_int, i64) -> c_int;
    bind_text = sqlite3_bind_text: fn(*mut RawStatement, c_int, *const c_char, c_int, Destructor) -> c_int;
    bind_double = sqlite3_bind_double: fn(*mut RawStatement, c_int, c_double) -> c_int;
    bind_blob = sqlite3_bind_blob: fn(*mut RawStatement, c_int, *const c_void, c_int, Destructor) -> c_int;
    bind_null = sqlite3_bind_null: fn(*mut RawStatement, c_int) -> c_int;
    step = sqlite3_step: fn(*mut RawStatement) -> c_int;
    reset = sqlite3_reset: fn(*mut RawStatement) -> c_int;
    column_count = sqlite3_column_count: fn(*mut RawStatement) -> c_int;
    column_name = sqlite3_column_name: fn(*mut RawStatement, c_int) -> *const c_char;
    column_type = sqlite3_column_type: fn(*mut RawStatement, c_int) -> c_int;
    column_int64 = sqlite3_column_int64: fn(*mut RawStatement, c_int) -> i64;
    column_double = sqlite3_column_double: fn(*mut RawStatement, c_int) -> c_double;
    column_text = sqlite3_column_text: fn(*mut RawStatement, c_int) -> *const c_uchar;
    column_blob = sqlite3_column_blob: fn(*mut RawStatement, c_int) -> *const c_void;
    column_bytes = sqlite3_column_bytes: fn(*mut RawStatement, c_int) -> c_int;
}

impl Api {
    /// Loads a `libsqlite3.so`; its symbols stay its own, so that several versions can be loaded side by side.
    pub fn load(path: &str) -> Result<Arc<Self>, String> {
        // SAFETY: loading runs the library's initialisers; SQLite has none.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let api = library
            .map_err(|error| error.to_string())
            .and_then(Self::from_library)
            .map_err(|error| format!("SQLite library {path:?} cannot be loaded: {error}"))?;
        // SAFETY: takes no arguments.
        if unsafe { (api.threadsafe)() } == 0 {
            return Err(format!(
                "SQLite library {path:?} was compiled for a single thread; accepted is SQLITE_THREADSAFE=1 or 2"
            ));
        }
        Ok(Arc::new(api))
    }

    pub fn version(&self) -> String {
        // SAFETY: the result is a constant of the library.
        unsafe { CStr::from_ptr((self.version)()) }
            .to_string_lossy()
            .into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_the_bundled_library_have_page_caches_of_their_own() {
        // SAFETY: the name is a C string; the function only looks it up. `.cargo/config.toml` says why.
        let used = unsafe { ffi::sqlite3_compileoption_used(c"ENABLE_MEMORY_MANAGEMENT".as_ptr()) };
        assert_eq!(used, 0);
    }
}
