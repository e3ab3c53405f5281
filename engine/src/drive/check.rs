//! Whether targets give the same answers: checksums of all values that a test's statements return.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use super::answers::Sum;
use super::client::Client;
use super::lane::{EventSink, Lane};
use super::trouble::{Failure, Stop};
use crate::wire::{RowSink, Tally};
use crate::workload::{Part, Program, Stream};

/// How much to check.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSpec {
    pub events: u64,
    pub seed: u64,
}

/// What one target answered.
#[derive(Debug, Serialize)]
pub struct Checked {
    pub rows: u64,
    pub affected: u64,
    pub checksum: String,
    pub statements: Vec<CheckedStatement>,
}

#[derive(Debug, Serialize)]
pub struct CheckedStatement {
    pub name: String,
    pub rows: u64,
    pub affected: u64,
    pub checksum: String,
    /// Where they are compared with a tolerance: they are no part of the checksum then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<f64>,
}

/// Runs the events on one target, committed, so that the same events change all targets alike. An event that fails as
/// events may (duplicate key, deadlock) is left out, with its rows so far in the checksum.
pub fn check(client: &mut Client, target: usize, spec: CheckSpec) -> Result<Checked, Failure> {
    let stream = Stream::new(client.seat.seed(spec.seed), 0, client.seat.number, Part::Check);
    let link = &mut client.links[target];
    let mut sums = Sums::new(&link.program);
    let mut lane = Lane::new(&link.program, link.connection.as_mut(), &mut link.scratch, stream);
    let parts = link.program.mix.parts().len();
    // All parts of a mix in turn, so that none is left out, however small its weight.
    for event in 0..(spec.events as usize).max(parts) {
        lane.attempt_checked(event % parts, &mut sums)
            .map_err(|Stop(error)| Failure::statement(error))?;
    }
    Ok(sums.report(&link.program))
}

/// What the roles of a test were answered, each checked by its first client, as one; statements are `role/statement` then.
pub fn join(roles: Vec<(Option<String>, Checked)>) -> Checked {
    let mut parts = Vec::new();
    for (role, mut checked) in roles {
        let Some(role) = role else { return checked };
        for statement in &mut checked.statements {
            statement.name = format!("{role}/{}", statement.name);
        }
        parts.push(checked);
    }
    let mut all = XxHash64::with_seed(0);
    parts.iter().for_each(|part| all.write(part.checksum.as_bytes()));
    Checked {
        rows: parts.iter().map(|part| part.rows).sum(),
        affected: parts.iter().map(|part| part.affected).sum(),
        checksum: format!("{:016x}", all.finish()),
        statements: parts.into_iter().flat_map(|part| part.statements).collect(),
    }
}

/// The sums of all statements.
struct Sums(Vec<Sum>);

impl Sums {
    fn new(program: &Program) -> Self {
        Self(
            program
                .statements
                .iter()
                .map(|statement| Sum::new(statement.ordered, statement.has_tolerance))
                .collect(),
        )
    }

    fn report(&self, program: &Program) -> Checked {
        let mut all = XxHash64::with_seed(0);
        self.0.iter().for_each(|sum| all.write_u64(sum.hash));
        let named = program
            .statements
            .iter()
            .zip(&self.0)
            .map(|(statement, sum)| CheckedStatement {
                name: statement.name.clone(),
                rows: sum.rows,
                affected: sum.affected,
                checksum: format!("{:016x}", sum.hash),
                numbers: sum.numbers(),
            });
        Checked {
            rows: self.0.iter().map(|sum| sum.rows).sum(),
            affected: self.0.iter().map(|sum| sum.affected).sum(),
            checksum: format!("{:016x}", all.finish()),
            statements: named.collect(),
        }
    }
}

impl EventSink for Sums {
    fn rows(&mut self, statement: usize) -> &mut dyn RowSink {
        &mut self.0[statement]
    }

    fn executed(&mut self, statement: usize, counts: Tally) {
        self.0[statement].rows += counts.rows;
        self.0[statement].affected += counts.affected;
    }
}
