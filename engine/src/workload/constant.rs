//! A value written out.

use serde::Deserialize;

/// A number or a text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "`value` must be a number or a text")]
pub enum ConstantValue {
    Integer(i64),
    Float(f64),
    Text(String),
}
