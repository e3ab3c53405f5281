//! Commands in, results out: JSON lines as docs/engine-protocol.md has them.
//!
//! `command` parses, `session` carries out, `output` answers; `process` sees to it that the engine leaves in time, `user` gives up
//! root's rights.

pub mod command;
pub mod output;
pub mod process;
pub mod session;
mod user;

use std::io::{self, BufRead, Write, stdin, stdout};

use command::{Command, parse};
use output::Output;
use session::Session;

use crate::drive::contender::freeze::leave;

/// As `run`, with the rights of another user alone; leaves with status 2 when those cannot be had.
pub fn run_as(user: &str) -> ! {
    if let Err(why) = user::become_user(user) {
        eprintln!("dbversus-engine: --user {user}: {why}");
        std::process::exit(2);
    }
    run()
}

/// Serves standard input and leaves, with everything thawed, however that ends: by command, end of input, signal or panic, or
/// since nobody reads the answers.
pub fn run() -> ! {
    if let Err(error) = process::prepare() {
        process::leave_with(&format!("cannot watch for its own end: {error}"));
    }
    match serve(stdin().lock(), stdout().lock()) {
        Ok(()) => leave(0),
        Err(error) => process::leave_with(&error),
    }
}

/// Answers commands until `quit` or the end of input. Fails when nobody reads the answers any more.
pub fn serve(input: impl BufRead, output: impl Write) -> io::Result<()> {
    let mut session = Session::default();
    let mut output = Output::new(output);
    for line in input.split(b'\n') {
        let line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (id, command) = parse(&line);
        output.answer_to(id);
        match command {
            Ok(Command::Quit) => return output.done(&()),
            Ok(command) => session.carry_out(command, &mut output)?,
            Err(failure) => output.error(&failure)?,
        }
    }
    Ok(())
}
