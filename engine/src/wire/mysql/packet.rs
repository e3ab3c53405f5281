//! Packets of MySQL's client/server protocol: building those of the client, reading fields of those of the server.

use super::error::{classify, violation};
use crate::wire::{WireError, WireResult};

/// First bytes of the server's payloads.
pub const OK: u8 = 0x00;
pub const MORE_DATA: u8 = 0x01;
pub const LOCAL_FILE: u8 = 0xfb;
pub const EOF: u8 = 0xfe;
pub const ERROR: u8 = 0xff;

/// Commands.
pub const QUIT: u8 = 0x01;
pub const QUERY: u8 = 0x03;
pub const PREPARE: u8 = 0x16;
pub const EXECUTE: u8 = 0x17;
pub const CLOSE: u8 = 0x19;

/// Bits of the server's status.
pub const IN_TRANSACTION: u16 = 0x0001;
pub const AUTOCOMMIT: u16 = 0x0002;
pub const MORE_RESULTS: u16 = 0x0008;
pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;

/// Length and sequence number in front of a payload.
pub const HEADER_BYTES: usize = 4;
/// A packet of this length is continued by the next one.
pub const LARGEST: usize = 0xff_ffff;

/// Replaces `out` by one command, with room for its header in front.
pub fn command(kind: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    out.clear();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    out.push(kind);
    body(out);
    seal(out);
}

pub fn query(sql: &[u8]) -> Vec<u8> {
    let mut request = Vec::with_capacity(HEADER_BYTES + 1 + sql.len());
    command(QUERY, &mut request, |out| out.extend_from_slice(sql));
    request
}

/// Writes the header of a command's first packet.
#[inline]
pub fn seal(request: &mut [u8]) {
    let length = (request.len() - HEADER_BYTES).min(LARGEST);
    request[..HEADER_BYTES].copy_from_slice(&header(length, 0));
}

#[inline]
pub fn header(length: usize, sequence: u8) -> [u8; HEADER_BYTES] {
    let [low, middle, high, ..] = (length as u32).to_le_bytes();
    [low, middle, high, sequence]
}

/// Appends a length as the protocol packs them.
pub fn write_length(length: usize, out: &mut Vec<u8>) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=0xfa => out.push(length as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends bytes with their length in front.
pub fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Appends a text that ends with a zero.
pub fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(text);
    out.push(0);
}

/// Reads the fields of a payload one after another; one that ends too early is an error, never a panic.
pub struct Body<'a>(pub &'a [u8]);

impl<'a> Body<'a> {
    pub fn take(&mut self, length: usize) -> WireResult<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or_else(|| violation("a packet ends before its last field".to_owned()))?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    pub fn u8(&mut self) -> WireResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    #[inline]
    pub fn u16(&mut self) -> WireResult<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> WireResult<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub fn array<const N: usize>(&mut self) -> WireResult<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A packed integer.
    #[inline(always)]
    pub fn length(&mut self) -> WireResult<u64> {
        if let Some((&small @ 0..=0xfa, rest)) = self.0.split_first() {
            self.0 = rest;
            return Ok(u64::from(small));
        }
        self.long_length()
    }

    fn long_length(&mut self) -> WireResult<u64> {
        let bytes = match self.u8()? {
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            other => return Err(violation(format!("byte {other:#04x} where a length is due"))),
        };
        let mut array = [0; 8];
        array[..bytes].copy_from_slice(self.take(bytes)?);
        Ok(u64::from_le_bytes(array))
    }

    /// Bytes that have their length in front.
    pub fn bytes(&mut self) -> WireResult<&'a [u8]> {
        let length = self.length()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// As `bytes`; `None` is NULL.
    pub fn value(&mut self) -> WireResult<Option<&'a [u8]>> {
        const NULL: u8 = 0xfb;
        if self.0.first() == Some(&NULL) {
            self.0 = &self.0[1..];
            return Ok(None);
        }
        self.bytes().map(Some)
    }

    /// A text up to its zero, or to the end where that is missing, as some servers have it.
    pub fn text(&mut self) -> &'a [u8] {
        let (text, rest) = match memchr::memchr(0, self.0) {
            Some(length) => (&self.0[..length], &self.0[length + 1..]),
            None => (self.0, &self.0[self.0.len()..]),
        };
        self.0 = rest;
        text
    }
}

/// What the server says when a statement is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub affected: u64,
    pub status: u16,
}

/// Reads an OK packet, also one that stands for EOF.
#[inline(always)]
pub fn ok(payload: &[u8]) -> WireResult<Done> {
    let mut body = Body(payload);
    body.u8()?;
    let affected = body.length()?;
    let _last_insert_id = body.length()?;
    let status = body.u16()?;
    Ok(Done { affected, status })
}

/// Reads an EOF packet.
pub fn eof(payload: &[u8]) -> WireResult<Done> {
    let mut body = Body(payload);
    body.u8()?;
    let _warnings = body.u16()?;
    let status = body.u16()?;
    Ok(Done { affected: 0, status })
}

/// Reads an ERR packet: the server's own words.
#[cold]
pub fn error(payload: &[u8]) -> WireError {
    let mut body = Body(payload);
    let (_, code) = (body.u8(), body.u16());
    let Ok(code) = code else {
        return violation("an error without a code".to_owned());
    };
    let state = match body.0 {
        // There is none before a client has told what it understands.
        [b'#', state @ ..] if state.len() >= 5 => {
            body.0 = &state[5..];
            format!(" ({})", String::from_utf8_lossy(&state[..5]))
        }
        _ => String::new(),
    };
    WireError {
        class: classify(code),
        message: format!("ERROR {code}{state}: {}", String::from_utf8_lossy(body.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ErrorClass;

    #[test]
    fn lengths_are_read_as_they_were_written() {
        for length in [0, 1, 250, 251, 252, 65_535, 65_536, 0xff_ffff, 0x100_0000, 1 << 40] {
            let mut out = Vec::new();
            write_length(length, &mut out);
            let mut body = Body(&out);
            assert_eq!(body.length().unwrap(), length as u64);
            assert!(body.0.is_empty(), "{length}");
            for cut in 0..out.len() {
                assert!(Body(&out[..cut]).length().is_err(), "{length} cut to {cut}");
            }
        }
        assert!(Body(&[0xff]).length().is_err());
    }

    #[test]
    fn values_that_are_not_there_are_errors() {
        assert_eq!(Body(&[0xfb, 1]).value().unwrap(), None);
        assert_eq!(Body(&[2, b'a', b'b', b'c']).value().unwrap(), Some(&b"ab"[..]));
        assert!(Body(&[3, b'a', b'b']).value().is_err());
        let huge = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, b'a'];
        assert!(Body(&huge).value().is_err());
    }

    #[test]
    fn texts_end_at_a_zero_or_with_the_packet() {
        let mut body = Body(b"ab\0cd");
        assert_eq!(
            (body.text(), body.text(), body.text()),
            (&b"ab"[..], &b"cd"[..], &b""[..])
        );
    }

    #[test]
    fn ok_and_eof_tell_the_status() {
        let done = ok(&[0, 0xfc, 0xe8, 0x03, 5, 3, 0, 0, 0, 1, 2]).unwrap();
        assert_eq!((done.affected, done.status), (1000, IN_TRANSACTION | AUTOCOMMIT));
        assert_eq!(eof(&[0xfe, 0, 0, 0x0a, 0]).unwrap().status, AUTOCOMMIT | MORE_RESULTS);
        assert!(ok(&[0, 1, 0]).is_err());
        assert!(eof(&[0xfe, 0, 0]).is_err());
    }

    #[test]
    fn errors_keep_the_servers_words_and_get_a_class() {
        let deadlock = error(b"\xff\xbd\x04#40001Deadlock found");
        assert_eq!(deadlock.class, ErrorClass::Deadlock);
        assert_eq!(deadlock.message, "ERROR 1213 (40001): Deadlock found");
        assert_eq!(error(b"\xff\x10\x04Too many").message, "ERROR 1040: Too many");
    }

    #[test]
    fn errors_that_end_too_early_are_errors_all_the_same() {
        for payload in [&b"\xff"[..], b"\xff\x01"] {
            assert!(error(payload).message.contains("an error without a code"));
        }
        assert_eq!(error(b"\xff\x01\x04#40").message, "ERROR 1025: #40");
    }

    #[test]
    fn a_command_has_its_header_in_front() {
        assert_eq!(query(b"DO 1"), [5, 0, 0, 0, QUERY, b'D', b'O', b' ', b'1']);
        let long = query(&vec![b'x'; LARGEST + 10]);
        assert_eq!(long[..5], [0xff, 0xff, 0xff, 0, QUERY]);
    }
}
