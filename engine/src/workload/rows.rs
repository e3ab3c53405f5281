//! The rows of a table to load: row n depends on the seed and n alone, so every DBMS gets the same table.

use super::generator::{Draw, Memory, Scope};
use super::params::Params;
use super::stream::{Part, Stream};
use super::table::TableSpec;

/// Fills one row after another.
#[derive(Debug, Clone)]
pub struct TableRows {
    draws: Vec<Draw>,
    memory: Memory,
    seed: u64,
}

impl TableRows {
    /// Fails when a column refers to one that does not come before it.
    pub fn new(table: &TableSpec, seed: u64) -> Result<Self, String> {
        let mut scope = Scope::default();
        let draws = table
            .columns
            .iter()
            .enumerate()
            .map(|(slot, (name, definition))| {
                Draw::compile(name, definition, Some(slot), &mut scope)
                    .map_err(|message| format!("table {:?}, column {name:?}: {message}", table.name))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            draws,
            memory: scope.memory(1),
            seed,
        })
    }

    /// Puts the values of row `row` (from 0) into `params`, one slot per column.
    pub fn fill(&mut self, row: u64, params: &mut Params) {
        let mut stream = Stream::new(self.seed, row, 0, Part::Load);
        self.memory.counters.fill(row);
        params.reset(self.draws.len());
        for draw in &self.draws {
            draw.draw(&mut stream, &mut self.memory, params);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Value;
    use serde_json::json;

    fn table(columns: serde_json::Value) -> TableSpec {
        serde_json::from_value(json!({"name": "t", "rows": 10, "columns": columns})).unwrap()
    }

    #[test]
    fn rows_depend_on_seed_and_number_alone() {
        let spec = table(
            json!({"id": {"gen": "sequence", "start": 1}, "next": {"gen": "ref", "of": "id", "add": 1},
                                "c": {"gen": "text", "template": "####################"}}),
        );
        let mut params = Params::new();
        let mut values = |seed, numbers: &[u64]| {
            let mut rows = TableRows::new(&spec, seed).unwrap();
            for &number in numbers {
                rows.fill(number, &mut params);
            }
            params.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>()
        };
        let straight = values(1, &[0, 1, 2]);
        assert_eq!(straight, values(1, &[2]));
        assert_ne!(straight, values(2, &[2]));
        assert_eq!(straight[0], format!("{:?}", Value::Integer(3)));
        assert_eq!(straight[1], format!("{:?}", Value::Integer(4)));
    }

    #[test]
    fn a_column_refers_to_earlier_ones_only() {
        let spec = table(json!({"a": {"gen": "ref", "of": "b"}, "b": {"gen": "sequence"}}));
        let error = TableRows::new(&spec, 1).unwrap_err();
        assert!(error.contains("table \"t\", column \"a\": `of` names \"b\""), "{error}");
    }
}
