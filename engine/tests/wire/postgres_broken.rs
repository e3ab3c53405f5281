//! The postgres wire against servers that break the protocol: clear errors, no panic, no memory taken on their word.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

use dbversus_engine::wire::{Connection, ErrorClass, WireResult, from_address};
use serde_json::json;

const LOGIN: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\x04\xd2\0\0\0\x01Z\0\0\0\x05I";

/// A server that answers the n-th read with the n-th script and then closes the connection.
struct Fake {
    directory: PathBuf,
    server: Option<JoinHandle<()>>,
}

impl Fake {
    fn new(script: Vec<Vec<u8>>) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("dbversus-fake-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let listener = UnixListener::bind(directory.join(".s.PGSQL.5432")).unwrap();
        let server = std::thread::spawn(move || serve(listener.accept().unwrap().0, &script));
        Self {
            directory,
            server: Some(server),
        }
    }

    fn connect(&self) -> WireResult<Box<dyn Connection>> {
        let address = json!({"socket_dir": self.directory, "user": "u", "database": "d"});
        from_address("postgres", &address, Vec::new()).unwrap().connect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn serve(mut socket: UnixStream, script: &[Vec<u8>]) {
    let mut request = [0; 1 << 16];
    for answer in script {
        if socket.read(&mut request).is_err() || socket.write_all(answer).is_err() {
            return;
        }
    }
}

/// The error of a query that is answered by `answer`.
fn query_error(answer: &[u8]) -> String {
    let fake = Fake::new(vec![LOGIN.to_vec(), answer.to_vec()]);
    let mut connection = fake.connect().unwrap();
    assert_eq!(connection.backend(), Some(1234));
    let error = connection.query("SELECT 1").unwrap_err();
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");
    error.message
}

fn connect_error(answer: &[u8]) -> String {
    Fake::new(vec![answer.to_vec()]).connect().err().unwrap().message
}

#[test]
fn broken_answers_are_lost_connections() {
    let cases: [(&[u8], &str); 8] = [
        (b"", "closed the connection"),
        (b"D\0\0", "closed the connection"),
        (b"D\0\0\0\x20\0\x01", "closed the connection"),
        (
            b"D\xff\xff\xff\xff\0\x01",
            "message 'D' says that it is 4294967295 bytes long",
        ),
        (b"C\0\0\0\x03", "message 'C' says that it is 3 bytes long"),
        (b"?\0\0\0\x04", "message '?' in answer to a query"),
        (b"T\0\0\0\x06\0\x05", "a message ends before its last field"),
        (
            b"D\0\0\0\x0a\0\x01\x7f\xff\xff\xff",
            "a message ends before its last field",
        ),
    ];
    for (answer, expected) in cases {
        let error = query_error(answer);
        assert!(error.contains(expected), "{answer:?}: {error}");
    }
}

#[test]
fn a_length_just_within_the_limit_takes_no_memory_until_the_bytes_come() {
    assert!(query_error(b"E\x3f\xff\xff\xffSERROR\0").contains("closed the connection"));
}

#[test]
fn broken_logins_name_the_server() {
    let cases: [(&[u8], &str); 6] = [
        (b"", "closed the connection"),
        (b"H", "closed the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "message 'H' says that it is"),
        (b"R\0\0\0\x08\0\0\0\x07", "authentication of kind 7; accepted are trust"),
        (b"R\0\0\0\x08\0\0\0\x0b", "authentication messages out of order"),
        (
            b"E\0\0\0\x20SFATAL\0C57P03\0Mstarting up\0\0",
            "FATAL 57P03: starting up",
        ),
    ];
    for (answer, expected) in cases {
        let error = connect_error(answer);
        assert!(
            error.contains(expected) && error.contains(".s.PGSQL.5432"),
            "{answer:?}: {error}"
        );
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let address = json!({"socket_dir": "/nonexistent", "user": "u", "database": "d"});
    let error = from_address("postgres", &address, Vec::new())
        .unwrap()
        .connect()
        .err()
        .unwrap();
    assert!(
        error
            .message
            .contains("cannot connect to /nonexistent/.s.PGSQL.5432: No such file"),
        "{error}"
    );
    let address = json!({"host": "127.0.0.1", "port": 1, "user": "u", "database": "d"});
    let error = from_address("postgres", &address, Vec::new())
        .unwrap()
        .connect()
        .err()
        .unwrap();
    assert!(
        error
            .message
            .contains("cannot connect to 127.0.0.1:1: Connection refused"),
        "{error}"
    );
}
