//! The postgres wire against conversations that are broken at random.

#[path = "support/broken.rs"]
mod broken;
#[path = "support/conversation.rs"]
mod conversation;

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use broken::hold_broken;
use conversation::{Heard, program, talk};
use dbversus_engine::drive::lane::Lane;
use dbversus_engine::wire::postgres::connect_over;
use dbversus_engine::wire::{Connection, ErrorClass, Login, WireResult};
use dbversus_engine::workload::{Mode, Part, Scratch, Stream};
use serde_json::json;

const INT4: u32 = 23;
const FLOAT8: u32 = 701;
const TEXT: u32 = 25;

/// What a PostgreSQL server sends, message by message.
#[derive(Default)]
struct Script(Vec<u8>);

impl Script {
    fn message(&mut self, kind: u8, body: &[u8]) -> &mut Self {
        self.0.push(kind);
        self.0.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        self.0.extend_from_slice(body);
        self
    }

    fn columns(&mut self, columns: &[(&str, u32)]) -> &mut Self {
        let mut body = (columns.len() as u16).to_be_bytes().to_vec();
        for (name, type_oid) in columns {
            body.extend_from_slice(name.as_bytes());
            body.extend_from_slice(&[0; 7]);
            body.extend_from_slice(&type_oid.to_be_bytes());
            body.extend_from_slice(&[0, 4, 0xff, 0xff, 0xff, 0xff, 0, 0]);
        }
        self.message(b'T', &body)
    }

    fn row(&mut self, values: &[Option<&str>]) -> &mut Self {
        let mut body = (values.len() as u16).to_be_bytes().to_vec();
        for value in values {
            let length = value.map_or(-1, |value| value.len() as i32);
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(value.unwrap_or_default().as_bytes());
        }
        self.message(b'D', &body)
    }

    fn done(&mut self, tag: &str) -> &mut Self {
        self.message(b'C', &[tag.as_bytes(), b"\0"].concat())
    }

    fn ready(&mut self, transaction: u8) -> &mut Self {
        self.message(b'Z', &[transaction])
    }

    /// The answer to Parse and Describe of a statement.
    fn parsed(&mut self, parameters: &[u32], columns: &[(&str, u32)]) -> &mut Self {
        let mut types = (parameters.len() as u16).to_be_bytes().to_vec();
        parameters
            .iter()
            .for_each(|one| types.extend_from_slice(&one.to_be_bytes()));
        self.message(b'1', b"").message(b't', &types);
        match columns {
            [] => self.message(b'n', b""),
            columns => self.columns(columns),
        };
        self.ready(b'I')
    }

    fn cleared(&mut self) -> &mut Self {
        self.done("DEALLOCATE ALL")
            .ready(b'I')
            .parsed(&[], &[])
            .parsed(&[], &[])
    }
}

/// All that `talk` asks for, answered.
fn answers(script: &mut Script) {
    let columns = [("a", INT4), ("b", TEXT)];
    script.cleared().parsed(&[], &columns);
    script.message(b'2', b"").done("BEGIN").ready(b'T');
    for _ in 0..2 {
        script
            .message(b'2', b"")
            .row(&[Some("5"), Some("ab")])
            .row(&[None, Some("7")]);
        script
            .message(b'N', b"SNOTICE\0C00000\0Mhello\0\0")
            .done("SELECT 2")
            .ready(b'T');
    }
    script
        .columns(&columns)
        .row(&[Some("5"), None])
        .done("SELECT 1")
        .ready(b'T');
    script.message(b'2', b"").done("COMMIT").ready(b'I');
    script.columns(&[("a", INT4)]).row(&[Some("1")]).done("SELECT 1");
    script
        .columns(&[("b", INT4)])
        .row(&[Some("2")])
        .done("SELECT 1")
        .ready(b'I');
    script.message(b'G', b"\0\0\x01\0\0").done("COPY 2").ready(b'I');
}

/// What `hold` asks for besides: data of the user's, a statement that is refused, and values that another needs.
fn more_answers(script: &mut Script) {
    script.message(b'S', b"TimeZone\0UTC\0");
    script.message(b'G', b"\0\0\x01\0\0").done("COPY 2").ready(b'I');
    script
        .message(b'E', b"SERROR\0C42P01\0Mno such table\0Dnone\0Hmake it\0\0")
        .ready(b'I');
    let columns = [("n", INT4), ("ratio", FLOAT8), ("name", TEXT)];
    script
        .cleared()
        .parsed(&[], &columns)
        .parsed(&[INT4, FLOAT8, TEXT], &[]);
    script
        .message(b'2', b"")
        .columns(&columns)
        .row(&[Some("10"), Some("1e20"), Some("x")]);
    script.row(&[None, None, None]).done("SELECT 2").ready(b'I');
    script.message(b'2', b"").done("INSERT 0 1").ready(b'I');
}

/// `asked`: how the server asks for a password, if it does.
fn conversation(asked: &[u8]) -> Vec<u8> {
    let mut script = Script(asked.to_vec());
    script
        .message(b'R', &[0; 4])
        .message(b'S', b"server_version\x0017.11\0");
    script.message(b'K', b"\0\0\x12\x67\0\0\0\x01").ready(b'I');
    answers(&mut script);
    more_answers(&mut script);
    script.0
}

fn conversations() -> [Vec<u8>; 3] {
    [
        conversation(b""),
        conversation(b"R\0\0\0\x0c\0\0\0\x05salt"),
        conversation(b"R\0\0\0\x08\0\0\0\x03"),
    ]
}

/// Talks to a recording of a server.
fn hold(sent: Vec<u8>) -> WireResult<Heard> {
    let login = Login {
        user: "u".to_owned(),
        database: "d".to_owned(),
        password: Some("p".to_owned()),
    };
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&sent).unwrap();
    theirs.shutdown(Shutdown::Write).unwrap();
    let mut connection = connect_over(ours, &login)?;
    let heard = talk(&mut *connection)?;
    connection.copy_in(b"COPY t FROM STDIN", &mut &b"1\n2\n"[..])?;
    match connection.query("SELECT * FROM nothing") {
        Err(error) if error.class == ErrorClass::LostConnection => return Err(error),
        _ => pass_values_on(&mut *connection)?,
    }
    Ok(heard)
}

fn pass_values_on(connection: &mut dyn Connection) -> WireResult<()> {
    let of = |name: &str| json!({"gen": "ref", "of": name});
    let program = program(json!({"name": "kept", "transaction": false, "statements": [
        {"name": "read", "sql": "SELECT n, ratio, name FROM t", "keep": ["n", "ratio", "name"]},
        {"name": "use", "sql": "INSERT INTO c VALUES (:n, :ratio, :name)",
         "params": {"n": of("n"), "ratio": of("ratio"), "name": of("name")}}]}));
    connection.prepare(&program, Mode::Prepared)?;
    let mut scratch = Scratch::new(&program);
    Lane::new(&program, connection, &mut scratch, Stream::new(1, 0, 0, Part::Slot)).run_event()
}

#[test]
fn sound_conversations_go_well_to_their_end() {
    for bytes in conversations() {
        let heard = hold(bytes).unwrap();
        assert_eq!(heard.backend, Some(4711));
        assert_eq!((heard.tally.statements, heard.tally.rows), (5, 5));
        assert_eq!(heard.values, ["5", "ab", "-", "7", "5", "-"]);
        assert_eq!(heard.columns, ["b"]);
    }
}

#[test]
fn broken_conversations_end_with_an_error_or_go_on() {
    hold_broken(&conversations(), hold);
}

#[test]
fn broken_proofs_of_passwords_end_with_an_error() {
    let mut script = Script::default();
    script.message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    script.message(b'R', b"\0\0\0\x0br=nonce,s=c2FsdA==,i=4096");
    script.message(b'R', b"\0\0\0\x0cv=cHJvb2Y=");
    let error = hold(script.0.clone()).unwrap_err();
    assert!(error.message.contains("authentication failed"), "{error}");
    hold_broken(&[script.0], hold);
}
