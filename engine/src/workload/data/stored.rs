//! The two ways in which a generator gives what a staged file has.

use std::sync::Arc;

use super::column::{Column, Pick};
use crate::workload::params::Params;
use crate::workload::stream::Stream;
use crate::workload::values::{Value, ValueType};

/// Gives values as they were staged.
#[derive(Debug, Clone)]
pub enum Stored {
    /// Of the row that is loaded.
    Field(usize),
    Drawn {
        column: Arc<Column>,
        pick: Pick,
    },
}

impl Stored {
    /// `exponent`: of a zipfian pick; without one it is uniform.
    pub fn drawn(file: &str, rows: u64, exponent: Option<f64>, value_type: ValueType) -> Result<Self, String> {
        let column = Column::of(file, value_type, rows)?;
        let pick = match exponent {
            None => Pick::Uniform,
            Some(exponent) => Pick::zipfian(&column, exponent)?,
        };
        Ok(Self::Drawn { column, pick })
    }

    /// `fields`: of the row that is loaded.
    #[inline]
    pub fn draw<'a>(&'a self, stream: &mut Stream, fields: &'a Params) -> Value<'a> {
        match self {
            Self::Field(index) => fields.get(*index),
            Self::Drawn { column, pick } => column.value(pick.draw(column, stream)),
        }
    }
}
