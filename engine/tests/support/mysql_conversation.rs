//! A client of the mysql wire that talks to a recording of a server.

#[path = "conversation.rs"]
mod conversation;

use std::io::{self, Cursor, Read, Write};
use std::time::Duration;

use conversation::{Heard, talk};
use dbversus_engine::wire::mysql::{Stream, connect_over};
use dbversus_engine::wire::{Login, WireResult};

/// Gives the bytes of the recording, then the end; takes whatever is written.
struct Recording(Cursor<Vec<u8>>);

impl Read for Recording {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Recording {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Recording {
    fn set_read_timeout(&mut self, _timeout: Option<Duration>) {}

    fn shut(&self) {}
}

/// Logs in and talks. An error ends it.
pub fn hold(sent: Vec<u8>) -> WireResult<Heard> {
    let login = Login {
        user: "u".to_owned(),
        database: "d".to_owned(),
        password: Some("p".to_owned()),
    };
    talk(&mut *connect_over(Box::new(Recording(Cursor::new(sent))), &login)?)
}
