//! What is in a server before it is measured: tables filled, and scripts run.

pub mod load;
pub mod script;
