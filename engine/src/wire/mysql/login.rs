//! From a connected stream to a session: greeting, TLS, authentication.

use super::auth::{self, Method};
use super::error::{other, violation};
use super::link::Link;
use super::packet::{self, Body, EOF, ERROR, MORE_DATA, OK, write_bytes, write_text};
use super::tls::TlsStream;
use crate::wire::socket::{ANSWER_TIMEOUT, Socket};
use crate::wire::{Login, WireError, WireResult};

const PROTOCOL_VERSION: u8 = 10;
/// latin1_swedish_ci: every server knows it, and none has to look for the borders of its characters.
const COLLATION: u8 = 8;
/// The longest packet that we take, as the server is told.
const MAX_PACKET_BYTES: u32 = 1 << 30;
const CHALLENGE_BYTES: usize = 20;

/// Bits of what client and server are capable of.
mod capability {
    pub const LONG_PASSWORD: u32 = 1;
    /// Rows found count as affected, not only those that got other values: as in every other DBMS.
    pub const FOUND_ROWS: u32 = 1 << 1;
    pub const LONG_FLAG: u32 = 1 << 2;
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const SSL: u32 = 1 << 11;
    pub const TRANSACTIONS: u32 = 1 << 13;
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    pub const MULTI_STATEMENTS: u32 = 1 << 16;
    pub const MULTI_RESULTS: u32 = 1 << 17;
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    pub const CONNECT_ATTRS: u32 = 1 << 20;
    pub const DEPRECATE_EOF: u32 = 1 << 24;

    pub const REQUIRED: u32 = PROTOCOL_41 | SECURE_CONNECTION;
    pub const WANTED: u32 = REQUIRED
        | LONG_PASSWORD
        | FOUND_ROWS
        | LONG_FLAG
        | CONNECT_WITH_DB
        | TRANSACTIONS
        | MULTI_STATEMENTS
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH
        | CONNECT_ATTRS
        | DEPRECATE_EOF;

    /// In the words of MariaDB, further bits, which MySQL does not have: columns of a prepared statement that are as they
    /// were when it was prepared are not told with each of its results.
    pub const CACHE_METADATA: u32 = 1 << 4;
    /// Set by MySQL; a MariaDB that has further bits leaves it out, and so does a client that wants some of them.
    pub const MYSQL: u32 = LONG_PASSWORD;
}

/// What is under the link, as far as logging in has to know it.
pub struct Transport {
    /// Nobody can listen in: a Unix socket.
    pub is_private: bool,
    pub tls: Option<Upgrade>,
    pub cache_metadata: bool,
}

/// TLS is to be spoken over this socket, in any case or where the server can.
pub struct Upgrade {
    pub socket: Socket,
    pub required: bool,
}

struct Greeting {
    capabilities: u32,
    /// MariaDB's further ones.
    more_capabilities: u32,
    challenge: Vec<u8>,
    /// What the server thinks most accounts use.
    method: Vec<u8>,
}

/// Logs in; what is left on the link is the session.
pub fn log_in(link: &mut Link, login: &Login, transport: Transport) -> WireResult<()> {
    link.set_read_timeout(Some(ANSWER_TIMEOUT));
    let greeting = Greeting::read(link.payload()?)?;
    let mut capabilities = Capabilities {
        common: capability::WANTED & (greeting.capabilities | capability::REQUIRED),
        more: greeting.more_capabilities
            & if transport.cache_metadata {
                capability::CACHE_METADATA
            } else {
                0
            },
    };
    let is_encrypted = match transport.tls {
        Some(tls) => upgrade(link, &greeting, &mut capabilities, tls)?,
        None => false,
    };
    link.deprecate_eof = capabilities.common & capability::DEPRECATE_EOF != 0;
    link.cache_metadata = capabilities.more & capability::CACHE_METADATA != 0;
    Authentication::new(login, greeting, is_encrypted || transport.is_private).carry_out(link, capabilities)?;
    link.set_read_timeout(None);
    Ok(())
}

/// Starts TLS where the server can; tells whether it did.
fn upgrade(
    link: &mut Link,
    greeting: &Greeting,
    capabilities: &mut Capabilities,
    mut tls: Upgrade,
) -> WireResult<bool> {
    if greeting.capabilities & capability::SSL == 0 {
        if tls.required {
            return Err(other("`tls` is \"required\", and the server has none".to_owned()));
        }
        return Ok(false);
    }
    capabilities.common |= capability::SSL;
    link.reply(&response_head(*capabilities))?;
    tls.socket.set_read_timeout(Some(ANSWER_TIMEOUT));
    link.continue_over(Box::new(TlsStream::start(tls.socket)?))?;
    Ok(true)
}

impl Greeting {
    fn read(payload: &[u8]) -> WireResult<Self> {
        let mut body = Body(payload);
        match body.u8()? {
            PROTOCOL_VERSION => {}
            ERROR => return Err(packet::error(payload)),
            version => {
                return Err(violation(format!(
                    "the server greets with protocol {version}; accepted is {PROTOCOL_VERSION}"
                )));
            }
        }
        let _server_version = body.text();
        let _connection_id = body.u32()?;
        let mut challenge = body.take(8)?.to_vec();
        let _filler = body.u8()?;
        let low = body.u16()?;
        let _collation_and_status = body.take(3)?;
        let high = body.u16()?;
        let _challenge_length = body.u8()?;
        let _reserved = body.take(6)?;
        let more = body.u32()?;
        let rest = body.0.len().min(CHALLENGE_BYTES - challenge.len());
        challenge.extend_from_slice(body.take(rest)?);
        let _zero = body.text();
        let capabilities = u32::from(low) | u32::from(high) << 16;
        if capabilities & capability::REQUIRED != capability::REQUIRED {
            return Err(violation("the server is older than MySQL 5.5".to_owned()));
        }
        let method = match capabilities & capability::PLUGIN_AUTH {
            0 => Method::Native.name().as_bytes().to_vec(),
            _ => body.text().to_vec(),
        };
        Ok(Self {
            capabilities,
            more_capabilities: if capabilities & capability::MYSQL == 0 { more } else { 0 },
            challenge,
            method,
        })
    }
}

/// What is used in a session: both sides are capable of it.
#[derive(Clone, Copy)]
struct Capabilities {
    common: u32,
    /// MariaDB's further ones.
    more: u32,
}

/// What the handshake response and the request for TLS have in common.
fn response_head(capabilities: Capabilities) -> Vec<u8> {
    const RESERVED_BYTES: usize = 19;
    let mut out = Vec::with_capacity(32);
    out.extend_from_slice(&capabilities.common.to_le_bytes());
    out.extend_from_slice(&MAX_PACKET_BYTES.to_le_bytes());
    out.push(COLLATION);
    out.extend_from_slice(&[0; RESERVED_BYTES]);
    out.extend_from_slice(&capabilities.more.to_le_bytes());
    out
}

struct Authentication<'a> {
    login: &'a Login,
    challenge: Vec<u8>,
    method: Method,
    is_private: bool,
    /// Whether the server has asked for another method: it does so once.
    switched: bool,
}

impl<'a> Authentication<'a> {
    fn new(login: &'a Login, greeting: Greeting, is_private: bool) -> Self {
        Self {
            login,
            // A server whose accounts mostly use what we do not know asks again for the account at hand.
            method: Method::of_name(&greeting.method).unwrap_or(Method::Native),
            challenge: greeting.challenge,
            is_private,
            switched: false,
        }
    }

    fn carry_out(&mut self, link: &mut Link, capabilities: Capabilities) -> WireResult<()> {
        link.reply(&self.handshake_response(capabilities))?;
        loop {
            let payload = link.payload()?.to_vec();
            match payload.first() {
                Some(&OK) => {
                    link.status = packet::ok(&payload)?.status;
                    return Ok(());
                }
                Some(&ERROR) => return Err(self.refused(packet::error(&payload))),
                Some(&EOF) => self.switch(link, &payload[1..])?,
                Some(&MORE_DATA) => self.go_on(link, &payload[1..])?,
                Some(other) => return Err(violation(format!("byte {other:#04x} in answer to a login"))),
                None => return Err(violation("an empty packet in answer to a login".to_owned())),
            }
        }
    }

    fn handshake_response(&self, capabilities: Capabilities) -> Vec<u8> {
        let mut out = response_head(capabilities);
        let capabilities = capabilities.common;
        write_text(self.login.user.as_bytes(), &mut out);
        // All responses are shorter than what needs more than one byte of length.
        write_bytes(&self.response(), &mut out);
        if capabilities & capability::CONNECT_WITH_DB != 0 {
            write_text(self.login.database.as_bytes(), &mut out);
        }
        if capabilities & capability::PLUGIN_AUTH != 0 {
            write_text(self.method.name().as_bytes(), &mut out);
        }
        if capabilities & capability::CONNECT_ATTRS != 0 {
            let mut attributes = Vec::new();
            for text in ["_client_name", "dbversus-engine", "program_name", "dbversus"] {
                write_bytes(text.as_bytes(), &mut attributes);
            }
            write_bytes(&attributes, &mut out);
        }
        out
    }

    fn password(&self) -> &[u8] {
        self.login.password.as_deref().unwrap_or_default().as_bytes()
    }

    fn response(&self) -> Vec<u8> {
        self.method.response(self.password(), &self.challenge)
    }

    /// The account uses another method than the server had guessed.
    fn switch(&mut self, link: &mut Link, request: &[u8]) -> WireResult<()> {
        let mut body = Body(request);
        let name = body.text();
        self.method = Method::of_name(name).ok_or_else(|| {
            // Nothing at all is how a server asks for the hashes of MySQL 4.0.
            let name = if request.is_empty() {
                "mysql_old_password".into()
            } else {
                String::from_utf8_lossy(name)
            };
            other(format!(
                "the server asks for authentication by {name}; accepted are {}",
                Method::ACCEPTED
            ))
        })?;
        if std::mem::replace(&mut self.switched, true) {
            return Err(violation("the server changes the authentication twice".to_owned()));
        }
        self.challenge = body.0[..body.0.len().min(CHALLENGE_BYTES)].to_vec();
        link.reply(&self.response())
    }

    /// caching_sha2_password: either the server remembers the password's hash, or it wants the password itself.
    fn go_on(&mut self, link: &mut Link, data: &[u8]) -> WireResult<()> {
        const REMEMBERED: &[u8] = &[3];
        const TELL_ALL: &[u8] = &[4];
        match (self.method, data) {
            (Method::CachingSha2, REMEMBERED) => Ok(()),
            (Method::CachingSha2, TELL_ALL) => self.tell_all(link),
            _ => Err(violation("authentication packets out of order".to_owned())),
        }
    }

    fn tell_all(&self, link: &mut Link) -> WireResult<()> {
        const KEY_PLEASE: &[u8] = &[2];
        if self.is_private {
            let mut plain = self.password().to_vec();
            plain.push(0);
            return link.reply(&plain);
        }
        link.reply(KEY_PLEASE)?;
        let payload = link.payload()?;
        let encrypted = match payload.first() {
            Some(&MORE_DATA) => auth::encrypt(self.password(), &self.challenge, &payload[1..]).map_err(other)?,
            Some(&ERROR) => return Err(packet::error(payload)),
            _ => return Err(violation("authentication packets out of order".to_owned())),
        };
        link.reply(&encrypted)
    }

    /// The server's words, and what may be missing.
    fn refused(&self, error: WireError) -> WireError {
        let hint = match self.login.password {
            None if error.message.starts_with("ERROR 1045") => {
                "; a password is given by `password_env` or `password_file` in the address"
            }
            _ => "",
        };
        WireError {
            message: format!("{}{hint}", error.message),
            ..error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(version: &str, capabilities: u32, method: &str) -> Vec<u8> {
        let mut out = vec![PROTOCOL_VERSION];
        write_text(version.as_bytes(), &mut out);
        out.extend_from_slice(&7u32.to_le_bytes());
        out.extend_from_slice(b"abcdefgh\0");
        out.extend_from_slice(&capabilities.to_le_bytes()[..2]);
        out.extend_from_slice(&[8, 2, 0]);
        out.extend_from_slice(&capabilities.to_le_bytes()[2..]);
        out.push(21);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(b"ijklmnopqrst\0");
        if !method.is_empty() {
            write_text(method.as_bytes(), &mut out);
        }
        out
    }

    #[test]
    fn greetings_of_all_servers_are_understood() {
        let all = capability::WANTED | capability::SSL;
        for (version, method) in [
            ("5.5.9", "mysql_native_password"),
            ("8.0.31", "caching_sha2_password"),
            ("5.5.5-10.11.19-MariaDB-deb12", "mysql_native_password"),
        ] {
            let read = Greeting::read(&greeting(version, all, method)).unwrap();
            assert_eq!(read.challenge, b"abcdefghijklmnopqrst");
            assert_eq!((read.capabilities, read.method), (all, method.as_bytes().to_vec()));
        }
        let before_plugins = Greeting::read(&greeting("5.5.5", capability::REQUIRED, "")).unwrap();
        assert_eq!(before_plugins.method, b"mysql_native_password");
    }

    #[test]
    fn further_capabilities_are_those_of_a_mariadb_that_leaves_out_the_bit_of_mysql() {
        let with_more = |capabilities: u32| {
            let mut out = greeting("5.5.5-10.11.19-MariaDB", capabilities, "mysql_native_password");
            let at = out.len() - "ijklmnopqrst\0mysql_native_password\0".len() - 4;
            out[at..at + 4].copy_from_slice(&0x1d_u32.to_le_bytes());
            Greeting::read(&out).unwrap().more_capabilities
        };
        assert_eq!(with_more(capability::WANTED & !capability::MYSQL), 0x1d);
        assert_eq!(
            with_more(capability::WANTED),
            0,
            "of MySQL, nobody knows what stands there"
        );
    }

    #[test]
    fn further_capabilities_stand_at_the_end_of_what_is_reserved() {
        let head = response_head(Capabilities {
            common: capability::REQUIRED,
            more: capability::CACHE_METADATA,
        });
        assert_eq!((head.len(), &head[28..]), (32, &[16, 0, 0, 0][..]));
    }

    #[test]
    fn greetings_that_are_none_are_refused() {
        let whole = greeting("8.0.31", capability::WANTED, "caching_sha2_password");
        let needed = whole.len() - "caching_sha2_password\0".len() - 13;
        for length in 0..needed {
            assert!(Greeting::read(&whole[..length]).is_err(), "{length}");
        }
        let message = |payload: &[u8]| Greeting::read(payload).err().unwrap().message;
        assert!(message(b"\x09old").contains("greets with protocol 9; accepted is 10"));
        assert_eq!(message(b"\xff\x69\x04Host is blocked"), "ERROR 1129: Host is blocked");
        assert!(message(&greeting("4.0", 0, "")).contains("older than MySQL 5.5"));
    }
}
