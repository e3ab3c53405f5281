//! Running a script that somebody else has cut into statements: each is a range of bytes of its file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::drive::trouble::Failure;
use crate::wire::{Connection, ErrorClass, WireError};

/// Statements to be run (docs/engine-protocol.md, `script`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpec {
    pub target: String,
    pub file: PathBuf,
    pub pieces: Vec<Piece>,
    /// The connection is kept for a next command.
    #[serde(default)]
    pub more: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    pub sql: Range,
    /// What goes to a `COPY … FROM STDIN`.
    #[serde(default)]
    pub data: Option<Range>,
}

/// Offset and length in bytes.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Range(u64, u64);

/// `failed`: the server's words for the statement after the `done_pieces` that went well.
#[derive(Debug, Serialize)]
pub struct Ran {
    pub done_pieces: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Runs the pieces one after another until the server refuses one.
pub fn run(connection: &mut dyn Connection, spec: &ScriptSpec) -> Result<Ran, Failure> {
    let unreadable = |error: io::Error| Failure::io(format!("{}: {error}", spec.file.display()));
    let mut script = Script::open(&spec.file).map_err(unreadable)?;
    for (done_pieces, piece) in spec.pieces.iter().enumerate() {
        let sql = script.read(piece.sql).map_err(unreadable)?;
        let result = match piece.data {
            None => connection.run_raw(&sql),
            Some(range) => connection.copy_in(&sql, &mut script.part(range).map_err(unreadable)?),
        };
        if let Err(error) = result {
            return refused(done_pieces, error);
        }
    }
    Ok(Ran {
        done_pieces: spec.pieces.len(),
        failed: None,
    })
}

fn refused(done_pieces: usize, error: WireError) -> Result<Ran, Failure> {
    if error.class == ErrorClass::LostConnection {
        return Err(Failure::statement(error));
    }
    Ok(Ran {
        done_pieces,
        failed: Some(error.message),
    })
}

struct Script(File);

impl Script {
    fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    fn read(&mut self, range: Range) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.part(range)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn part(&mut self, Range(offset, length): Range) -> io::Result<impl Read> {
        self.0.seek(SeekFrom::Start(offset))?;
        Ok((&mut self.0).take(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::from_address;
    use serde_json::json;

    /// A file with `text`, its pieces, and a SQLite database to run them on.
    fn ran(text: &str, pieces: serde_json::Value) -> (Ran, Vec<Vec<Option<String>>>) {
        let folder = std::env::temp_dir().join(format!("dbversus-script-{}-{}", std::process::id(), text.len()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("script.sql");
        std::fs::write(&file, text).unwrap();
        let wire = from_address("sqlite", &json!({"path": folder.join("x.db")}), Vec::new()).unwrap();
        let mut connection = wire.connect().unwrap();
        let spec = serde_json::from_value(json!({"target": "t", "file": file, "pieces": pieces})).unwrap();
        let ran = run(connection.as_mut(), &spec).unwrap();
        let rows = connection.query("SELECT count(*) FROM sqlite_master").unwrap().rows;
        std::fs::remove_dir_all(folder).unwrap();
        (ran, rows)
    }

    #[test]
    fn pieces_are_run_until_one_is_refused() {
        let pieces = json!([{"sql": [0, 18]}, {"sql": [20, 4]}, {"sql": [26, 18]}]);
        let (ran, rows) = ran("CREATE TABLE a (x); NOPE; CREATE TABLE b (x);", pieces);
        assert_eq!(ran.done_pieces, 1);
        assert!(ran.failed.unwrap().contains("syntax error"));
        assert_eq!(rows, [[Some("1".to_owned())]]);
    }

    #[test]
    fn only_postgresql_copies() {
        let (ran, _) = ran("COPY a FROM stdin", json!([{"sql": [0, 17], "data": [0, 4]}]));
        assert!(ran.failed.unwrap().contains("PostgreSQL alone"));
    }
}
