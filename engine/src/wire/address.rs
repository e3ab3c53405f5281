//! From an address as received (docs/engine-protocol.md, `target`) to a wire.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::mysql::{MysqlWire, TlsMode};
use super::null::NullWire;
use super::postgres::PostgresWire;
use super::socket::Endpoint;
use super::sqlite::SqliteWire;
use super::{Login, Wire};

/// The wires there are, as `hello` names them.
pub const WIRES: [&str; 4] = ["mysql", "null", "postgres", "sqlite"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PostgresAddress {
    socket_dir: Option<PathBuf>,
    host: Option<String>,
    #[serde(default = "default_postgres_port")]
    port: u16,
    user: String,
    database: String,
    password_env: Option<String>,
    password_file: Option<PathBuf>,
    /// Every execution asks what columns the result has and integers go as text, as sysbench does through libpq.
    #[serde(default)]
    like_libpq: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MysqlAddress {
    socket: Option<PathBuf>,
    host: Option<String>,
    #[serde(default = "default_mysql_port")]
    port: u16,
    user: String,
    database: String,
    password_env: Option<String>,
    password_file: Option<PathBuf>,
    tls: Option<TlsMode>,
    /// Columns of prepared statements are told only when they change: MariaDB 10.6 and later.
    #[serde(default)]
    cache_metadata: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SqliteAddress {
    path: String,
    #[serde(default = "default_library")]
    library: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NullAddress {
    #[serde(default = "default_reply_bytes")]
    reply_bytes: usize,
}

const MAX_REPLY_BYTES: usize = 1 << 30;

fn default_postgres_port() -> u16 {
    5432
}
fn default_mysql_port() -> u16 {
    3306
}
fn default_library() -> String {
    "bundled".to_owned()
}
fn default_reply_bytes() -> usize {
    200
}

/// Makes a wire that runs `session_sql` on every new connection; does not connect. Errors are sentences that name the
/// field and what is accepted.
pub fn from_address(wire: &str, address: &Json, session_sql: Vec<String>) -> Result<Box<dyn Wire>, String> {
    match wire {
        "mysql" => mysql(parse(address, wire)?, session_sql),
        "postgres" => postgres(parse(address, wire)?, session_sql),
        "sqlite" => sqlite(&parse(address, wire)?, session_sql),
        "null" => null(&parse(address, wire)?),
        _ => Err(format!("`wire` is {wire:?}; accepted are {}", WIRES.join(", "))),
    }
}

fn parse<T: DeserializeOwned>(address: &Json, wire: &str) -> Result<T, String> {
    T::deserialize(address).map_err(|error| format!("`address` of a {wire} target: {error}"))
}

fn postgres(address: PostgresAddress, session_sql: Vec<String>) -> Result<Box<dyn Wire>, String> {
    let endpoint = match (address.socket_dir, address.host) {
        (Some(directory), None) => Endpoint::Unix {
            path: directory.join(format!(".s.PGSQL.{}", address.port)),
        },
        (None, Some(host)) => Endpoint::Tcp {
            host,
            port: address.port,
        },
        _ => return Err("`address` of a postgres target: accepted is either `socket_dir` or `host`".to_owned()),
    };
    let login = Login {
        user: address.user,
        database: address.database,
        password: password(address.password_env, address.password_file)?,
    };
    Ok(Box::new(PostgresWire {
        endpoint,
        like_libpq: address.like_libpq,
        login,
        session_sql,
    }))
}

fn mysql(address: MysqlAddress, session_sql: Vec<String>) -> Result<Box<dyn Wire>, String> {
    // What nobody can listen to need not be encrypted.
    let (endpoint, default_tls) = match (address.socket, address.host) {
        (Some(path), None) => (Endpoint::Unix { path }, TlsMode::Off),
        (None, Some(host)) => (
            Endpoint::Tcp {
                host,
                port: address.port,
            },
            TlsMode::Preferred,
        ),
        _ => return Err("`address` of a mysql target: accepted is either `socket` or `host`".to_owned()),
    };
    let login = Login {
        user: address.user,
        database: address.database,
        password: password(address.password_env, address.password_file)?,
    };
    Ok(Box::new(MysqlWire {
        endpoint,
        tls: address.tls.unwrap_or(default_tls),
        cache_metadata: address.cache_metadata,
        login,
        session_sql,
    }))
}

fn password(env: Option<String>, file: Option<PathBuf>) -> Result<Option<String>, String> {
    match (env, file) {
        (None, None) => Ok(None),
        (Some(name), None) => std::env::var(&name)
            .map(Some)
            .map_err(|_| format!("`password_env` names {name:?}, which is not set in the engine's environment")),
        (None, Some(path)) => std::fs::read_to_string(&path)
            .map(|text| Some(text.trim_end_matches(['\r', '\n']).to_owned()))
            .map_err(|error| format!("`password_file` {}: {error}", path.display())),
        (Some(_), Some(_)) => Err("accepted is one of `password_env` and `password_file`, not both".to_owned()),
    }
}

fn sqlite(address: &SqliteAddress, session_sql: Vec<String>) -> Result<Box<dyn Wire>, String> {
    Ok(Box::new(SqliteWire::new(&address.path, &address.library, session_sql)?))
}

fn null(address: &NullAddress) -> Result<Box<dyn Wire>, String> {
    if !(1..=MAX_REPLY_BYTES).contains(&address.reply_bytes) {
        return Err(format!(
            "`reply_bytes` is {}; accepted is 1 to {MAX_REPLY_BYTES}",
            address.reply_bytes
        ));
    }
    Ok(Box::new(NullWire {
        reply_bytes: address.reply_bytes,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error_of(wire: &str, address: Json) -> String {
        from_address(wire, &address, Vec::new()).err().unwrap()
    }

    #[test]
    fn errors_name_the_field_and_what_is_accepted() {
        let cases = [
            (
                "oracle",
                json!({}),
                "`wire` is \"oracle\"; accepted are mysql, null, postgres, sqlite",
            ),
            (
                "postgres",
                json!({"user": "u", "database": "d"}),
                "either `socket_dir` or `host`",
            ),
            (
                "postgres",
                json!({"host": "h", "database": "d"}),
                "missing field `user`",
            ),
            (
                "postgres",
                json!({"host": "h", "user": "u", "database": "d", "password": "p"}),
                "unknown field `password`, expected one of",
            ),
            (
                "postgres",
                json!({"host": "h", "user": "u", "database": "d", "port": 70000}),
                "expected u16",
            ),
            (
                "postgres",
                json!({"host": "h", "user": "u", "database": "d", "password_env": "DBVERSUS_NO_SUCH_NAME"}),
                "`password_env` names \"DBVERSUS_NO_SUCH_NAME\", which is not set",
            ),
            (
                "postgres",
                json!({"host": "h", "user": "u", "database": "d", "password_file": "/nonexistent"}),
                "`password_file` /nonexistent: ",
            ),
            (
                "mysql",
                json!({"user": "u", "database": "d"}),
                "either `socket` or `host`",
            ),
            (
                "mysql",
                json!({"socket": "/s", "user": "u", "database": "d", "tls": "maybe"}),
                "unknown variant `maybe`, expected one of `off`, `preferred`, `required`",
            ),
            (
                "mysql",
                json!({"socket": "/s", "user": "u"}),
                "missing field `database`",
            ),
            ("sqlite", json!({}), "missing field `path`"),
            (
                "sqlite",
                json!({"path": "x.db", "library": "/nonexistent.so"}),
                "\"/nonexistent.so\" cannot be loaded",
            ),
            (
                "null",
                json!({"reply_bytes": 0}),
                "`reply_bytes` is 0; accepted is 1 to",
            ),
        ];
        for (wire, address, expected) in cases {
            let error = error_of(wire, address.clone());
            assert!(error.contains(expected), "{wire} {address}: {error}");
        }
    }

    #[test]
    fn good_addresses_are_accepted_without_connecting() {
        for (wire, address) in [
            (
                "postgres",
                json!({"socket_dir": "/nonexistent", "user": "u", "database": "d"}),
            ),
            (
                "mysql",
                json!({"socket": "/nonexistent/s", "user": "u", "database": "d"}),
            ),
            (
                "mysql",
                json!({"host": "h", "port": 1, "user": "u", "database": "d", "tls": "required"}),
            ),
            ("sqlite", json!({"path": "/nonexistent/x.db"})),
            ("null", json!({})),
        ] {
            from_address(wire, &address, Vec::new()).unwrap();
        }
    }
}
