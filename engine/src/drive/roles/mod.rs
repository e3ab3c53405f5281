//! The kinds of clients of a test: each has statements, a number and a pace of its own.
//!
//! `definition` is a test as received; `seats` says which client is of which role; `together` is what all of them did.

pub mod definition;
pub mod seats;
pub mod together;

pub use definition::{RoleDefinition, RolesDefinition};
pub use seats::{Role, Seat, Seats};
pub use together::{RoleSlots, Together, Total};
