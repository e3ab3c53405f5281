//! From a suite's test definition (docs/engine-protocol.md, TEST) to a compiled program and its parameter streams.
//!
//! `definition` is the JSON as received, `program` what it compiles to, `statement` one of its statements, `sql` takes the
//! text of one apart, `params` are its values, `generator` draws them, `stream` seeds them, `table` describes a table to
//! load, `rows` fills it.

pub mod definition;
pub mod generator;
mod ordered;
pub mod params;
pub mod program;
pub mod rows;
mod sql;
pub mod statement;
pub mod stream;
pub mod table;
pub mod text;

pub use definition::TestDefinition;
pub use params::{Params, Value};
pub use program::{Program, Scratch};
pub use rows::TableRows;
pub use statement::{Execution, Mode, Statement};
pub use stream::{Part, Stream};
pub use table::TableSpec;
