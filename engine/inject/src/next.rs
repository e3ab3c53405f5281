//! The functions that ours stand in front of.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the C library. Looking it up takes the loader's lock, which whoever forked or handles a signal may hold: so
/// that is done when this library is loaded, and at the first use only for those who call even earlier.
pub struct Next {
    /// With a NUL at its end.
    name: &'static str,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub const fn new(name_with_nul: &'static str) -> Self {
        Self {
            name: name_with_nul,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Null where this C library has no such function.
    pub fn find(&self) -> *mut c_void {
        let known = self.found.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a NUL.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast::<c_char>()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

#[cfg(test)]
impl Next {
    pub fn is_found(&self) -> bool {
        !self.found.load(Ordering::Relaxed).is_null()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_name() {
        assert!(!Next::new("recv\0").find().is_null());
        assert!(Next::new("dbversus_has_no_such_function\0").find().is_null());
    }
}
