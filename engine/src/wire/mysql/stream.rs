//! What carries the packets: a socket, TLS over one, or whatever a test puts in their place.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// What is written is sent at once.
pub trait Stream: Read + Write + Send {
    /// How long a read may wait; `None` is for ever.
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;
    /// Makes every later use fail.
    fn shut(&self);
}

impl Stream for UnixStream {
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        Self::set_read_timeout(self, timeout)
    }

    fn shut(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}
