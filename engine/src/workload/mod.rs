//! From a suite's test definition (docs/engine-protocol.md, TEST) to a compiled program and its parameter streams.
//!
//! `definition` is the JSON as received, `program` what it compiles to, `mix` what an event of it may be, `statement` one of
//! its statements, `keep` what it reads for others and when it is left out, `sql` takes the text of one apart, `params` are its values, `values` their types. `generator` draws them,
//! `generators` those that depend on other values; `scope` is what they remember. `stream` seeds them, `table` describes a
//! table to load and fills it, `appended` counts the rows that come after.

mod appended;
mod constant;
mod data;
pub mod definition;
pub mod generator;
mod generators;
mod keep;
pub mod mix;
mod ordered;
pub mod params;
pub mod program;
mod scope;
mod sql;
pub mod statement;
pub mod stream;
pub mod table;
mod template;
pub mod text;
pub mod values;

pub use appended::Appended;
pub use definition::TestDefinition;
pub use keep::FirstRow;
pub use params::Params;
pub use program::{Program, Scratch};
pub use statement::{Execution, Mode, Statement};
pub use stream::{Part, Stream};
pub use table::TableSpec;
pub use table::rows::TableRows;
pub use values::{Value, ValueType};
