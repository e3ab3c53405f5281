//! From a suite's test definition (docs/engine-protocol.md, TEST) to a compiled program and its parameter streams.
//!
//! `definition` is the JSON as received, `program` what it compiles to, `sql` a statement's text, `params` its values,
//! `generator` draws them, `stream` seeds them, `table` describes a table to load, `rows` fills it.

pub mod definition;
pub mod generator;
mod ordered;
pub mod params;
pub mod program;
pub mod rows;
mod sql;
pub mod stream;
pub mod table;

pub use definition::TestDefinition;
pub use generator::Value;
pub use params::Params;
pub use program::{EventSink, Execution, Program, Scratch, Statement};
pub use rows::TableRows;
pub use stream::{Part, Stream};
pub use table::TableSpec;
