//! A table to load: its columns are filled by generators, one row after another.

pub mod rows;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::workload::definition::{GeneratorDefinition, parse};
use crate::workload::ordered::Ordered;

/// A table as received (docs/engine-protocol.md, `load`).
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Json")]
pub struct TableSpec {
    pub name: String,
    pub rows: u64,
    /// Staged file whose lines are the rows.
    pub data: Option<String>,
    /// Statements to run before the rows are inserted.
    pub create: Vec<String>,
    /// Columns in order.
    pub columns: Vec<(String, GeneratorDefinition)>,
    /// Statements to run after the rows are inserted.
    pub after: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    name: String,
    rows: u64,
    data: Option<String>,
    #[serde(default)]
    create: Vec<String>,
    columns: Ordered<Json>,
    #[serde(default)]
    after: Vec<String>,
}

impl TryFrom<Json> for TableSpec {
    type Error = String;

    fn try_from(json: Json) -> Result<Self, String> {
        let raw: RawTable = parse(json, "table")?;
        let place = format!("table {:?}", raw.name);
        check_name(&raw.name).map_err(|message| format!("{place}: {message}"))?;
        if raw.columns.is_empty() {
            return Err(format!("{place}: `columns` is empty; at least one column is needed"));
        }
        let columns = raw
            .columns
            .iter()
            .map(|(name, json)| column(name, json, &place))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: raw.name,
            rows: raw.rows,
            data: raw.data,
            create: raw.create,
            columns,
            after: raw.after,
        })
    }
}

impl TableSpec {
    /// Names of the columns in order, as they stand in a list of SQL.
    pub fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        names.join(",")
    }

    /// An INSERT of so many rows, with `?` for each value.
    pub fn insert_sql(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns.len()].join(","));
        let rows = vec![row; rows].join(",");
        format!("INSERT INTO {} ({}) VALUES {rows}", self.name, self.column_list())
    }

    /// Whether the server took all rows; an error says how many it took.
    pub fn check_loaded(&self, taken: u64) -> Result<(), String> {
        if taken == self.rows {
            return Ok(());
        }
        Err(format!(
            "table {:?}: the server took {taken} of {} rows",
            self.name, self.rows
        ))
    }
}

fn column(name: &str, json: &Json, table: &str) -> Result<(String, GeneratorDefinition), String> {
    let place = format!("{table}, column {name:?}");
    check_name(name).map_err(|message| format!("{place}: {message}"))?;
    let generator = GeneratorDefinition::parse(json.clone(), &place)?;
    if generator.count.is_some() {
        return Err(format!("{place}: `count` makes a list, and a column holds one value"));
    }
    Ok((name.to_owned(), generator))
}

/// Names go into SQL without quotes, so that every DBMS folds their case in its own way.
fn check_name(name: &str) -> Result<(), String> {
    let mut characters = name.chars();
    let good_start = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if good_start && characters.all(|other| other.is_ascii_alphanumeric() || other == '_' || other == '.') {
        return Ok(());
    }
    Err("accepted as a name are letters, digits, `_` and `.`, not starting with a digit".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keeps_the_order_of_columns() {
        let table: TableSpec = serde_json::from_value(json!({
            "name": "sbtest1", "rows": 10, "create": [],
            "columns": {"pad": {"gen": "text", "template": "#"}, "id": {"gen": "sequence"}, "k": {"gen": "ref", "of": "id"}},
        }))
        .unwrap();
        let names: Vec<_> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["pad", "id", "k"]);
    }

    #[test]
    fn errors_name_table_and_column() {
        let error = |json| serde_json::from_value::<TableSpec>(json).unwrap_err().to_string();
        assert!(error(json!({"name": "t", "rows": 1, "columns": {}})).contains("table \"t\": `columns` is empty"));
        assert!(error(json!({"name": "t; DROP", "rows": 1, "columns": {}})).contains("accepted as a name"));
        let list = json!({"name": "t", "rows": 1, "columns": {"id": {"gen": "sequence", "count": 2}}});
        assert!(error(list).contains("table \"t\", column \"id\": `count`"));
        assert!(error(json!({"name": "t", "rows": -1, "columns": {}})).contains("expected u64"));
    }

    #[test]
    fn inserts_name_all_columns_and_have_a_mark_for_each_value() {
        let columns = json!({"id": {"gen": "sequence"}, "c": {"gen": "text", "template": "x"}});
        let table: TableSpec = serde_json::from_value(json!({"name": "t", "rows": 5, "columns": columns})).unwrap();
        assert_eq!(table.insert_sql(2), "INSERT INTO t (id,c) VALUES (?,?),(?,?)");
    }
}
