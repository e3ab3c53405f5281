//! What carries the packets: a socket, TLS over one, or whatever a test puts in their place.

use std::io::{Read, Write};
use std::time::Duration;

use crate::wire::socket::Socket;

/// What is written is sent at once.
pub trait Stream: Read + Write + Send {
    /// How long a read may wait; `None` is for ever.
    fn set_read_timeout(&mut self, timeout: Option<Duration>);
    /// Makes every later use fail.
    fn shut(&self);
}

impl Stream for Socket {
    fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.set_read_timeout(timeout);
    }

    fn shut(&self) {
        self.shut();
    }
}
