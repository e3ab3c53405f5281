//! The values of one execution of one statement, in a buffer that is used again and again.

use super::values::Value;

/// Values by slot. A slot is one placeholder as the server sees it; a list takes as many as it has values.
#[derive(Debug, Clone, Default)]
pub struct Params {
    slots: Vec<Slot>,
    texts: Vec<u8>,
    /// Where the slots of the row begin whose values are being set.
    first: usize,
}

#[derive(Debug, Clone, Copy)]
enum Slot {
    Plain(Value<'static>),
    Text { start: usize, end: usize },
    Bytes { start: usize, end: usize },
}

impl Params {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The value of a slot; panics when there is no such slot.
    #[inline]
    pub fn get(&self, slot: usize) -> Value<'_> {
        match self.slots[slot] {
            Slot::Plain(value) => value,
            Slot::Text { start, end } => Value::Text(&self.texts[start..end]),
            Slot::Bytes { start, end } => Value::Bytes(&self.texts[start..end]),
        }
    }

    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value<'_>> {
        (0..self.slots.len()).map(|slot| self.get(slot))
    }

    /// Forgets all values and makes room for `len` new ones.
    #[inline]
    pub(crate) fn reset(&mut self, len: usize) {
        self.texts.clear();
        self.first = 0;
        self.slots.resize(len, Slot::Plain(Value::Integer(0)));
    }

    /// Slots are counted from this one on, until the next `reset`.
    #[inline]
    pub(super) fn begin_row(&mut self, first: usize) {
        self.first = first;
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: usize, value: Value<'static>) {
        self.slots[self.first + slot] = Slot::Plain(value);
    }

    /// Sets a slot to a copy of the value.
    #[inline]
    pub(crate) fn put(&mut self, slot: usize, value: Value<'_>) {
        match (value, value.plain()) {
            (Value::Text(text), _) => self.set_text(slot, |out| out.extend_from_slice(text)),
            (Value::Bytes(bytes), _) => self.set_bytes(slot, |out| out.extend_from_slice(bytes)),
            (_, Some(plain)) => self.set(slot, plain),
            (_, None) => {}
        }
    }

    /// Sets a slot to the text that `write` appends to the buffer.
    #[inline]
    pub(super) fn set_text(&mut self, slot: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.texts.len();
        write(&mut self.texts);
        let end = self.texts.len();
        self.slots[self.first + slot] = Slot::Text { start, end };
    }

    /// As `set_text`, for bytes.
    pub(super) fn set_bytes(&mut self, slot: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.texts.len();
        write(&mut self.texts);
        let end = self.texts.len();
        self.slots[self.first + slot] = Slot::Bytes { start, end };
    }
}
