//! Latencies in ns in an HDR histogram of fixed size: recording never allocates.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::Serialize;

/// Longer latencies are recorded as this: one hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of latencies from 1 ns to one hour, within 0.1 %.
///
/// Counts are 32 bits wide, which halves the memory that is swept between slots (some 130 KB), and saturate.
#[derive(Debug, Clone)]
pub struct Latency {
    histogram: Histogram<u32>,
}

/// What a slot tells of its latencies; all zero when there were none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    pub mean_ns: u64,
    pub p50_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

impl Latency {
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS);
        Self {
            histogram: histogram.expect("the bounds are constants that the histogram accepts"),
        }
    }

    pub fn record(&mut self, elapsed_ns: u64) {
        self.histogram.saturating_record(elapsed_ns);
    }

    pub fn add(&mut self, other: &Latency) {
        self.histogram
            .add(&other.histogram)
            .expect("all histograms have the same bounds");
    }

    pub fn clear(&mut self) {
        self.histogram.reset();
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn percentiles(&self) -> Percentiles {
        if self.histogram.is_empty() {
            return Percentiles::default();
        }
        let at = |percent| self.histogram.value_at_percentile(percent);
        Percentiles {
            mean_ns: self.histogram.mean() as u64,
            p50_ns: at(50.0),
            p95_ns: at(95.0),
            p99_ns: at(99.0),
            max_ns: self.histogram.max(),
        }
    }

    /// HdrHistogram's V2 format, deflated, in base64, as its other implementations and tools read it.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.histogram, &mut bytes)
            .expect("writing to memory does not fail");
        BASE64.encode(bytes)
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn serialised_histograms_can_be_read_back_merged() {
        let (mut one, mut two) = (Latency::new(), Latency::new());
        (1..=900).for_each(|us| one.record(us * 1000));
        (901..=1000).for_each(|us| two.record(us * 1000));
        one.add(&two);
        let bytes = BASE64.decode(one.to_base64()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(read.len(), 1000);
        assert!(one.to_base64().starts_with("HISTFAAAA"));
        assert!(read.value_at_percentile(95.0).abs_diff(950_000) < 2_000);
        assert_eq!(one.percentiles().p95_ns, read.value_at_percentile(95.0));
    }

    #[test]
    fn nothing_recorded_is_all_zero_and_too_long_is_the_longest() {
        let mut latency = Latency::new();
        assert_eq!(latency.percentiles(), Percentiles::default());
        latency.record(u64::MAX);
        assert!(latency.percentiles().max_ns >= HIGHEST_NS);
        latency.clear();
        assert_eq!(latency.count(), 0);
    }
}
