//! Parsing of commands. Whatever is wrong with one is told by naming the field and what is accepted.

use std::time::Duration;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::account::{AccountSpec, DiskSpec};
use crate::drive::check::CheckSpec;
use crate::drive::contender::drain::DrainSpec;
use crate::drive::contender::freeze::FreezeSpec;
use crate::drive::data::load::LoadSpec;
use crate::drive::data::script::ScriptSpec;
use crate::drive::part::PartSpec;
use crate::drive::test::OpenSpec;
use crate::drive::trouble::Failure;

/// One command of docs/engine-protocol.md.
#[derive(Debug)]
pub enum Command {
    Hello,
    Target(TargetSpec),
    Drop(OneTarget),
    Query(QuerySpec),
    Prepare(PrepareSpec),
    Load(LoadSpec),
    Script(ScriptSpec),
    Open(OpenSpec),
    Check(CheckSpec),
    Rows(RowsSpec),
    Drain(DrainSpec),
    Close,
    Freeze(ManyTargets),
    Thaw(ManyTargets),
    Quit,
}

const NAMES: &str =
    "hello, target, drop, query, prepare, load, script, open, check, rows, drain, close, freeze, thaw, quit";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    pub name: String,
    pub wire: String,
    pub address: Value,
    #[serde(default)]
    pub session_sql: Vec<String>,
    #[serde(default)]
    pub account: Option<AccountSpec>,
    #[serde(default)]
    pub disk: Option<DiskSpec>,
    #[serde(default)]
    pub freeze: Option<FreezeSpec>,
    /// Its tables are as they were when a target of that name was dropped: what was appended to them still counts.
    #[serde(default)]
    pub goes_on: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneTarget {
    pub target: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManyTargets {
    pub targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuerySpec {
    pub target: String,
    pub sql: String,
    /// Tells what is counted of each statement, which may take so long.
    #[serde(default, deserialize_with = "limit")]
    pub counted_s: Option<Duration>,
}

fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let seconds = f64::deserialize(from)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) => Ok(Some(limit)),
        Err(_) => Err(D::Error::custom(format!("{seconds} is no number of seconds"))),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrepareSpec {
    pub target: String,
    pub sql: String,
    pub times: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsSpec {
    #[serde(default)]
    pub tag: Value,
    pub seed: u64,
    #[serde(default)]
    pub first_row: u64,
    pub orders: Vec<Vec<String>>,
    pub settle: PartSpec,
    /// Of a target that had the last turn, too; without it, as any other.
    pub settle_again: Option<PartSpec>,
    pub slot: PartSpec,
    #[serde(default)]
    pub series: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// The command's id, as far as one can be read, and the command.
pub fn parse(line: &[u8]) -> (Option<Value>, Result<Command, Failure>) {
    match serde_json::from_slice(line) {
        Ok(Value::Object(mut fields)) => {
            let id = fields.remove("id");
            (id, command(fields).map_err(Failure::usage))
        }
        Ok(_) => (None, Err(Failure::usage("a command is a JSON object on one line"))),
        Err(error) => (
            None,
            Err(Failure::usage(format!(
                "a command is a JSON object on one line: {error}"
            ))),
        ),
    }
}

fn command(mut fields: Map<String, Value>) -> Result<Command, String> {
    let name = match fields.remove("cmd") {
        Some(Value::String(name)) => name,
        Some(other) => return Err(format!("`cmd` is {other}; accepted are {NAMES}")),
        None => return Err(format!("`cmd` is missing; accepted are {NAMES}")),
    };
    let parsed = match name.as_str() {
        "hello" => nothing(fields).map(|()| Command::Hello),
        "target" => body(fields).map(Command::Target),
        "drop" => body(fields).map(Command::Drop),
        "query" => body(fields).map(Command::Query),
        "prepare" => body(fields).map(Command::Prepare),
        "load" => body(fields).map(Command::Load),
        "script" => body(fields).map(Command::Script),
        "open" => body(fields).map(Command::Open),
        "check" => body(fields).map(Command::Check),
        "rows" => body(fields).map(Command::Rows),
        "drain" => body(fields).map(Command::Drain),
        "close" => nothing(fields).map(|()| Command::Close),
        "freeze" => body(fields).map(Command::Freeze),
        "thaw" => body(fields).map(Command::Thaw),
        "quit" => nothing(fields).map(|()| Command::Quit),
        _ => return Err(format!("`cmd` is {name:?}; accepted are {NAMES}")),
    };
    parsed.map_err(|message| format!("{name}: {message}"))
}

fn nothing(fields: Map<String, Value>) -> Result<(), String> {
    body::<Nothing>(fields).map(|Nothing {}| ())
}

fn body<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let path = error.path().to_string();
        // Without a path the message itself names the field.
        if path == "." {
            error.into_inner().to_string()
        } else {
            format!("`{path}`: {}", error.into_inner())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(line: &str) -> String {
        parse(line.as_bytes()).1.unwrap_err().message
    }

    #[test]
    fn wrong_commands_are_told_what_is_accepted() {
        for (line, expected) in [
            ("{", "a command is a JSON object on one line"),
            ("[1]", "a command is a JSON object on one line"),
            ("{}", "`cmd` is missing; accepted are hello, target"),
            (r#"{"cmd": 5}"#, "`cmd` is 5; accepted are hello"),
            (r#"{"cmd": "fly"}"#, "`cmd` is \"fly\"; accepted are hello"),
            (r#"{"cmd": "close", "now": true}"#, "close: `now`: unknown field `now`"),
            (r#"{"cmd": "drop"}"#, "drop: missing field `target`"),
            (
                r#"{"cmd": "drain", "target": "a", "limit_s": 2}"#,
                "drain: `limit_s`: unknown field `limit_s`",
            ),
            (
                r#"{"cmd": "query", "target": "a", "sql": 5}"#,
                "query: `sql`: invalid type: integer `5`, expected a string",
            ),
            (
                r#"{"cmd": "freeze", "targets": [1]}"#,
                "freeze: `targets[0]`: invalid type",
            ),
            (
                r#"{"cmd": "rows", "seed": 1, "orders": [], "settle": {"ms": -5}, "slot": {"ms": 5}}"#,
                "rows: `settle",
            ),
            (
                r#"{"cmd": "target", "name": "a", "wire": "null", "address": {}, "freeze": {"kind": "ice"}}"#,
                "unknown variant `ice`, expected one of `v1`, `v2`, `signal`, `none`",
            ),
        ] {
            assert!(message(line).contains(expected), "{line}: {}", message(line));
        }
    }

    #[test]
    fn the_id_is_known_even_when_the_command_is_wrong() {
        let (id, command) = parse(br#"{"id": {"a": 1}, "cmd": "fly"}"#);
        assert_eq!(id, Some(serde_json::json!({"a": 1})));
        assert!(command.is_err());
        assert!(matches!(parse(br#"{"cmd": "quit"}"#), (None, Ok(Command::Quit))));
    }
}
