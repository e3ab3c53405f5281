//! One statement of a test compiled: its text taken apart, its generators ready to draw.

use super::appended::Position;
use super::definition::{Answers, StatementDefinition, StatementMode};
use super::generator::Draw;
use super::keep::Special;
use super::params::Params;
use super::scope::{Memory, Scope};
use super::sql::values_row;
use super::sql::{self, Piece as SqlPiece};
use super::stream::{Part, Stream};
use super::text::{list, write_integer};

/// A compiled statement.
#[derive(Debug, Clone)]
pub struct Statement {
    pub name: String,
    pub repeat: u32,
    /// Whether the order of the rows of its result is defined.
    pub ordered: bool,
    /// Whether numbers of its result may differ a little from target to target.
    pub has_tolerance: bool,
    /// Number of values of one execution.
    pub slots: usize,
    /// For which the client waits after it, in work with an end.
    pub pause_ns: u64,
    mode: Option<StatementMode>,
    pub(super) table: TableChoice,
    pieces: Vec<Piece>,
    draws: Vec<Draw>,
    rows: Option<Rows>,
    pub(super) special: Option<Box<Special>>,
}

/// The rows of an INSERT that has several, or whose rows have positions.
#[derive(Debug, Clone)]
struct Rows {
    count: usize,
    /// How many have values of their own: those of an INSERT.
    written: usize,
    /// Slots of one row.
    width: usize,
    /// And the index of its table in `Memory::ends`.
    position: Option<(Position, usize)>,
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
        scope.set_rows(definition.position.is_some());
        scope.names_table = pieces.iter().any(|piece| matches!(piece, Piece::Table));
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
            ordered: is_ordered(&definition.sql) && definition.answers != Answers::Set,
            has_tolerance: matches!(definition.answers, Answers::Tolerance(_)),
            slots,
            pause_ns: definition.pause_ns,
            mode: definition.mode,
            table: TableChoice::compile(&definition.table, earlier)?,
            pieces,
            draws,
            rows: Rows::compile(definition, slots, scope),
            special: Special::compile(definition, all, scope)?.map(Box::new),
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

    /// How many columns its result has to have, for what others need of it; 0: nothing is kept.
    pub fn columns_kept(&self) -> usize {
        self.special.as_ref().map_or(0, |special| special.columns.len())
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

    /// Draws the values of the next execution. In line, as it is what nearly every statement does and no more.
    #[inline(always)]
    pub(super) fn draw(&self, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        params.reset(self.slots);
        match &self.rows {
            None => self.draw_row(stream, memory, params),
            Some(rows) => self.draw_rows(rows, stream, memory, params),
        }
    }

    #[inline]
    fn draw_row(&self, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        for draw in &self.draws {
            draw.draw(stream, memory, params);
        }
    }

    /// A row with a position has a stream of its own, so that it is the same whichever client it falls to.
    fn draw_rows(&self, rows: &Rows, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        let first = rows.position.as_ref().map(|(position, ends)| {
            let row = position.take(memory.ends_of(*ends), rows.count);
            (row, position.seed)
        });
        for index in 0..rows.written {
            params.begin_row(index * rows.width);
            match first {
                None => self.draw_row(stream, memory, params),
                Some((first, seed)) => {
                    memory.row = first + index as u64;
                    let mut of_row = Stream::new(seed, memory.row, memory.table as u32, Part::Load);
                    self.draw_row(&mut of_row, memory, params);
                }
            }
        }
    }
}

impl Rows {
    fn compile(definition: &StatementDefinition, slots: usize, scope: &mut Scope) -> Option<Self> {
        if definition.rows == 1 && definition.position.is_none() {
            return None;
        }
        let written = definition.rows_in_text() as usize;
        Some(Self {
            count: definition.rows as usize,
            written,
            width: slots / written,
            position: definition.position.clone().map(|position| {
                let ends = scope.add_ends(&position.of);
                (position, ends)
            }),
        })
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

/// The pieces of the text, the first slot of every parameter of the definition (`None` when the text does not name it) and
/// the number of slots.
type Placed = (Vec<Piece>, Vec<Option<usize>>, usize);

/// Numbers the slots in the order in which the text names the parameters. Each of several rows has slots of its own.
fn place_slots(definition: &StatementDefinition) -> Result<Placed, String> {
    let mut slots = Slots::of(definition);
    if definition.rows_in_text() == 1 {
        let pieces = slots.place(&definition.sql)?;
        return Ok((pieces, slots.first, slots.count));
    }
    let row = values_row::find(&definition.sql).map_err(|message| format!(": {message}"))?;
    let mut pieces = slots.place(&definition.sql[..row.start])?;
    let outside = slots.count;
    let one = slots.place(&definition.sql[row.clone()])?;
    let width = slots.count;
    let rest = slots.place(&definition.sql[row.end..])?;
    if outside > 0 || slots.count > width {
        return Err(": with `rows`, parameters are accepted in the row after VALUES alone".into());
    }
    for index in 0..definition.rows as usize {
        if index > 0 {
            pieces.push(Piece::Text(", ".into()));
        }
        pieces.extend(one.iter().map(|piece| piece.moved(index * width)));
    }
    pieces.extend(rest);
    let all = width * definition.rows as usize;
    if all > MOST_SLOTS && definition.mode != Some(StatementMode::Text) {
        return Err(format!(
            ": {} rows of {width} values are {all}; accepted are {MOST_SLOTS} in a statement, and more in mode \"text\"",
            definition.rows
        ));
    }
    Ok((pieces, slots.first, all))
}

/// The most values of a statement: a PostgreSQL message takes 65535, SQLite 32766.
const MOST_SLOTS: usize = 32_000;

/// Slots that have been numbered so far.
struct Slots<'a> {
    definition: &'a StatementDefinition,
    first: Vec<Option<usize>>,
    count: usize,
}

impl<'a> Slots<'a> {
    fn of(definition: &'a StatementDefinition) -> Self {
        Self {
            definition,
            first: vec![None; definition.params.len()],
            count: 0,
        }
    }

    fn place(&mut self, text: &str) -> Result<Vec<Piece>, String> {
        sql::split(text).into_iter().map(|piece| self.number(piece)).collect()
    }

    fn number(&mut self, piece: SqlPiece) -> Result<Piece, String> {
        let name = match piece {
            SqlPiece::Text(text) => return Ok(Piece::Text(text)),
            SqlPiece::Table => return Ok(Piece::Table),
            SqlPiece::Param(name) => name,
        };
        let index = find_param(&name, self.definition)?;
        let count = self.definition.params[index].1.count.unwrap_or(1) as usize;
        let first = *self.first[index].get_or_insert_with(|| {
            self.count += count;
            self.count - count
        });
        Ok(Piece::Slots { first, count })
    }
}

impl Piece {
    /// The same so many slots later.
    fn moved(&self, by: usize) -> Self {
        match self {
            Self::Slots { first, count } => Self::Slots {
                first: first + by,
                count: *count,
            },
            other => other.clone(),
        }
    }
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
    statements
        .iter()
        .flat_map(StatementDefinition::names)
        .any(|known| known == name)
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
