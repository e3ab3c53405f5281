//! Texts with earlier values in them: `host_{id}`.

use serde_json::Value as Json;

use super::expression::Expression;
use crate::workload::scope::{Memory, Scope};
use crate::workload::stream::Stream;
use crate::workload::template::Template;
use crate::workload::text::write_integer;
use crate::workload::values::{Number, write_plain_float};

/// A template taken apart: texts, and between them earlier values.
#[derive(Debug, Clone)]
pub struct Filled {
    first: Template,
    /// A value, and the text after it.
    others: Vec<(Expression, Template)>,
}

impl Filled {
    pub fn compile(template: &str, scope: &Scope) -> Result<Self, String> {
        let (first, others) = split(template);
        let compiled =
            |(name, text): (&str, &str)| Ok((Expression::compile(&Json::from(name), scope)?, Template::new(text)));
        let others = others.into_iter().map(compiled).collect::<Result<Vec<_>, String>>()?;
        Ok(Self {
            first: Template::new(first),
            others,
        })
    }

    /// Whether the template names any.
    pub fn has_values(&self) -> bool {
        !self.others.is_empty()
    }

    #[inline]
    pub fn write(&self, stream: &mut Stream, memory: &Memory, out: &mut Vec<u8>) {
        self.first.write(stream, out);
        for (value, text) in &self.others {
            match value.value(memory) {
                Number::Integer(value) => write_integer(value, out),
                Number::Float(value) => write_plain_float(value, out),
            }
            text.write(stream, out);
        }
    }
}

/// Names of the values in a template.
pub fn names(template: &str) -> Vec<&str> {
    split(template).1.into_iter().map(|(name, _)| name).collect()
}

/// The text before the first name, then each name with the text after it. Other braces are text.
fn split(template: &str) -> (&str, Vec<(&str, &str)>) {
    let mut names = Vec::new();
    for (start, _) in template.match_indices('{') {
        let rest = &template[start + 1..];
        if let Some(end) = rest.find('}').filter(|&end| is_name(&rest[..end])) {
            names.push((start, start + end + 2));
        }
    }
    let ends = names.iter().skip(1).map(|&(start, _)| start).chain([template.len()]);
    let others = names.iter().zip(ends);
    let others = others.map(|(&(start, end), next)| (&template[start + 1..end - 1], &template[end..next]));
    let first = names.first().map_or(template.len(), |&(start, _)| start);
    (&template[..first], others.collect())
}

fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_part) && !text.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_in_braces() {
        assert_eq!(split("host_{id}"), ("host_", vec![("id", "")]));
        assert_eq!(split("{a}-{b_2}#"), ("", vec![("a", "-"), ("b_2", "#")]));
        assert_eq!(split(r#"{"a": {id}}"#), (r#"{"a": "#, vec![("id", "}")]));
        for plain in [r#"{"a": 1}"#, "{}", "{1}", "}{", "{ a }", "{a"] {
            assert_eq!(split(plain), (plain, vec![]));
        }
    }
}
