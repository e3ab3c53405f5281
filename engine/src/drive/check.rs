//! Whether targets give the same answers: checksums of all values that a test's statements return.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

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
}

/// Runs the events on one target, committed, so that the same events change all targets alike. An event that fails as
/// events may (duplicate key, deadlock) is left out, with its rows so far in the checksum.
pub fn check(client: &mut Client, target: usize, spec: CheckSpec) -> Result<Checked, Failure> {
    let stream = Stream::new(spec.seed, 0, client.number, Part::Check);
    let link = &mut client.links[target];
    let mut sums = Sums::new(&link.program);
    let mut lane = Lane::new(&link.program, link.connection.as_mut(), &mut link.scratch, stream);
    for _ in 0..spec.events {
        lane.attempt_checked(&mut sums)
            .map_err(|Stop(error)| Failure::statement(error))?;
    }
    Ok(sums.report(&link.program))
}

/// The sums of all statements.
struct Sums(Vec<Sum>);

impl Sums {
    fn new(program: &Program) -> Self {
        Self(
            program
                .statements
                .iter()
                .map(|statement| Sum::new(statement.ordered))
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

/// The sum of one statement's rows; their order counts when it is defined.
struct Sum {
    ordered: bool,
    rows: u64,
    affected: u64,
    hash: u64,
}

impl Sum {
    fn new(ordered: bool) -> Self {
        Self {
            ordered,
            rows: 0,
            affected: 0,
            hash: 0,
        }
    }
}

impl RowSink for Sum {
    fn row(&mut self, values: &[Option<&[u8]>]) {
        // Chained, a row's hash depends on all rows before it; added up, it does not.
        let seed = if self.ordered { self.hash } else { 0 };
        let row = hash_of_row(seed, values);
        self.hash = if self.ordered { row } else { self.hash.wrapping_add(row) };
    }
}

fn hash_of_row(seed: u64, values: &[Option<&[u8]>]) -> u64 {
    let mut hash = XxHash64::with_seed(seed);
    for value in values {
        match value {
            None => hash.write_u8(0),
            Some(text) => {
                // CHAR(n) comes padded from some DBMSs and trimmed from others.
                let length = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
                hash.write_u8(1);
                hash.write_u64(length as u64);
                hash.write(&text[..length]);
            }
        }
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(ordered: bool, rows: &[&[Option<&str>]]) -> u64 {
        let mut sum = Sum::new(ordered);
        for row in rows {
            let values: Vec<_> = row.iter().map(|value| value.map(str::as_bytes)).collect();
            sum.row(&values);
        }
        sum.hash
    }

    #[test]
    fn the_order_of_rows_counts_only_where_it_is_defined() {
        let (a, b): (&[_], &[_]) = (&[Some("1"), Some("x")], &[Some("2"), None]);
        assert_eq!(sum_of(false, &[a, b]), sum_of(false, &[b, a]));
        assert_ne!(sum_of(true, &[a, b]), sum_of(true, &[b, a]));
        assert_ne!(sum_of(false, &[a]), sum_of(false, &[a, a, a]));
    }

    #[test]
    fn trailing_blanks_do_not_count_but_null_and_borders_between_values_do() {
        assert_eq!(sum_of(false, &[&[Some("ab  ")]]), sum_of(false, &[&[Some("ab")]]));
        assert_ne!(sum_of(false, &[&[Some(" ab")]]), sum_of(false, &[&[Some("ab")]]));
        assert_ne!(sum_of(false, &[&[Some("")]]), sum_of(false, &[&[None]]));
        assert_ne!(
            sum_of(false, &[&[Some("ab"), Some("c")]]),
            sum_of(false, &[&[Some("a"), Some("bc")]])
        );
    }
}
