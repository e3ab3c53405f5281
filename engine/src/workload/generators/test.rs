//! Draws from a lone generator, as the column of a table.

use serde_json::Value as Json;

use crate::workload::definition::GeneratorDefinition;
use crate::workload::generator::Draw;
use crate::workload::params::Params;
use crate::workload::scope::Scope;
use crate::workload::stream::{Part, Stream};
use crate::workload::values::Value;

/// Values as they are written for debugging, texts as they are.
pub fn draws(generator: Json, times: usize) -> Vec<Vec<String>> {
    let definition = GeneratorDefinition::parse(generator, "test").unwrap();
    let count = definition.count.unwrap_or(1) as usize;
    let mut written = Vec::new();
    each(&definition, times, |params| {
        let values = (0..count).map(|slot| match params.get(slot) {
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        });
        written.push(values.collect());
    });
    written
}

pub fn integers(generator: Json, times: usize) -> Vec<i64> {
    let mut values = Vec::new();
    each(
        &GeneratorDefinition::parse(generator, "test").unwrap(),
        times,
        |params| match params.get(0) {
            Value::Integer(value) => values.push(value),
            other => panic!("{other:?}"),
        },
    );
    values
}

pub fn floats(generator: Json, times: usize) -> Vec<f64> {
    let mut values = Vec::new();
    each(
        &GeneratorDefinition::parse(generator, "test").unwrap(),
        times,
        |params| match params.get(0) {
            Value::Float(value) => values.push(value),
            other => panic!("{other:?}"),
        },
    );
    values
}

/// What is said of a generator that is refused.
pub fn error(generator: Json) -> String {
    match GeneratorDefinition::parse(generator, "test") {
        Err(message) => message,
        Ok(definition) => Draw::compile("x", &definition, Some(0), &mut Scope::of_rows()).unwrap_err(),
    }
}

fn each(definition: &GeneratorDefinition, times: usize, mut see: impl FnMut(&Params)) {
    let mut scope = Scope::of_rows();
    let draw = Draw::compile("x", definition, Some(0), &mut scope).unwrap();
    let mut memory = scope.memory(1);
    let mut stream = Stream::new(42, 0, 0, Part::Slot);
    let mut params = Params::new();
    for row in 0..times {
        memory.row = row as u64;
        params.reset(definition.count.unwrap_or(1) as usize);
        draw.draw(&mut stream, &mut memory, &mut params);
        see(&params);
    }
}
