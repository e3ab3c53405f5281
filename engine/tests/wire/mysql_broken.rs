//! The mysql wire against servers that stall, lie, break the protocol or send more than fits into one packet.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::mysql_script::{OK, Script, VAR_STRING};
use dbversus_engine::wire::{Connection, ErrorClass, RowSink, Tally, WireResult, from_address};
use dbversus_engine::workload::{Mode, Params, Program, TestDefinition};
use serde_json::json;

/// What the server does next.
enum Step {
    Send(Vec<u8>),
    /// Waits for the client to have sent something.
    Receive,
    Pause,
}

/// A server that takes these steps and then closes the connection.
struct Fake {
    directory: PathBuf,
    server: Option<JoinHandle<()>>,
}

impl Fake {
    fn new(steps: Vec<Step>) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("dbversus-fake-mysql-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let listener = UnixListener::bind(directory.join("s")).unwrap();
        let server = std::thread::spawn(move || serve(listener.accept().unwrap().0, steps));
        Self {
            directory,
            server: Some(server),
        }
    }

    /// One that lets the client in, does not know its own threads, and answers the first command like this.
    fn answering(answer: Vec<u8>) -> Self {
        let mut steps = let_in("mysql_native_password");
        steps.extend([Step::Receive, Step::Send(answer)]);
        Self::new(steps)
    }

    fn connect(&self) -> WireResult<Box<dyn Connection>> {
        let address = json!({"socket": self.directory.join("s"), "user": "u", "database": "d"});
        from_address("mysql", &address, Vec::new()).unwrap().connect()
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

fn serve(mut socket: UnixStream, steps: Vec<Step>) {
    let mut request = vec![0; 1 << 16];
    for step in steps {
        let went_well = match step {
            Step::Send(bytes) => socket.write_all(&bytes).is_ok(),
            Step::Receive => socket.read(&mut request).is_ok_and(|length| length > 0),
            Step::Pause => {
                std::thread::sleep(Duration::from_millis(50));
                true
            }
        };
        if !went_well {
            return;
        }
    }
}

fn let_in(method: &str) -> Vec<Step> {
    let greeting = Script::new(true, method).bytes;
    let mut steps = vec![Step::Send(greeting), Step::Receive, Step::Send(packet(2, OK))];
    for _thread_query in 0..2 {
        steps.extend([
            Step::Receive,
            Step::Send(packet(1, b"\xff\x1e\x04#42S22Unknown column")),
        ]);
    }
    steps
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    bytes.push(sequence);
    bytes.extend_from_slice(payload);
    bytes
}

fn lost(answer: Vec<u8>) -> String {
    let fake = Fake::answering(answer);
    let mut connection = fake.connect().unwrap();
    assert_eq!(connection.backend(), None);
    let error = connection.query("SELECT 1").unwrap_err();
    assert_eq!(error.class, ErrorClass::LostConnection, "{error}");
    assert_eq!(
        connection.query("SELECT 1").unwrap_err().class,
        ErrorClass::LostConnection
    );
    error.message
}

#[test]
fn broken_answers_are_lost_connections() {
    let column = Script::new(true, "").bytes.len();
    let mut script = Script::new(true, "");
    script.answer().packet(&[2]);
    script.definitions(&[("a", VAR_STRING)]);
    let one_column_of_two = script.bytes[column..].to_vec();
    let cases = [
        (Vec::new(), "closed the connection"),
        (b"\x01\0".to_vec(), "closed the connection"),
        (one_column_of_two, "closed the connection"),
        (b"\xff\xff\xff\x01\x01".to_vec(), "closed the connection"),
        (packet(1, b""), "an empty packet"),
        (packet(3, OK), "packet 3 where 1 is due"),
        (packet(1, b"\0\0"), "a packet ends before its last field"),
        (packet(1, b"\xfbfile"), "asks for a file"),
        (packet(1, b"\xff"), "an error without a code"),
        (
            packet(1, b"\xff\x1d\x04#08S01Server shutdown"),
            "ERROR 1053 (08S01): Server shutdown",
        ),
        (
            packet(0, b"\xff\x87\x07#70100Connection was killed"),
            "ERROR 1927 (70100): Connection was killed",
        ),
        (
            [packet(1, b"\x01"), packet(2, b"\xfe\0\0\0\0")].concat(),
            "byte 0xfe where a column is due",
        ),
        (
            [packet(1, b"\x01"), packet(2, b"\x03de")].concat(),
            "a packet ends before its last field",
        ),
    ];
    for (answer, expected) in cases {
        let error = lost(answer.clone());
        assert!(error.contains(expected), "{answer:?}: {error}");
    }
}

#[test]
fn broken_logins_name_the_server() {
    let greeting = || Step::Send(Script::new(true, "mysql_native_password").bytes);
    let reply = |payload: &[u8]| vec![greeting(), Step::Receive, Step::Send(packet(2, payload))];
    let cases = [
        (vec![], "closed the connection"),
        (
            vec![Step::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())],
            "packet 80 where 0 is due",
        ),
        (
            vec![Step::Send(packet(0, b"\xff\x10\x04Too many connections"))],
            "ERROR 1040: Too many connections",
        ),
        (
            vec![Step::Send(packet(0, b"\x09 5.0"))],
            "greets with protocol 9; accepted is 10",
        ),
        (vec![greeting(), Step::Receive], "closed the connection"),
        (reply(b""), "an empty packet"),
        (reply(b"\x05"), "byte 0x05 in answer to a login"),
        (
            reply(b"\xfesha256_password\0abc"),
            "authentication by sha256_password; accepted are mysql_native_password and caching_sha2_password",
        ),
        (reply(b"\xfe"), "authentication by mysql_old_password; accepted are"),
        (reply(b"\x01\x04"), "authentication packets out of order"),
        (
            reply(b"\xff\x15\x04#28000Access denied for user 'u'"),
            "Access denied for user 'u'; a password is given by `password_env` or `password_file`",
        ),
    ];
    for (steps, expected) in cases {
        let fake = Fake::new(steps);
        let error = fake.connect().err().unwrap().message;
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(
            error.starts_with("cannot log in to ") && error.contains("/s: "),
            "{error}"
        );
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    for (address, expected) in [
        (
            json!({"socket": "/nonexistent/s", "user": "u", "database": "d"}),
            "cannot connect to /nonexistent/s: No such file",
        ),
        (
            json!({"host": "127.0.0.1", "port": 1, "user": "u", "database": "d"}),
            "cannot connect to 127.0.0.1:1: Connection refused",
        ),
    ] {
        let error = from_address("mysql", &address, Vec::new())
            .unwrap()
            .connect()
            .err()
            .unwrap();
        assert!(error.message.contains(expected), "{error}");
    }
}

/// Lengths and first bytes of the values.
#[derive(Default)]
struct Lengths(Vec<(usize, u8)>);

impl RowSink for Lengths {
    fn row(&mut self, values: &[Option<&[u8]>]) {
        self.0
            .extend(values.iter().flatten().map(|value| (value.len(), value[0])));
    }
}

/// Values around the size of the largest packet, in one answer of pieces that come with pauses.
#[test]
fn rows_of_several_packets_are_put_together() {
    const LARGEST: usize = 0xff_ffff;
    // The first row fills one packet to the last byte.
    let long = [LARGEST - 9, LARGEST, 2 * LARGEST + 5];
    let row = |&length: &usize| {
        // A length of 8 bytes starts with the byte that ends the rows.
        let mut row = vec![0xfe];
        row.extend_from_slice(&(length as u64).to_le_bytes());
        row.resize(row.len() + length, b'x');
        row
    };
    let rows: Vec<Vec<u8>> = long.iter().map(row).chain([b"\x03abc".to_vec()]).collect();
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    for deprecate_eof in [true, false] {
        let mut script = Script::new(deprecate_eof, "mysql_native_password");
        let greeting = std::mem::take(&mut script.bytes);
        script.answer().result(&[("a", VAR_STRING)], &rows, 2);
        let answer = script.bytes;
        let mut steps = let_in("mysql_native_password");
        steps[0] = Step::Send(greeting);
        for _ in 0..2 {
            let (first, second) = answer.split_at(LARGEST + 20);
            steps.extend([
                Step::Receive,
                Step::Send(first.to_vec()),
                Step::Pause,
                Step::Send(second.to_vec()),
            ]);
        }
        let fake = Fake::new(steps);
        let mut connection = fake.connect().unwrap();
        let test = json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT 1", "mode": "text"}]});
        let test: TestDefinition = serde_json::from_value(test).unwrap();
        connection
            .prepare(&Program::compile(&test, 1, 1).unwrap(), Mode::Prepared)
            .unwrap();
        let (mut tally, mut lengths) = (Tally::default(), Lengths::default());
        connection.execute(0, 1, &Params::new(), &mut tally).unwrap();
        connection
            .execute_checked(0, 1, &Params::new(), &mut tally, &mut lengths)
            .unwrap();
        assert_eq!((tally.statements, tally.rows), (2, 8));
        let long = long.map(|length| (length, b'x'));
        assert_eq!(lengths.0, [&long[..], &[(3, b'a')]].concat());
    }
}
