//! From a connected socket to a session: start-up message, authentication, the backend's process id.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

use super::link::Link;
use super::message::{self, Body, violation};
use crate::wire::socket::ANSWER_TIMEOUT;
use crate::wire::{ErrorClass, Login, WireError, WireResult};

/// Logs in; gives the process id of the backend.
pub fn log_in(link: &mut Link, login: &Login) -> WireResult<Option<i32>> {
    link.set_read_timeout(Some(ANSWER_TIMEOUT));
    link.send(&startup_message(login))?;
    let mut backend = None;
    let mut scram = None;
    loop {
        let (kind, body) = link.message()?;
        match kind {
            b'R' => {
                let reply = authenticate(&mut Body(body), login, &mut scram)?;
                link.send(&reply)?;
            }
            b'K' => backend = Some(Body(body).i32()?),
            b'E' => return Err(message::error(body)),
            b'S' | b'N' => {}
            b'Z' => break,
            b'v' => return Err(violation("the server does not speak protocol 3.0".to_owned())),
            other => {
                return Err(violation(format!(
                    "unexpected message {:?} at start-up",
                    char::from(other)
                )));
            }
        }
    }
    link.set_read_timeout(None);
    Ok(backend)
}

fn startup_message(login: &Login) -> Vec<u8> {
    const PROTOCOL_3_0: u32 = 3 << 16;
    let settings = [
        ("user", login.user.as_str()),
        ("database", &login.database),
        ("client_encoding", "UTF8"),
        ("application_name", "dbversus"),
    ];
    let mut out = Vec::new();
    message::write_untyped(&mut out, |out| {
        out.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
        for (name, value) in settings {
            message::write_text(name.as_bytes(), out);
            message::write_text(value.as_bytes(), out);
        }
        out.push(0);
    });
    out
}

/// The reply to one authentication message; empty when none is due.
fn authenticate(body: &mut Body<'_>, login: &Login, scram: &mut Option<ScramSha256>) -> WireResult<Vec<u8>> {
    let mut reply = Vec::new();
    match body.i32()? {
        0 => {}
        3 => password_message(password(login)?.as_bytes(), &mut reply),
        5 => {
            let salt = [body.u8()?, body.u8()?, body.u8()?, body.u8()?];
            let hash = md5_hash(login.user.as_bytes(), password(login)?.as_bytes(), salt);
            password_message(hash.as_bytes(), &mut reply);
        }
        10 => scram_start(body, login, scram, &mut reply)?,
        11 => {
            let exchange = scram.as_mut().ok_or_else(out_of_order)?;
            exchange.update(body.0).map_err(refused)?;
            message::write(b'p', &mut reply, |out| out.extend_from_slice(exchange.message()));
        }
        12 => scram
            .as_mut()
            .ok_or_else(out_of_order)?
            .finish(body.0)
            .map_err(refused)?,
        other => {
            return Err(failed(format!(
                "the server asks for authentication of kind {other}; accepted are trust, password, md5 and scram-sha-256"
            )));
        }
    }
    Ok(reply)
}

fn scram_start(
    body: &mut Body<'_>,
    login: &Login,
    scram: &mut Option<ScramSha256>,
    reply: &mut Vec<u8>,
) -> WireResult<()> {
    let mut offered = Vec::new();
    while body.0.first().is_some_and(|&byte| byte != 0) {
        offered.push(String::from_utf8_lossy(body.text()?).into_owned());
    }
    if !offered.iter().any(|mechanism| mechanism == SCRAM_SHA_256) {
        return Err(failed(format!(
            "the server offers {}; accepted is {SCRAM_SHA_256}",
            offered.join(", ")
        )));
    }
    let exchange = scram.insert(ScramSha256::new(
        password(login)?.as_bytes(),
        ChannelBinding::unsupported(),
    ));
    message::write(b'p', reply, |out| {
        message::write_text(SCRAM_SHA_256.as_bytes(), out);
        out.extend_from_slice(&(exchange.message().len() as u32).to_be_bytes());
        out.extend_from_slice(exchange.message());
    });
    Ok(())
}

fn password_message(password: &[u8], out: &mut Vec<u8>) {
    message::write(b'p', out, |out| message::write_text(password, out));
}

fn password(login: &Login) -> WireResult<&str> {
    login.password.as_deref().ok_or_else(|| {
        failed("the server asks for a password; give `password_env` or `password_file` in the address".to_owned())
    })
}

fn out_of_order() -> WireError {
    violation("authentication messages out of order".to_owned())
}

fn refused(error: std::io::Error) -> WireError {
    failed(format!("authentication failed: {error}"))
}

fn failed(message: String) -> WireError {
    WireError {
        class: ErrorClass::Other,
        message,
    }
}
