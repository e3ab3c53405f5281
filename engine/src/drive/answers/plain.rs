//! What a value is, whatever DBMS wrote it and however.

use serde_json::Value as Json;

use super::moment;
use super::number::Decimal;

/// A value of a result.
#[derive(Debug, PartialEq)]
pub enum Plain<'a> {
    Null,
    /// Numbers, booleans (1 and 0), and moments in seconds since 1970.
    Number(Decimal),
    Text(&'a [u8]),
    /// Bytes that were written with digits; objects and lists of JSON, their keys sorted.
    Rewritten(Vec<u8>),
}

impl<'a> Plain<'a> {
    pub fn of(value: Option<&'a [u8]>) -> Self {
        let Some(value) = value else { return Self::Null };
        if let Some(bytes) = bytes_of_hex(value) {
            return match Self::of_text(&bytes) {
                Plain::Number(number) => Self::Number(number),
                Plain::Text(text) => Self::Rewritten(text.to_vec()),
                Plain::Rewritten(text) => Self::Rewritten(text),
                Plain::Null => Self::Null,
            };
        }
        Self::of_text(value)
    }

    fn of_text(text: &[u8]) -> Plain<'_> {
        // CHAR(n) comes padded from some DBMSs and trimmed from others.
        let length = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
        let text = &text[..length];
        let number = match text {
            b"t" | b"true" => Some(Decimal::of_integer(1)),
            b"f" | b"false" => Some(Decimal::of_integer(0)),
            _ => Decimal::read(text).or_else(|| moment::read(text).map(Decimal::of_integer)),
        };
        if let Some(number) = number {
            return Plain::Number(number);
        }
        match text.first() {
            Some(b'{' | b'[') => rewritten_json(text).map_or(Plain::Text(text), Plain::Rewritten),
            _ => Plain::Text(text),
        }
    }
}

/// Of `\x616263`, as PostgreSQL writes bytes.
fn bytes_of_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(br"\x")?;
    let (pairs, []) = digits.as_chunks::<2>() else {
        return None;
    };
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    pairs
        .iter()
        .map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?))
        .collect()
}

fn rewritten_json(text: &[u8]) -> Option<Vec<u8>> {
    let json: Json = serde_json::from_slice(text).ok()?;
    let mut out = Vec::new();
    write_json(&json, &mut out);
    Some(out)
}

fn write_json(json: &Json, out: &mut Vec<u8>) {
    match json {
        Json::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            out.push(b'{');
            for (name, value) in fields {
                out.extend_from_slice(Json::from(name.as_str()).to_string().as_bytes());
                out.push(b':');
                write_json(value, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        Json::Array(items) => {
            out.push(b'[');
            for item in items {
                write_json(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Json::Number(number) => {
            let text = number.to_string();
            let number = Decimal::read(text.as_bytes()).map_or(text, |number| number.to_string());
            out.extend_from_slice(number.as_bytes());
        }
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_whatever_dbms_wrote_them() {
        for same in [
            &["t", "1", "true", "1.0"][..],
            &["f", "0", "false"],
            &[
                "2024-02-29 23:05:06",
                "1709247906",
                "2024-02-29 23:05:06.000000",
                "1709247906000000",
            ],
            &["2024-02-29 23:05:06.5", "1709247906500000"],
            &["2024-02-29", "2024-02-29 00:00:00", "1709164800"],
            &["ab  ", "ab", r"\x6162"],
            &[r#"{"b": [1.0, "x"], "a": null}"#, r#"{"a":null,"b":[1,"x"]}"#],
        ] {
            let first = Plain::of(Some(same[0].as_bytes()));
            for text in same {
                let other = Plain::of(Some(text.as_bytes()));
                assert_eq!(bytes(&first), bytes(&other), "{text}");
            }
        }
    }

    fn bytes(value: &Plain<'_>) -> Vec<u8> {
        match value {
            Plain::Null => b"NULL".to_vec(),
            Plain::Number(number) => number.to_string().into_bytes(),
            Plain::Text(text) => text.to_vec(),
            Plain::Rewritten(text) => text.clone(),
        }
    }

    #[test]
    fn texts_stay_what_they_are() {
        for text in ["007", r"\x6", r"\xzz", "{a}", "[1", "true-ish", " 1", "2024-02-30x"] {
            assert_eq!(Plain::of(Some(text.as_bytes())), Plain::Text(text.as_bytes()));
        }
        assert_eq!(Plain::of(None), Plain::Null);
    }
}
