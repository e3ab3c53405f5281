//! The parts of a program: what one event may be, drawn by weight. A program that is no mix has one part, and draws nothing.

use std::ops::Range;

use super::definition::{StatementDefinition, TestDefinition};
use super::stream::Stream;

/// Statements that make an event together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPart {
    pub transaction: bool,
    pub statements: Range<usize>,
    /// Weights of this part and of those before it.
    upto: u64,
}

#[derive(Debug, Clone)]
pub struct Mix(Vec<ProgramPart>);

impl Mix {
    /// Errors are what follows the test's name in a sentence.
    pub(super) fn compile(test: &TestDefinition) -> Result<Self, String> {
        let Some(first) = test.statements.iter().position(|statement| statement.part.is_some()) else {
            return Ok(Self(vec![ProgramPart {
                transaction: test.transaction,
                statements: 0..test.statements.len(),
                upto: 1,
            }]));
        };
        if first > 0 || test.transaction {
            return Err(
                ": in a mix the first statement has a `part`, and parts say whether they are a `transaction`".into(),
            );
        }
        let mut parts: Vec<ProgramPart> = Vec::new();
        for (index, statement) in test.statements.iter().enumerate() {
            match begun_by(statement)? {
                Some((weight, transaction)) => parts.push(ProgramPart {
                    transaction,
                    statements: index..index + 1,
                    upto: parts.last().map_or(0, |part| part.upto) + weight,
                }),
                None => parts.last_mut().expect("the first has begun one").statements.end += 1,
            }
        }
        Ok(Self(parts))
    }

    pub fn parts(&self) -> &[ProgramPart] {
        &self.0
    }

    /// The number of the next event's part.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> usize {
        match self.0.as_slice() {
            [_, .., last] => {
                let drawn = stream.integer(0, last.upto as i64 - 1) as u64;
                self.0.partition_point(|part| part.upto <= drawn)
            }
            _ => 0,
        }
    }
}

fn begun_by(statement: &StatementDefinition) -> Result<Option<(u64, bool)>, String> {
    match &statement.part {
        Some(part) if part.weight == 0 => Err(format!(", part {:?}: `weight` is 0; accepted is 1 or more", part.name)),
        Some(part) => Ok(Some((u64::from(part.weight), part.transaction))),
        None => Ok(None),
    }
}
