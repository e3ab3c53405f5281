//! Values written out in a list: numbers alone or texts alone.

use crate::workload::constant::ConstantValue;
use crate::workload::values::Number;

#[derive(Debug, Clone)]
pub enum Items {
    Numbers(Vec<Number>),
    Texts(Vec<String>),
}

impl Items {
    pub fn new(values: &[ConstantValue]) -> Result<Self, String> {
        if values.is_empty() {
            return Err("`of` is empty; at least one value is needed".into());
        }
        let mixed = || "`of` has numbers and texts; accepted are numbers alone or texts alone".to_owned();
        if matches!(values[0], ConstantValue::Text(_)) {
            let texts = values.iter().map(|value| match value {
                ConstantValue::Text(text) => Ok(text.clone()),
                _ => Err(mixed()),
            });
            return texts.collect::<Result<_, _>>().map(Self::Texts);
        }
        let numbers = values.iter().map(|value| match value {
            ConstantValue::Integer(value) => Ok(Number::Integer(*value)),
            ConstantValue::Float(value) => Ok(Number::Float(*value)),
            ConstantValue::Text(_) => Err(mixed()),
        });
        numbers.collect::<Result<_, _>>().map(Self::Numbers)
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Whether some of the numbers have a fraction.
    pub fn is_float(&self) -> bool {
        matches!(self, Self::Numbers(numbers) if numbers.iter().any(|number| matches!(number, Number::Float(_))))
    }

    /// 0 when they are texts.
    #[inline]
    pub fn number(&self, index: usize) -> Number {
        match self {
            Self::Numbers(numbers) => numbers[index],
            Self::Texts(_) => Number::Integer(0),
        }
    }

    /// Empty when they are numbers.
    #[inline]
    pub fn text(&self, index: usize) -> &[u8] {
        match self {
            Self::Numbers(_) => b"",
            Self::Texts(texts) => texts[index].as_bytes(),
        }
    }
}
