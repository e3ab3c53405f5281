//! The functions of the C library that servers find here instead: recv, from which PostgreSQL, MySQL and MariaDB get their
//! requests, and reads and writes of files at an offset. What ends in `_chk` is the same in programs whose compiler checks
//! the lengths of buffers (`_FORTIFY_SOURCE`).

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use libc::{iovec, off_t, off64_t, size_t, ssize_t};

use crate::next::Next;
use crate::{after, burn, scratch};

macro_rules! wrap {
    ($($name:ident($($argument:ident: $kind:ty),*) then $then:path;)*) => {
        /// The functions of these names that come after ours.
        #[allow(non_upper_case_globals, reason = "each has the name of its function")]
        mod next {
            use super::Next;

            $(pub static $name: Next = Next::new(concat!(stringify!($name), "\0"));)*
        }

        /// All of them.
        pub static NEXT: &[&Next] = &[$(&next::$name),*];

        $(
            /// # Safety
            ///
            /// As the C library's function of this name. Some end a thread by unwinding, hence the ABI.
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> ssize_t {
                let next = next::$name.find();
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
        )*
    };
}

wrap! {
    recv(socket: c_int, buffer: *mut c_void, length: size_t, flags: c_int) then burn::after_read;
    __recv_chk(socket: c_int, buffer: *mut c_void, length: size_t, room: size_t, flags: c_int) then burn::after_read;
    pread(file: c_int, buffer: *mut c_void, length: size_t, offset: off_t) then scratch::after_transfer;
    __pread_chk(file: c_int, buffer: *mut c_void, length: size_t, offset: off_t, room: size_t) then scratch::after_transfer;
    pread64(file: c_int, buffer: *mut c_void, length: size_t, offset: off64_t) then scratch::after_transfer;
    __pread64_chk(file: c_int, buffer: *mut c_void, length: size_t, offset: off64_t, room: size_t) then scratch::after_transfer;
    pwrite(file: c_int, buffer: *const c_void, length: size_t, offset: off_t) then scratch::after_transfer;
    pwrite64(file: c_int, buffer: *const c_void, length: size_t, offset: off64_t) then scratch::after_transfer;
    preadv(file: c_int, parts: *const iovec, count: c_int, offset: off_t) then scratch::after_transfer;
    preadv64(file: c_int, parts: *const iovec, count: c_int, offset: off64_t) then scratch::after_transfer;
    pwritev(file: c_int, parts: *const iovec, count: c_int, offset: off_t) then scratch::after_transfer;
    pwritev64(file: c_int, parts: *const iovec, count: c_int, offset: off64_t) then scratch::after_transfer;
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::PAGE;
    use crate::page::Page;

    #[test]
    fn all_are_found_when_the_library_is_loaded() {
        crate::attach();
        assert!(NEXT.iter().all(|next| next.is_found()));
    }

    #[test]
    fn checked_calls_do_and_count_what_plain_ones_do() {
        let page: &Page = Box::leak(Box::new(Page::new(1, 0.0, 0.0)));
        PAGE.store(std::ptr::from_ref(page).cast_mut(), Ordering::Release);
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut buffer = [0u8; 64];
        let room = buffer.len();
        let start = buffer.as_mut_ptr().cast::<c_void>();

        let file = File::open("/proc/self/exe").unwrap();
        let file = file.as_raw_fd();
        let seen = value(&page.io_bytes_seen);
        // SAFETY: the buffer has room for what is read, as said.
        let read = unsafe {
            [
                pread(file, start, 8, 0),
                __pread_chk(file, start, 8, 0, room),
                __pread64_chk(file, start, 8, 0, room),
            ]
        };
        assert_eq!(read, [8; 3]);
        assert_eq!(value(&page.io_bytes_seen), seen + 24);

        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(&[7; 16]).unwrap();
        let (theirs, reads) = (theirs.as_raw_fd(), value(&page.reads));
        // SAFETY: as above.
        let received = unsafe { [recv(theirs, start, 8, 0), __recv_chk(theirs, start, 8, room, 0)] };
        assert_eq!(received, [8; 2]);
        assert!(value(&page.reads) >= reads + 2);
        assert_eq!(buffer[..8], [7; 8]);
    }
}
