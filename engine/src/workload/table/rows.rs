//! The rows of a table to load: row n depends on the seed and n alone, so every DBMS gets the same table.

use crate::workload::data::RowReader;
use crate::workload::definition::GeneratorKind;
use crate::workload::generator::Draw;
use crate::workload::params::Params;
use crate::workload::scope::{Memory, Scope};
use crate::workload::stream::{Part, Stream};
use crate::workload::table::TableSpec;
use crate::workload::values::ValueType;

/// Fills one row after another.
#[derive(Debug)]
pub struct TableRows {
    draws: Vec<Draw>,
    memory: Memory,
    seed: u64,
    file: Option<RowFile>,
}

/// The staged file whose lines are the rows, and the types of their fields.
#[derive(Debug)]
struct RowFile {
    reader: RowReader,
    types: Vec<ValueType>,
}

impl TableRows {
    /// Fails when a column refers to one that does not come before it, and for a file that has other rows.
    pub fn new(table: &TableSpec, seed: u64) -> Result<Self, String> {
        let mut scope = Scope::of_rows();
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
            file: RowFile::open(table).map_err(|message| format!("table {:?}: {message}", table.name))?,
        })
    }

    /// Bytes of a usual row, where its file tells.
    pub fn row_bytes(&self) -> Option<usize> {
        self.file.as_ref().map(|file| file.reader.row_bytes())
    }

    /// Puts the values of row `row` (from 0) into `params`, one slot per column. Fails where its file does.
    pub fn fill(&mut self, row: u64, params: &mut Params) -> Result<(), String> {
        if let Some(file) = &mut self.file {
            file.reader.fill(row, &file.types, &mut self.memory.fields)?;
        }
        let mut stream = Stream::new(self.seed, row, 0, Part::Load);
        self.memory.row = row;
        params.reset(self.draws.len());
        for draw in &self.draws {
            draw.draw(&mut stream, &mut self.memory, params);
        }
        Ok(())
    }
}

impl RowFile {
    fn open(table: &TableSpec) -> Result<Option<Self>, String> {
        let fields = table
            .columns
            .iter()
            .filter_map(|(_, definition)| match definition.kind {
                GeneratorKind::Field { index } => Some((index, definition.value_type?)),
                _ => None,
            });
        let mut fields: Vec<_> = fields.collect();
        fields.sort_by_key(|&(index, _)| index);
        if fields.iter().enumerate().any(|(place, &(index, _))| place != index) {
            return Err("each field of the file is for one column, from 0 on".into());
        }
        let types: Vec<_> = fields.into_iter().map(|(_, value_type)| value_type).collect();
        match &table.data {
            Some(name) => Ok(Some(Self {
                reader: RowReader::open(name, table.rows)?,
                types,
            })),
            None if types.is_empty() => Ok(None),
            None => Err("columns are fields of a file, and `data` names none".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Value;
    use crate::workload::data::test_file;
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
                rows.fill(number, &mut params).unwrap();
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
        assert!(
            error.contains("table \"t\", column \"a\": it refers to \"b\""),
            "{error}"
        );
    }

    #[test]
    fn rows_of_a_file_are_its_lines_and_other_columns_refer_to_them() {
        let file = test_file("7\tx\n8\t\\N\n");
        let columns = json!({"k": {"gen": "field", "index": 0, "type": "int8"}, "n": {"gen": "ref", "of": "k", "add": 1},
                             "c": {"gen": "field", "index": 1, "type": "text"}, "id": {"gen": "sequence"}});
        let spec = |rows| -> TableSpec {
            let json = json!({"name": "t", "rows": rows, "data": file.name(), "columns": columns});
            serde_json::from_value(json).unwrap()
        };
        let mut rows = TableRows::new(&spec(2), 1).unwrap();
        let mut params = Params::new();
        rows.fill(1, &mut params).unwrap();
        let expected = [
            Value::Integer(8),
            Value::Integer(9),
            Value::Null(ValueType::Text),
            Value::Integer(2),
        ];
        assert!(params.iter().eq(expected), "{params:?}");
        assert_eq!(rows.row_bytes(), Some(4));
        assert!(
            TableRows::new(&spec(3), 1)
                .unwrap_err()
                .contains("has 2 rows, and 3 are asked for")
        );
        let none = TableRows::new(&table(columns.clone()), 1).unwrap_err();
        assert_eq!(none, "table \"t\": columns are fields of a file, and `data` names none");
    }
}
