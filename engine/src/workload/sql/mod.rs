//! A statement's text, taken apart at its placeholders, so that every wire can write them in its own way.

pub mod values_row;

/// A part of a statement's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// `{table}`
    Table,
    /// `:name`
    Param(String),
}

/// Splits a statement at `{table}` and at the `:name`s outside of quotes and comments; `::type` is a cast.
pub(super) fn split(sql: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = sql;
    while let Some(character) = rest.chars().next() {
        let (length, piece) = next(rest, character);
        match piece {
            Some(piece) => {
                push_text(&mut pieces, &mut text);
                pieces.push(piece);
            }
            None => split_tables(&rest[..length], &mut text, &mut pieces),
        }
        rest = &rest[length..];
    }
    push_text(&mut pieces, &mut text);
    pieces
}

/// Length of the next token of a text that is not empty: quoted texts and comments are one.
pub(super) fn token_length(rest: &str) -> usize {
    rest.chars().next().map_or(0, |character| next(rest, character).0)
}

/// Length of the next token, and the piece it makes when it is not plain text.
fn next(rest: &str, character: char) -> (usize, Option<Piece>) {
    const TABLE: &str = "{table}";
    if rest.starts_with(TABLE) {
        return (TABLE.len(), Some(Piece::Table));
    }
    if rest.starts_with("::") {
        return (2, None);
    }
    if let Some(name) = rest
        .strip_prefix(':')
        .map(name_at_start)
        .filter(|name| !name.is_empty())
    {
        return (1 + name.len(), Some(Piece::Param(name.to_owned())));
    }
    let length = match character {
        '\'' | '"' | '`' => until(rest, 1, character.encode_utf8(&mut [0; 4])),
        '-' if rest.starts_with("--") => until(rest, 2, "\n"),
        '/' if rest.starts_with("/*") => until(rest, 2, "*/"),
        _ => character.len_utf8(),
    };
    (length, None)
}

fn name_at_start(text: &str) -> &str {
    let end = end_of_word(text);
    match text.as_bytes().first() {
        Some(first) if !first.is_ascii_digit() => &text[..end + side_of_window(&text[end..])],
        _ => "",
    }
}

fn end_of_word(text: &str) -> usize {
    text.find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
        .unwrap_or(text.len())
}

/// Length of `.from` or `.to` at the start of what follows a name: a window is two values.
fn side_of_window(text: &str) -> usize {
    let word = text.strip_prefix('.').map(|rest| &rest[..end_of_word(rest)]);
    word.filter(|word| matches!(*word, "from" | "to"))
        .map_or(0, |word| 1 + word.len())
}

/// Length up to and with the end mark, looked for after `skip` bytes; all of `text` when it is missing.
fn until(text: &str, skip: usize, end: &str) -> usize {
    text[skip..].find(end).map_or(text.len(), |at| skip + at + end.len())
}

/// Quoted names may hold `{table}` too: `"sbtest{table}"`.
fn split_tables(token: &str, text: &mut String, pieces: &mut Vec<Piece>) {
    for (index, part) in token.split("{table}").enumerate() {
        if index > 0 {
            push_text(pieces, text);
            pieces.push(Piece::Table);
        }
        text.push_str(part);
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &mut String) {
    if !text.is_empty() {
        pieces.push(Piece::Text(std::mem::take(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces written so that they can be read: placeholders in angle brackets.
    fn marked(sql: &str) -> String {
        let mark = |piece| match piece {
            Piece::Text(text) => text,
            Piece::Table => "<table>".to_owned(),
            Piece::Param(name) => format!("<:{name}>"),
        };
        split(sql).into_iter().map(mark).collect()
    }

    #[test]
    fn finds_placeholders_and_tables() {
        assert_eq!(
            marked("SELECT c FROM sbtest{table} WHERE id BETWEEN :low AND :high_2"),
            "SELECT c FROM sbtest<table> WHERE id BETWEEN <:low> AND <:high_2>"
        );
        assert_eq!(marked("IN (:ids)"), "IN (<:ids>)");
        assert_eq!(
            marked("t >= :w.from AND t < :w.to AND :a.c AND :w.total"),
            "t >= <:w.from> AND t < <:w.to> AND <:a>.c AND <:w>.total"
        );
    }

    #[test]
    fn leaves_quotes_comments_and_casts_alone() {
        for sql in [
            "SELECT ':a', 'it''s :b', \":c\", `:d`",
            "SELECT 1 -- :a\n, 2 /* :b */",
            "SELECT a::int, b::text[1:2]",
            "SELECT 'open :a",
            "SELECT 12:34, ': ', a : b",
        ] {
            assert_eq!(marked(sql), sql);
        }
        assert_eq!(
            marked("SELECT :a::int + ':a' -- :a\n+ :b"),
            "SELECT <:a>::int + ':a' -- :a\n+ <:b>"
        );
    }

    #[test]
    fn tables_are_found_inside_quotes_and_text_may_be_any_language() {
        assert_eq!(marked("SELECT 'ü' FROM \"t{table}\""), "SELECT 'ü' FROM \"t<table>\"");
    }
}
