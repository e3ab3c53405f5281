//! Generators whose values depend on more than chance: on the row's position, on earlier values, on a key, on each other.
//!
//! Each has a `Spec`, as received, and what that compiles to.

mod arithmetic;
pub(super) mod choice;
mod distribution;
pub(super) mod expression;
pub(super) mod filled;
pub(super) mod grid;
mod items;
pub(super) mod present;
pub(super) mod sample;
#[cfg(test)]
pub(super) mod test;
pub(super) mod walk;

pub(super) use choice::Choice;
pub(super) use distribution::{Distribution, mean_of_fractions};
pub(super) use expression::Expression;
pub(super) use filled::Filled;
pub(super) use grid::Grid;
pub(super) use items::Items;
pub(super) use present::Present;
pub(super) use sample::Sample;
pub(super) use walk::Walk;
