//! Commands in, results out: JSON lines as docs/engine-protocol.md has them.
//!
//! `command` parses, `session` carries out, `output` answers.

pub mod command;
pub mod output;
pub mod session;

use std::io::{self, BufRead, Write, stdin, stdout};

use command::{Command, parse};
use output::Output;
use session::Session;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::drive::freeze::leave;

/// Serves standard input and leaves, with everything thawed, however that ends: by command, end of input, signal or panic.
pub fn run() -> ! {
    leave_on_panic();
    if let Err(error) = leave_on_signals() {
        eprintln!("dbversus-engine: cannot watch for signals: {error}");
        leave(1);
    }
    match serve(stdin().lock(), stdout().lock()) {
        Ok(()) => leave(0),
        Err(error) => {
            eprintln!("dbversus-engine: {error}");
            leave(1)
        }
    }
}

fn leave_on_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        leave(101);
    }));
}

fn leave_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let wait = move || {
        if signals.forever().next().is_some() {
            leave(0);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
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
