//! Errors of the server, in its own words and with the class that the drive loop has to know.

use super::packet::Body;
use crate::wire::{ErrorClass, WireError};

/// The server does not follow the protocol; the connection is of no use any more.
#[cold]
pub fn violation(what: String) -> WireError {
    WireError {
        class: ErrorClass::LostConnection,
        message: format!("broken MySQL protocol: {what}"),
    }
}

pub fn other(message: String) -> WireError {
    WireError {
        class: ErrorClass::Other,
        message,
    }
}

/// Reads an ERR packet.
#[cold]
pub fn read(payload: &[u8]) -> WireError {
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

fn classify(code: u16) -> ErrorClass {
    match code {
        // ER_LOCK_DEADLOCK, ER_XA_RBDEADLOCK
        1213 | 1614 => ErrorClass::Deadlock,
        // ER_LOCK_WAIT_TIMEOUT, ER_XA_RBTIMEOUT, ER_LOCK_NOWAIT
        1205 | 1613 | 3572 => ErrorClass::LockTimeout,
        // ER_CHECKREAD, ER_TRANSACTION_ROLLBACK_DURING_COMMIT
        1020 | 3101 => ErrorClass::Serialization,
        // ER_DUP_KEY, ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME, ER_DUP_UNKNOWN_IN_INDEX
        1022 | 1062 | 1586 | 1859 => ErrorClass::DuplicateKey,
        // ER_SERVER_SHUTDOWN, ER_NORMAL_SHUTDOWN, ER_SHUTDOWN_COMPLETE, ER_FORCING_CLOSE, ER_ABORTING_CONNECTION,
        // ER_NET_*, ER_NEW_ABORTING_CONNECTION, ER_CONNECTION_KILLED, ER_SERVER_ISNT_AVAILABLE,
        // ER_CLIENT_INTERACTION_TIMEOUT; and what a client would call it: CR_SERVER_GONE_ERROR, CR_SERVER_LOST
        1053 | 1077 | 1079 | 1080 | 1152 | 1156..=1161 | 1184 | 1927 | 3168 | 4031 | 2006 | 2013 => {
            ErrorClass::LostConnection
        }
        _ => ErrorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_the_servers_words_and_get_a_class() {
        let error = read(b"\xff\xbd\x04#40001Deadlock found");
        assert_eq!(error.class, ErrorClass::Deadlock);
        assert_eq!(error.message, "ERROR 1213 (40001): Deadlock found");
        assert_eq!(read(b"\xff\x10\x04Too many").message, "ERROR 1040: Too many");
        for (code, class) in [
            (1205, ErrorClass::LockTimeout),
            (3572, ErrorClass::LockTimeout),
            (1020, ErrorClass::Serialization),
            (1062, ErrorClass::DuplicateKey),
            (1053, ErrorClass::LostConnection),
            (1927, ErrorClass::LostConnection),
            (2013, ErrorClass::LostConnection),
            (1317, ErrorClass::Other),
            (1146, ErrorClass::Other),
        ] {
            assert_eq!(classify(code), class, "{code}");
        }
    }

    #[test]
    fn errors_that_end_too_early_are_errors_all_the_same() {
        for payload in [&b"\xff"[..], b"\xff\x01"] {
            assert!(read(payload).message.contains("an error without a code"));
        }
        assert_eq!(read(b"\xff\x01\x04#40").message, "ERROR 1025: #40");
    }
}
