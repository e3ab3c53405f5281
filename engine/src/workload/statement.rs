//! One statement of a test compiled: its text taken apart, its generators ready to draw.

use super::definition::{StatementDefinition, StatementMode};
use super::generator::{Draw, Memory, Scope};
use super::params::Params;
use super::sql::{self, Piece as SqlPiece};
use super::stream::Stream;
use super::text::{list, write_integer};

/// A compiled statement.
#[derive(Debug, Clone)]
pub struct Statement {
    pub name: String,
    pub repeat: u32,
    /// Whether the order of the rows of its result is defined.
    pub ordered: bool,
    /// Number of values of one execution.
    pub slots: usize,
    mode: Option<StatementMode>,
    pub(super) table: TableChoice,
    pieces: Vec<Piece>,
    draws: Vec<Draw>,
}

/// Whether the statements of a test are prepared once or each time, where they do not say it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Prepared,
    Unprepared,
}

/// How a statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// Prepared once.
    Prepared,
    /// With parameters, prepared again each time.
    Unprepared,
    /// As text with the values inside.
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableChoice {
    Draw,
    Client,
    /// That of an earlier statement.
    Same(usize),
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Table,
    /// `count` values from slot `first` on, separated by commas.
    Slots {
        first: usize,
        count: usize,
    },
}

impl Statement {
    /// Errors start with what follows the statement's name in a sentence.
    pub(super) fn compile(
        definition: &StatementDefinition,
        all: &[StatementDefinition],
        earlier: &[Statement],
        scope: &mut Scope,
    ) -> Result<Self, String> {
        if earlier.iter().any(|statement| statement.name == definition.name) {
            return Err(": the name is given twice".into());
        }
        if ["draw", "client", ""].contains(&definition.name.as_str()) {
            return Err(": accepted as a name is anything but \"draw\", \"client\" and an empty one".into());
        }
        let (pieces, first_slots, slots) = place_slots(definition)?;
        let draws = definition
            .params
            .iter()
            .zip(&first_slots)
            .map(|((name, generator), slot)| {
                if slot.is_none() && !is_referred_to(name, all) {
                    return Err(format!(
                        ", parameter {name:?}: neither the SQL nor another parameter uses it"
                    ));
                }
                Draw::compile(name, generator, *slot, scope)
                    .map_err(|message| format!(", parameter {name:?}: {message}"))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: definition.name.clone(),
            repeat: definition.repeat,
            ordered: is_ordered(&definition.sql),
            slots,
            mode: definition.mode,
            table: TableChoice::compile(&definition.table, earlier)?,
            pieces,
            draws,
        })
    }

    /// How the statement is sent when the test was opened in mode `opened`.
    pub fn execution(&self, opened: Mode) -> Execution {
        match (self.mode, opened) {
            (Some(StatementMode::Text), _) => Execution::Text,
            (Some(StatementMode::Prepared), _) | (None, Mode::Prepared) => Execution::Prepared,
            (None, Mode::Unprepared) => Execution::Unprepared,
        }
    }

    /// Whether the table's number is part of the text.
    pub fn names_table(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Table))
    }

    /// Appends the statement's text; `placeholder` writes what stands for a slot.
    pub fn render(&self, table: u32, out: &mut Vec<u8>, mut placeholder: impl FnMut(usize, &mut Vec<u8>)) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Table => write_integer(i64::from(table), out),
                Piece::Slots { first, count } => {
                    for slot in *first..first + count {
                        if slot > *first {
                            out.extend_from_slice(b", ");
                        }
                        placeholder(slot, out);
                    }
                }
            }
        }
    }

    /// Draws the values of the next execution.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        params.reset(self.slots);
        for draw in &self.draws {
            draw.draw(stream, memory, params);
        }
    }
}

impl TableChoice {
    fn compile(choice: &str, earlier: &[Statement]) -> Result<Self, String> {
        match choice {
            "draw" => Ok(Self::Draw),
            "client" => Ok(Self::Client),
            name => match earlier.iter().position(|statement| statement.name == name) {
                Some(index) => Ok(Self::Same(index)),
                None => Err(format!(
                    ": `table` is {name:?}; accepted are \"draw\", \"client\" and the names of earlier statements: {}",
                    list(earlier.iter().map(|statement| statement.name.as_str()))
                )),
            },
        }
    }
}

/// Numbers the slots in the order in which the text names the parameters. Gives the pieces of the text, the first slot of
/// every parameter of the definition (`None` when the text does not name it) and the number of slots.
type Placed = (Vec<Piece>, Vec<Option<usize>>, usize);

fn place_slots(definition: &StatementDefinition) -> Result<Placed, String> {
    let mut first_slots: Vec<Option<usize>> = vec![None; definition.params.len()];
    let mut slots = 0;
    let mut pieces = Vec::new();
    for piece in sql::split(&definition.sql) {
        pieces.push(match piece {
            SqlPiece::Text(text) => Piece::Text(text),
            SqlPiece::Table => Piece::Table,
            SqlPiece::Param(name) => {
                let index = find_param(&name, definition)?;
                let count = definition.params[index].1.count.unwrap_or(1) as usize;
                let first = *first_slots[index].get_or_insert_with(|| {
                    slots += count;
                    slots - count
                });
                Piece::Slots { first, count }
            }
        });
    }
    Ok((pieces, first_slots, slots))
}

fn find_param(name: &str, definition: &StatementDefinition) -> Result<usize, String> {
    let known = || definition.params.iter().map(|(name, _)| name.as_str());
    known().position(|param| param == name).ok_or_else(|| {
        format!(
            ": the SQL names :{name}, which has no generator; `params` has {}",
            list(known())
        )
    })
}

fn is_referred_to(name: &str, statements: &[StatementDefinition]) -> bool {
    use super::definition::GeneratorKind::Ref;
    let mut generators = statements.iter().flat_map(|statement| &statement.params);
    generators.any(|(_, generator)| matches!(&generator.kind, Ref { of, .. } if of == name))
}

fn is_ordered(sql: &str) -> bool {
    let words: Vec<String> = sql.split_whitespace().map(str::to_ascii_lowercase).collect();
    words
        .windows(2)
        .any(|pair| pair[0].ends_with("order") && pair[1].starts_with("by"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_defined_where_the_statement_says_so() {
        assert!(is_ordered("SELECT a FROM t\nORDER  by a"));
        assert!(!is_ordered("SELECT border, by FROM orders"));
    }
}
