//! The values of one execution of one statement, in a buffer that is used again and again.

/// A parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Integer(i64),
    Text(&'a [u8]),
}

/// Values by slot. A slot is one placeholder as the server sees it; a list takes as many as it has values.
#[derive(Debug, Default)]
pub struct Params {
    slots: Vec<Slot>,
    texts: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
enum Slot {
    Integer(i64),
    Text { start: usize, end: usize },
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
            Slot::Integer(value) => Value::Integer(value),
            Slot::Text { start, end } => Value::Text(&self.texts[start..end]),
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
        self.slots.resize(len, Slot::Integer(0));
    }

    #[inline]
    pub(crate) fn set_integer(&mut self, slot: usize, value: i64) {
        self.slots[slot] = Slot::Integer(value);
    }

    /// Sets a slot to the text that `write` appends to the buffer.
    #[inline]
    pub(super) fn set_text(&mut self, slot: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.texts.len();
        write(&mut self.texts);
        let end = self.texts.len();
        self.slots[slot] = Slot::Text { start, end };
    }
}
