//! What generators remember between draws, and how values are found by name while generators are compiled.

use std::collections::HashSet;

use super::appended::{Ends, EndsOfTables};
use super::params::Params;
use super::stream::Stream;
use super::text::list;
use super::values::{Number, ValueType};

/// What generators remember between draws.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// Latest value of every parameter of the event.
    pub values: Vec<Number>,
    /// How many values each sequence has given to this client.
    pub counters: Vec<u64>,
    /// Clients that share the sequences.
    pub clients: u64,
    /// Of the tables whose rows statements append, delete or look for, by `Scope::add_ends`.
    pub ends: Vec<EndsOfTables>,
    /// The table of the statement, from 0.
    pub table: usize,
    /// Position of the row whose values are drawn, from 0.
    pub row: u64,
    /// What a sample has drawn so far: in order when it is small, else as a set.
    pub taken: Vec<u64>,
    pub taken_set: HashSet<u64>,
    /// Of the row that is loaded, where it comes from a file.
    pub fields: Params,
    /// What the statements of the event have read so far, by `Known::kept`.
    pub kept: Params,
}

impl Memory {
    /// The ends of the statement's table; equal tables that its text does not tell apart count together.
    #[inline]
    pub fn ends_of(&self, index: usize) -> &Ends {
        let tables = &self.ends[index];
        &tables[self.table.min(tables.len() - 1)]
    }

    /// Before a sample is drawn.
    pub fn forget_taken(&mut self) {
        self.taken.clear();
        self.taken_set.clear();
    }

    /// Takes a value of a sample; false when it was taken before. Of `few`, looking at all of them is the fastest.
    #[inline]
    pub fn take(&mut self, value: u64, few: bool) -> bool {
        if !few {
            return self.taken_set.insert(value);
        }
        let is_new = !self.taken.contains(&value);
        if is_new {
            self.taken.push(value);
        }
        is_new
    }

    /// The next number of a sequence that all clients share, from 0; in rows of a table their position.
    #[inline]
    pub fn next_index(&mut self, counter: Option<usize>, stream: &Stream) -> u64 {
        let Some(counter) = counter else { return self.row };
        let drawn = &mut self.counters[counter];
        let index = drawn
            .wrapping_mul(self.clients)
            .wrapping_add(u64::from(stream.client()));
        *drawn += 1;
        index
    }
}

/// Where a parameter can be found by those that refer to it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub name: String,
    /// Index into `Memory::values`; `None` when the parameter is not a single number.
    pub value: Option<usize>,
    pub value_type: ValueType,
    /// Index into `Memory::kept`, of what a statement has read.
    pub kept: Option<usize>,
}

/// Numbers the parameters and sequences of a program or table while it is compiled.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub known: Vec<Known>,
    pub values: usize,
    pub counters: usize,
    pub has_rows: bool,
    /// Names of tables whose ends are known, and whether each of several equal ones has ends of its own.
    pub ends: Vec<(String, bool)>,
    /// Whether the text of the statement that is compiled has the table's number.
    pub names_table: bool,
    /// How many values statements keep.
    pub kept: usize,
    /// Whether a statement of the part of the program that is compiled keeps values, or may be left out.
    pub has_special: bool,
}

impl Scope {
    pub fn memory(&self, clients: u32) -> Memory {
        let mut kept = Params::new();
        kept.reset(self.kept);
        Memory {
            values: vec![Number::Integer(0); self.values],
            counters: vec![0; self.counters],
            clients: u64::from(clients),
            ends: Vec::new(),
            table: 0,
            row: 0,
            taken: Vec::new(),
            taken_set: HashSet::new(),
            fields: Params::new(),
            kept,
        }
    }

    /// What follows may not refer to what came before.
    pub fn forget_names(&mut self) {
        self.known.clear();
        self.has_special = false;
    }

    /// From now on `name` is what a statement has read: its indexes into `Memory::kept` and `Memory::values`. A name that is
    /// kept again is the same place.
    pub fn keep(&mut self, name: &str) -> (usize, usize) {
        let again = self
            .known
            .iter()
            .rfind(|known| known.name == name && known.kept.is_some());
        let places = again.and_then(|known| Some((known.kept?, known.value?)));
        let (kept, value) = places.unwrap_or_else(|| {
            self.kept += 1;
            self.values += 1;
            (self.kept - 1, self.values - 1)
        });
        self.known.push(Known {
            name: name.to_owned(),
            value: Some(value),
            value_type: ValueType::Number,
            kept: Some(kept),
        });
        (kept, value)
    }

    /// Whether the values that are compiled next make up rows of a table.
    pub fn set_rows(&mut self, has_rows: bool) {
        self.has_rows = has_rows;
    }

    /// Of values that make up the rows of a table: these have positions.
    pub fn of_rows() -> Self {
        Self {
            has_rows: true,
            ..Self::default()
        }
    }

    /// Index into `Memory::counters`; none where the position of the row counts.
    pub fn add_counter(&mut self) -> Option<usize> {
        self.counters += usize::from(!self.has_rows);
        (!self.has_rows).then(|| self.counters - 1)
    }

    /// Index into `Memory::ends`.
    pub fn add_ends(&mut self, of: &str) -> usize {
        self.ends.push((of.to_owned(), self.names_table));
        self.ends.len() - 1
    }

    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// The latest value called `name`.
    pub fn find(&self, name: &str) -> Option<&Known> {
        self.known.iter().rfind(|known| known.name == name)
    }

    /// Whether the latest value called `name` is one that a statement has read, or comes of one.
    pub fn is_read(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|known| known.value_type == ValueType::Number)
    }

    /// The memory and type of the latest parameter called `name`.
    pub fn resolve(&self, name: &str) -> Result<(usize, ValueType), String> {
        match self.find(name) {
            Some(Known {
                value: Some(value),
                value_type,
                ..
            }) => Ok((*value, *value_type)),
            Some(_) => Err(format!(
                "it refers to {name:?}, which is a text or a list; accepted is a single number"
            )),
            None => Err(format!(
                "it refers to {name:?}; accepted is an earlier parameter: {}",
                list(self.known.iter().map(|known| known.name.as_str()))
            )),
        }
    }
}
