//! Expressions over the row's position and earlier values: `["+", ["/", "row", 100], "id"]`.
//!
//! What they mean is what the suites' own expressions mean (`src/dbversus/suites/expression.py`).

use serde_json::Value as Json;

use crate::workload::scope::{Memory, Scope};
use crate::workload::text::list;
use crate::workload::values::Number;

/// The name of the row's position, from 0.
pub const ROW: &str = "row";

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Expression(Node);

#[derive(Debug, Clone)]
enum Node {
    Constant(Number),
    Row,
    /// Index into `Memory::values`.
    Earlier(usize),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<[Node; 2]>),
    If(Box<[Node; 3]>),
}

type Unary = fn(Number) -> Number;
type Binary = fn(Number, Number) -> Number;

const UNARY: [(&str, Unary); 6] = [
    ("neg", Number::negate),
    ("not", |value| truth(!value.is_true())),
    ("abs", Number::absolute),
    ("floor", |value| Number::Integer(value.integer())),
    ("ceil", |value| Number::Integer(value.negate().integer().wrapping_neg())),
    ("round", |value| match value {
        Number::Float(value) => Number::Integer((value + 0.5).floor() as i64),
        integer => integer,
    }),
];

const BINARY: [(&str, Binary); 16] = [
    ("+", Number::sum),
    ("-", Number::subtract),
    ("*", Number::multiply),
    ("/", Number::divide),
    ("//", Number::floor_divide),
    ("%", Number::modulo),
    ("<", |left, right| truth(left < right)),
    ("<=", |left, right| truth(left <= right)),
    (">", |left, right| truth(left > right)),
    (">=", |left, right| truth(left >= right)),
    ("==", |left, right| {
        truth(left.partial_cmp(&right).is_some_and(|order| order.is_eq()))
    }),
    ("!=", |left, right| {
        truth(left.partial_cmp(&right).is_none_or(|order| order.is_ne()))
    }),
    ("and", |left, right| truth(left.is_true() && right.is_true())),
    ("or", |left, right| truth(left.is_true() || right.is_true())),
    ("min", |left, right| if right < left { right } else { left }),
    ("max", |left, right| if right > left { right } else { left }),
];

fn truth(value: bool) -> Number {
    Number::Integer(i64::from(value))
}

impl Expression {
    pub fn compile(form: &Json, scope: &Scope) -> Result<Self, String> {
        Node::compile(form, scope).map(Self)
    }

    #[inline]
    pub fn value(&self, memory: &Memory) -> Number {
        self.0.value(memory)
    }
}

impl Node {
    fn compile(form: &Json, scope: &Scope) -> Result<Self, String> {
        match form {
            Json::Number(number) => constant(number).map(Self::Constant),
            Json::String(name) if name == ROW => match scope.has_rows() {
                true => Ok(Self::Row),
                false => Err("`row` is known in tables, and in statements with a `position`".into()),
            },
            Json::String(name) => scope.resolve(name).map(|(value, _)| Self::Earlier(value)),
            Json::Array(parts) => Self::operation(form, parts, scope),
            _ => Err(not_accepted(form)),
        }
    }

    fn operation(form: &Json, parts: &[Json], scope: &Scope) -> Result<Self, String> {
        let Some((Json::String(name), operands)) = parts.split_first() else {
            return Err(not_accepted(form));
        };
        let operands = operands
            .iter()
            .map(|operand| Self::compile(operand, scope))
            .collect::<Result<Vec<_>, _>>()?;
        if matches!(name.as_str(), "/" | "//" | "%")
            && !matches!(operands.get(1), Some(Self::Constant(by)) if by.is_true())
        {
            return Err(format!("{form} divides; accepted is a number other than 0"));
        }
        match <[Self; 1]>::try_from(operands).map_err(<[Self; 2]>::try_from) {
            Ok([operand]) => {
                let (_, unary) = *UNARY
                    .iter()
                    .find(|known| known.0 == name)
                    .ok_or_else(|| not_accepted(form))?;
                Ok(Self::Unary(unary, Box::new(operand)))
            }
            Err(Ok(pair)) => {
                let (_, binary) = *BINARY
                    .iter()
                    .find(|known| known.0 == name)
                    .ok_or_else(|| not_accepted(form))?;
                Ok(Self::Binary(binary, Box::new(pair)))
            }
            Err(Err(others)) if name == "if" => {
                let three = <[Self; 3]>::try_from(others).map_err(|_| not_accepted(form))?;
                Ok(Self::If(Box::new(three)))
            }
            Err(Err(_)) => Err(not_accepted(form)),
        }
    }

    fn value(&self, memory: &Memory) -> Number {
        match self {
            Self::Constant(value) => *value,
            Self::Row => Number::Integer(memory.row as i64),
            Self::Earlier(value) => memory.values[*value],
            Self::Unary(unary, operand) => unary(operand.value(memory)),
            Self::Binary(binary, operands) => binary(operands[0].value(memory), operands[1].value(memory)),
            Self::If(parts) if parts[0].value(memory).is_true() => parts[1].value(memory),
            Self::If(parts) => parts[2].value(memory),
        }
    }
}

/// Names of earlier values in an expression.
pub fn names(form: &Json) -> Vec<&str> {
    match form {
        Json::String(name) => vec![name],
        Json::Array(parts) => parts.iter().skip(1).flat_map(names).collect(),
        _ => Vec::new(),
    }
}

fn constant(number: &serde_json::Number) -> Result<Number, String> {
    let value = number.as_i64().map(Number::Integer);
    value
        .or_else(|| number.as_f64().filter(|_| number.is_f64()).map(Number::Float))
        .ok_or_else(|| format!("{number} is too large; accepted are integers of 64 bits with a sign"))
}

fn not_accepted(form: &Json) -> String {
    format!(
        "{form} is no expression; accepted are numbers, names, and lists of an operator and what it works on: {}, if",
        list(
            UNARY
                .iter()
                .map(|known| known.0)
                .chain(BINARY.iter().map(|known| known.0))
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// In row 250, without earlier values.
    fn value(form: Json) -> Result<Number, String> {
        let scope = Scope::of_rows();
        let mut memory = scope.memory(1);
        memory.row = 250;
        Expression::compile(&form, &scope).map(|expression| expression.value(&memory))
    }

    #[test]
    fn operators_mean_what_they_mean_in_suites() {
        for (form, expected) in [
            (json!(["%", "row", 100]), Number::Integer(50)),
            (json!(["+", ["/", "row", 100], 7]), Number::Integer(9)),
            (json!(["/", "row", 100.0]), Number::Float(2.5)),
            (json!(["//", "row", 100.0]), Number::Float(2.0)),
            (json!(["neg", ["-", 0, ["*", "row", 2]]]), Number::Integer(500)),
            (
                json!(["if", ["<", "row", 251], ["min", "row", 3], 0]),
                Number::Integer(3),
            ),
            (
                json!([
                    "if",
                    ["and", ["==", "row", 250.0], ["!=", "row", 250]],
                    1,
                    ["max", 4, 5]
                ]),
                Number::Integer(5),
            ),
            (json!(["or", ["not", "row"], [">=", "row", 250]]), Number::Integer(1)),
            (json!(["ceil", ["/", "row", 99.0]]), Number::Integer(3)),
            (json!(["round", ["abs", -2.5]]), Number::Integer(3)),
            (json!(["floor", -2.5]), Number::Integer(-3)),
        ] {
            assert_eq!(value(form.clone()).unwrap(), expected, "{form}");
        }
    }

    #[test]
    fn mistakes_say_what_is_accepted() {
        for (form, expected) in [
            (
                json!(["**", "row", 2]),
                "[\"**\",\"row\",2] is no expression; accepted are numbers",
            ),
            (json!(["+", "row"]), "is no expression"),
            (json!(["+", 1, 2, 3]), "is no expression"),
            (json!(["if", 1, 2, 3, 4]), "is no expression"),
            (json!([]), "is no expression"),
            (json!({"row": 1}), "is no expression"),
            (json!(["/", "row", 0]), "accepted is a number other than 0"),
            (json!(["%", "row", "row"]), "accepted is a number other than 0"),
            (
                json!(["+", "row", "id"]),
                "refers to \"id\"; accepted is an earlier parameter: none",
            ),
            (json!(18_446_744_073_709_551_615u64), "is too large"),
        ] {
            let error = value(form.clone()).unwrap_err();
            assert!(error.contains(expected), "{form}: {error}");
        }
        let nowhere = Expression::compile(&json!("row"), &Scope::default()).unwrap_err();
        assert!(nowhere.contains("`row` is known in tables"), "{nowhere}");
    }

    #[test]
    fn names_are_those_of_values() {
        assert_eq!(names(&json!(["+", "id", ["min", "row", 3]])), ["id", "row"]);
    }
}
