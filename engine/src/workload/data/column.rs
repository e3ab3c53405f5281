//! A column of a staged file in memory, from whose rows parameters are drawn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rand_distr::{Distribution as _, Zipf};

use super::field::{Line, plain, write_bytes};
use super::{open, path_of};
use crate::workload::stream::Stream;
use crate::workload::values::{Value, ValueType};

/// All values that there are, NULLs left out.
#[derive(Debug)]
pub struct Column {
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// Of fixed size.
    Plain(Vec<Value<'static>>),
    /// One after another; value n ends at `ends[n]`.
    Texts {
        bytes: Vec<u8>,
        ends: Vec<usize>,
        is_text: bool,
    },
}

/// What is held now: targets and clients share it, and it goes with the test.
type Held = HashMap<(String, ValueType, u64), Weak<Column>>;

static HELD: Mutex<Option<Held>> = Mutex::new(None);

impl Column {
    /// The values of the first `rows` rows of a file of one column.
    pub fn of(name: &str, value_type: ValueType, rows: u64) -> Result<Arc<Self>, String> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.get_or_insert_default();
        let key = (name.to_owned(), value_type, rows);
        if let Some(column) = held.get(&key).and_then(Weak::upgrade) {
            return Ok(column);
        }
        let column = Arc::new(Self::read(name, value_type, rows)?);
        held.retain(|_, column| column.strong_count() > 0);
        held.insert(key, Arc::downgrade(&column));
        Ok(column)
    }

    fn read(name: &str, value_type: ValueType, rows: u64) -> Result<Self, String> {
        let mut source = open(name)?;
        let mut line = Line::default();
        let mut values = Values::new(value_type);
        for row in 1..=rows {
            let place = |message: String| format!("{}, row {row}: {message}", path_of(name).display());
            if !line.read(&mut source).map_err(place)? {
                break;
            }
            if line.len() != 1 {
                return Err(place(format!("there are {} fields instead of 1", line.len())));
            }
            if let Some(field) = line.field(0) {
                values.push(field, value_type).map_err(place)?;
            }
        }
        if values.len() == 0 {
            return Err(format!(
                "{} has no value in its first {rows} rows",
                path_of(name).display()
            ));
        }
        Ok(Self { values })
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Panics when there is no such value.
    #[inline]
    pub fn value(&self, index: usize) -> Value<'_> {
        match &self.values {
            Values::Plain(values) => values[index],
            Values::Texts { bytes, ends, is_text } => {
                let start = if index == 0 { 0 } else { ends[index - 1] };
                let value = &bytes[start..ends[index]];
                if *is_text {
                    Value::Text(value)
                } else {
                    Value::Bytes(value)
                }
            }
        }
    }
}

impl Values {
    fn new(value_type: ValueType) -> Self {
        match value_type {
            ValueType::Text | ValueType::Bytes => Self::Texts {
                bytes: Vec::new(),
                ends: Vec::new(),
                is_text: value_type == ValueType::Text,
            },
            _ => Self::Plain(Vec::new()),
        }
    }

    fn push(&mut self, field: &[u8], value_type: ValueType) -> Result<(), String> {
        match self {
            Self::Plain(values) => values.push(plain(field, value_type)?),
            Self::Texts { bytes, ends, is_text } => {
                if *is_text {
                    bytes.extend_from_slice(field);
                } else {
                    write_bytes(field, bytes)?;
                }
                ends.push(bytes.len());
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match self {
            Self::Plain(values) => values.len(),
            Self::Texts { ends, .. } => ends.len(),
        }
    }
}

/// Which of the values is drawn.
#[derive(Debug, Clone)]
pub enum Pick {
    Uniform,
    /// The first one most often, then those after it.
    Zipfian(Zipf<f64>),
}

impl Pick {
    pub fn zipfian(column: &Column, exponent: f64) -> Result<Self, String> {
        let zipf = Zipf::new(column.len() as f64, exponent);
        zipf.map(Self::Zipfian)
            .map_err(|error| format!("exponent {exponent} over {} values: {error}", column.len()))
    }

    #[inline]
    pub fn draw(&self, column: &Column, stream: &mut Stream) -> usize {
        let last = column.len() - 1;
        match self {
            Self::Uniform => stream.integer(0, last as i64) as usize,
            Self::Zipfian(zipf) => (zipf.sample(stream.random()) as usize).saturating_sub(1).min(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::data::test_file;
    use crate::workload::stream::Part;

    fn drawn(column: &Column, pick: &Pick, draws: usize) -> Vec<usize> {
        let mut stream = Stream::new(1, 0, 0, Part::Slot);
        (0..draws).map(|_| pick.draw(column, &mut stream)).collect()
    }

    #[test]
    fn values_that_there_are_can_be_drawn() {
        let file = test_file("5\n\\N\n7\n9\n");
        let column = Column::of(file.name(), ValueType::Integer, 3).unwrap();
        assert_eq!(
            [column.value(0), column.value(1)],
            [Value::Integer(5), Value::Integer(7)]
        );
        assert_eq!(column.len(), 2, "the rows asked for, without NULL");
        let again = Column::of(file.name(), ValueType::Integer, 3).unwrap();
        assert!(Arc::ptr_eq(&column, &again));
        assert_eq!(Column::of(file.name(), ValueType::Integer, 9).unwrap().len(), 3);
        assert!(
            Column::of(file.name(), ValueType::Bool, 0)
                .unwrap_err()
                .contains("has no value")
        );
        assert!(
            Column::of(test_file("1\t2\n").name(), ValueType::Text, 1)
                .unwrap_err()
                .contains("2 fields")
        );
    }

    #[test]
    fn texts_and_bytes_lie_one_after_another() {
        for (text, kind, expected) in [
            (
                "\nab\n\\tc\n",
                ValueType::Text,
                [Value::Text(b""), Value::Text(b"ab"), Value::Text(b"\tc")],
            ),
            (
                "\n00\nff01\n",
                ValueType::Bytes,
                [Value::Bytes(b""), Value::Bytes(b"\0"), Value::Bytes(b"\xff\x01")],
            ),
        ] {
            let column = Column::of(test_file(text).name(), kind, 3).unwrap();
            for (index, value) in expected.into_iter().enumerate() {
                assert_eq!(column.value(index), value);
            }
        }
    }

    #[test]
    fn picks_are_uniform_or_favour_the_first() {
        let file = test_file("1\n2\n3\n4\n");
        let column = Column::of(file.name(), ValueType::Integer, 4).unwrap();
        let counted = |pick: &Pick| {
            let mut counts = [0; 4];
            drawn(&column, pick, 40_000)
                .into_iter()
                .for_each(|index| counts[index] += 1);
            counts
        };
        assert!(
            counted(&Pick::Uniform)
                .iter()
                .all(|count| (9_500..10_500).contains(count))
        );
        let [first, second, _, last] = counted(&Pick::zipfian(&column, 1.0).unwrap());
        let share = f64::from(first) / 40_000.0;
        assert!(
            (share - 12.0 / 25.0).abs() < 0.02 && first > second && second > last,
            "{share}"
        );
    }
}
