//! The functions of the C library that servers find here instead: recv, from which PostgreSQL, MySQL and MariaDB get their
//! requests, and reads and writes of files at an offset.

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use libc::{iovec, off_t, off64_t, size_t, ssize_t};

use crate::next::Next;
use crate::{after, burn, scratch};

macro_rules! wrap {
    ($($name:ident($($argument:ident: $kind:ty),*) then $then:path;)*) => {$(
        /// # Safety
        ///
        /// As the C library's function of this name. Some end a thread by unwinding, hence the ABI.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> ssize_t {
            static NEXT: Next = Next::new(concat!(stringify!($name), "\0"));
            let next = NEXT.find();
            if next.is_null() {
                // SAFETY: the calling thread's own errno.
                unsafe { *libc::__errno_location() = libc::ENOSYS };
                return -1;
            }
            // SAFETY: the C library's function of this name has this signature.
            let next = unsafe { transmute::<*mut c_void, unsafe extern "C-unwind" fn($($kind),*) -> ssize_t>(next) };
            // SAFETY: the caller's promise, passed on.
            let count = unsafe { next($($argument),*) };
            after(count, $then);
            count
        }
    )*};
}

wrap! {
    recv(socket: c_int, buffer: *mut c_void, length: size_t, flags: c_int) then burn::after_read;
    pread(file: c_int, buffer: *mut c_void, length: size_t, offset: off_t) then scratch::after_transfer;
    pread64(file: c_int, buffer: *mut c_void, length: size_t, offset: off64_t) then scratch::after_transfer;
    pwrite(file: c_int, buffer: *const c_void, length: size_t, offset: off_t) then scratch::after_transfer;
    pwrite64(file: c_int, buffer: *const c_void, length: size_t, offset: off64_t) then scratch::after_transfer;
    preadv(file: c_int, parts: *const iovec, count: c_int, offset: off_t) then scratch::after_transfer;
    preadv64(file: c_int, parts: *const iovec, count: c_int, offset: off64_t) then scratch::after_transfer;
    pwritev(file: c_int, parts: *const iovec, count: c_int, offset: off_t) then scratch::after_transfer;
    pwritev64(file: c_int, parts: *const iovec, count: c_int, offset: off64_t) then scratch::after_transfer;
}
