//! The engine's program: commands on standard input, or the guard.

use std::env::args;
use std::io::stdin;

use dbversus_engine::{control, guard};

const HELP: &str = "\
dbversus-engine drives load against DBMS servers and accounts what it costs.

Usage: dbversus-engine                 read commands from standard input, answer on standard output
       dbversus-engine --user UID:GID  the same, with the rights of that user alone; for root
       dbversus-engine guard           clean up after servers when standard input ends
       dbversus-engine --version

It is driven by JSON objects, one per line, usually by dbversus; docs/engine-protocol.md describes them.
Try: echo '{\"cmd\": \"hello\"}' | dbversus-engine";

fn main() {
    let arguments: Vec<String> = args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => control::run(),
        ["--user", user] => control::run_as(user),
        ["guard"] => guard::watch(stdin().lock()),
        ["--version" | "-V"] => println!("dbversus-engine {}", env!("CARGO_PKG_VERSION")),
        ["--help" | "-h"] => println!("{HELP}"),
        _ => {
            eprintln!("dbversus-engine: accepted are no arguments, --user UID:GID, `guard`, --help and --version");
            std::process::exit(2);
        }
    }
}
