//! A target: how to reach it, what it costs, how to freeze it.

pub mod backends;
pub mod drain;
pub mod freeze;

use std::sync::Arc;

use crate::account::{DiskMeter, ServerMeter};
use crate::drive::contender::freeze::Freezer;
use crate::drive::trouble::Failure;
use crate::wire::Wire;
use crate::workload::Appended;

pub struct Target {
    pub name: String,
    pub wire: Arc<dyn Wire>,
    /// None when the server is embedded, or nothing is known of it.
    pub meter: Option<ServerMeter>,
    /// Of the disk that holds its data; it tells nothing where that was not named.
    pub disk: DiskMeter,
    /// Rows that tests have appended to its tables.
    pub appended: Appended,
    freezer: Freezer,
}

impl Target {
    pub fn new(name: String, wire: Arc<dyn Wire>, meter: Option<ServerMeter>, freezer: Freezer) -> Self {
        Self {
            name,
            wire,
            meter,
            disk: DiskMeter::default(),
            appended: Appended::default(),
            freezer,
        }
    }

    pub fn is_frozen(&self) -> bool {
        self.freezer.is_frozen()
    }

    pub fn freeze(&mut self) -> Result<(), Failure> {
        self.freezer
            .freeze()
            .map_err(|error| Failure::io(error.to_string()).at(&self.name))
    }

    pub fn thaw(&mut self) -> Result<(), Failure> {
        self.freezer
            .thaw()
            .map_err(|error| Failure::io(error.to_string()).at(&self.name))
    }

    /// Does something that needs the server awake, and freezes it again when it was frozen.
    pub fn awake<T>(&mut self, job: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        let was_frozen = self.is_frozen();
        self.thaw()?;
        let outcome = job(self);
        if was_frozen {
            self.freeze()?;
        }
        outcome
    }
}
