//! What is kept of a slot: latencies, error counts, and counters of what it cost.

pub mod errors;
pub mod figures;
pub mod latency;

pub use errors::Errors;
pub use figures::{ClientFigures, HostFigures, ServerFigures, SettleFigures};
pub use latency::{Latency, Percentiles};
