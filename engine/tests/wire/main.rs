//! Each wire against real servers, where the environment names them, and against servers that break the protocol.

mod mysql;
mod mysql_broken;
#[path = "../support/mysql_script.rs"]
mod mysql_script;
mod postgres;
mod postgres_broken;
#[path = "../support/skip.rs"]
mod skip;
mod sqlite;
mod support;
