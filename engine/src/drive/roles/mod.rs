//! The kinds of clients of a test: each has statements, a number and a pace of its own.
//!
//! `definition` is a test as received; `seats` says which client is of which role; `together` is what all of them did. `joint`
//! is work with an end that they do together, of which a `turn` is one client's slice; `bell` wakes those who wait.

pub mod bell;
pub mod definition;
pub mod joint;
pub mod seats;
pub mod together;
pub mod turn;

pub use definition::{RoleDefinition, RolesDefinition, Share};
pub use joint::Joint;
pub use seats::{Role, Seat, Seats, share};
pub use together::{RoleSlots, Together, Total};
pub use turn::{Errand, Turn};
