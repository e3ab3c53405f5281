//! Answers: one JSON object per line, each with the id of the command it answers.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::drive::trouble::Failure;

pub struct Output<W> {
    out: W,
    id: Option<Value>,
}

#[derive(Serialize)]
struct Line<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    #[serde(flatten)]
    body: T,
}

#[derive(Serialize)]
struct Done<'a, T> {
    #[serde(flatten)]
    body: &'a T,
    done: bool,
}

#[derive(Serialize)]
struct Error<'a> {
    error: &'a Failure,
}

impl<W: Write> Output<W> {
    pub fn new(out: W) -> Self {
        Self { out, id: None }
    }

    /// The lines that follow answer the command with this id.
    pub fn answer_to(&mut self, id: Option<Value>) {
        self.id = id;
    }

    /// A line of progress.
    pub fn line(&mut self, body: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line {
            id: self.id.as_ref(),
            body,
        })?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }

    /// The last line of an answer.
    pub fn done(&mut self, body: &impl Serialize) -> io::Result<()> {
        self.line(&Done { body, done: true })
    }

    /// The last line of an answer, instead of `done`.
    pub fn error(&mut self, failure: &Failure) -> io::Result<()> {
        self.line(&Error { error: failure })
    }
}
