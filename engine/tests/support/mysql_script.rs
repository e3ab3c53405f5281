//! What a MySQL server sends, packet by packet.

#![allow(dead_code, reason = "every test file uses a part of it")]

pub const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// Types of columns.
pub const LONG: u8 = 3;
pub const DATETIME: u8 = 12;
pub const VAR_STRING: u8 = 0xfd;

pub struct Script {
    pub bytes: Vec<u8>,
    pub sequence: u8,
    pub deprecate_eof: bool,
}

impl Script {
    /// Nothing but the greeting; the client's response takes the next number.
    pub fn new(deprecate_eof: bool, method: &str) -> Self {
        let mut script = Self {
            bytes: Vec::new(),
            sequence: 0,
            deprecate_eof,
        };
        script.greet(method);
        script.sequence += 1;
        script
    }

    fn greet(&mut self, method: &str) {
        const PROTOCOL_41: u32 = 1 << 9;
        const SECURE_CONNECTION: u32 = 1 << 15;
        const PLUGIN_AUTH: u32 = 1 << 19;
        const DEPRECATE_EOF: u32 = 1 << 24;
        let eof = if self.deprecate_eof { DEPRECATE_EOF } else { 0 };
        let capabilities = (PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | eof).to_le_bytes();
        let mut greeting = b"\x0a8.0.31\0\x07\0\0\0abcdefgh\0".to_vec();
        greeting.extend_from_slice(&capabilities[..2]);
        greeting.extend_from_slice(&[8, 2, 0]);
        greeting.extend_from_slice(&capabilities[2..]);
        greeting.extend_from_slice(b"\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0");
        greeting.extend_from_slice(method.as_bytes());
        greeting.push(0);
        self.packet(&greeting);
    }

    /// One payload, in as many packets as it takes.
    pub fn packet(&mut self, payload: &[u8]) {
        const LARGEST: usize = 0xff_ffff;
        let mut parts: Vec<_> = payload.chunks(LARGEST).collect();
        if payload.len().is_multiple_of(LARGEST) {
            parts.push(&[]);
        }
        for part in parts {
            self.bytes.extend_from_slice(&(part.len() as u32).to_le_bytes()[..3]);
            self.bytes.push(self.sequence);
            self.bytes.extend_from_slice(part);
            self.sequence = self.sequence.wrapping_add(1);
        }
    }

    /// An answer to a command begins.
    pub fn answer(&mut self) -> &mut Self {
        self.sequence = 1;
        self
    }

    pub fn ok(&mut self) {
        self.answer().packet(OK);
    }

    fn eof(&mut self, status: u8) {
        self.packet(&[0xfe, 0, 0, status, 0]);
    }

    pub fn definitions(&mut self, columns: &[(&str, u8)]) {
        for (name, kind) in columns {
            let mut definition = b"\x03def\0\0\0".to_vec();
            definition.push(name.len() as u8);
            definition.extend_from_slice(name.as_bytes());
            definition.extend_from_slice(b"\0\x0c\x08\0\x0b\0\0\0");
            definition.push(*kind);
            definition.extend_from_slice(&[0; 5]);
            self.packet(&definition);
        }
        if !self.deprecate_eof {
            self.eof(2);
        }
    }

    pub fn result(&mut self, columns: &[(&str, u8)], rows: &[&[u8]], status: u8) {
        self.packet(&[columns.len() as u8]);
        self.definitions(columns);
        rows.iter().for_each(|row| self.packet(row));
        if self.deprecate_eof {
            self.packet(&[0xfe, 0, 0, status, 0, 0, 0]);
        } else {
            self.eof(status);
        }
    }

    /// An answer of one value.
    pub fn text(&mut self, column: &str, value: &str) {
        let mut row = vec![value.len() as u8];
        row.extend_from_slice(value.as_bytes());
        self.answer().result(&[(column, VAR_STRING)], &[&row], 2);
    }
}
