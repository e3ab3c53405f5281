//! The row of an `INSERT … VALUES (…)`, so that a statement can have many.

use std::ops::Range;

use crate::workload::sql::token_length;

/// Where the one row of VALUES is, with its parentheses; an error says what is accepted.
pub(in crate::workload) fn find(sql: &str) -> Result<Range<usize>, String> {
    let refused = || Err("`rows` is for INSERT … VALUES (…) with one row written out".to_owned());
    let Some(start) = start_of_row(sql) else {
        return refused();
    };
    let Some(end) = end_of_row(sql, start) else {
        return refused();
    };
    if sql[end..].trim_start().starts_with(',') {
        return refused();
    }
    Ok(start..end)
}

/// The parenthesis after the word VALUES.
fn start_of_row(sql: &str) -> Option<usize> {
    let mut at = 0;
    while at < sql.len() {
        let word = word_at(sql, at);
        let after = at + word.len();
        let space = sql[after..].len() - sql[after..].trim_start().len();
        if word.eq_ignore_ascii_case("values") && sql[after + space..].starts_with('(') {
            return Some(after + space);
        }
        at = after.max(at + token_length(&sql[at..]));
    }
    None
}

fn end_of_row(sql: &str, start: usize) -> Option<usize> {
    let mut depth = 0;
    let mut at = start;
    while at < sql.len() {
        match sql.as_bytes()[at] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        at += token_length(&sql[at..]);
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn word_at(sql: &str, at: usize) -> &str {
    let rest = &sql[at..];
    let end = rest
        .find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
        .unwrap_or(rest.len());
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_is_what_stands_in_parentheses_after_values() {
        for (sql, row) in [
            ("INSERT INTO t (a, b) VALUES (:a, :b)", "(:a, :b)"),
            (
                "insert into t values(:a, f(:b, ')')) ON CONFLICT (a) DO NOTHING",
                "(:a, f(:b, ')'))",
            ),
            ("INSERT INTO values_of (\"values\") VALUES\n (1) -- (2)", "(1)"),
            ("INSERT INTO t /* VALUES (1) */ (a) VALUES (':x')", "(':x')"),
        ] {
            assert_eq!(&sql[find(sql).unwrap()], row);
        }
    }

    #[test]
    fn other_statements_are_refused() {
        for sql in [
            "SELECT 1",
            "INSERT INTO t VALUES (1), (2)",
            "INSERT INTO t VALUES (1",
            "INSERT INTO t SELECT 1",
        ] {
            assert!(find(sql).unwrap_err().contains("with one row written out"), "{sql}");
        }
    }
}
