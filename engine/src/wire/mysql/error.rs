//! Errors of the mysql wire, and what the error codes of servers mean to the drive loop.

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

pub fn classify(code: u16) -> ErrorClass {
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
    fn error_codes_have_a_class() {
        for (code, class) in [
            (1213, ErrorClass::Deadlock),
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
}
