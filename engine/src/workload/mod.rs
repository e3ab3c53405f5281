//! From a suite's test definition (docs/engine-protocol.md, TEST) to a compiled program and its parameter streams.
//!
//! `definition` is the JSON as received, `program` what it compiles to, `generator` draws values, `stream` seeds them,
//! `table` describes a table to load.

pub mod definition;
pub mod generator;
pub mod program;
pub mod stream;
pub mod table;

pub use definition::TestDefinition;
pub use generator::Value;
pub use program::{Params, Program};
pub use stream::Stream;
pub use table::TableSpec;
