//! The paces at which a client is driven: a closed loop, one with pauses, and arrivals that are scheduled ahead.

pub mod closed;
pub mod open_loop;
pub mod pausing;
