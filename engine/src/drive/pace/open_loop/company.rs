//! The clients that drive one part of a row together. Those of open loops go on until the last of all clients has come to its
//! end: the schedule's clock runs for as long as the server is driven, and what is due meanwhile has to be sent meanwhile.

use std::sync::atomic::{AtomicU32, Ordering};

/// So many clients have not come to their end yet.
#[derive(Debug)]
pub struct Company(AtomicU32);

/// One of them. It has come to its end when it says so, or is dropped.
pub struct Member<'a> {
    company: &'a Company,
    is_driving: bool,
}

impl Company {
    pub fn of(clients: u32) -> Self {
        Self(AtomicU32::new(clients))
    }

    /// To be called once by each client.
    pub fn member(&self) -> Member<'_> {
        Member {
            company: self,
            is_driving: true,
        }
    }
}

impl Member<'_> {
    pub fn end(&mut self) {
        if self.is_driving {
            self.is_driving = false;
            self.company.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether all of the company have come to their end.
    pub fn is_last(&self) -> bool {
        self.company.0.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
