//! Streams of random numbers: what a client draws depends on (seed, row, client, part) alone, so every target of a row
//! sees the same parameters in the same order.

use rand::RngCore;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream is for; parts of the same row must not repeat each other's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Settle,
    Slot,
    Load,
    Check,
}

/// The random numbers of one client in one part of one row.
#[derive(Debug, Clone)]
pub struct Stream {
    random: Xoshiro256PlusPlus,
    client: u32,
}

impl Stream {
    pub fn new(seed: u64, row: u64, client: u32, part: Part) -> Self {
        let key = [row, u64::from(client), part as u64]
            .iter()
            .fold(mix(seed), |key, &input| mix(key ^ mix(input)));
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(key),
            client,
        }
    }

    /// The client's number, from 0.
    pub fn client(&self) -> u32 {
        self.client
    }

    /// Uniform in 0..2^64.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Uniform in [0, 1).
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
        (self.bits() >> 11) as f64 * SCALE
    }

    /// Uniform in `low..=high`, by multiplication: the bias is below (high - low) / 2^64.
    #[inline]
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        let width = high.wrapping_sub(low) as u64 as u128 + 1;
        let offset = ((u128::from(self.bits()) * width) >> 64) as u64;
        low.wrapping_add(offset as i64)
    }

    /// For distributions of other crates.
    pub(super) fn random(&mut self) -> &mut impl RngCore {
        &mut self.random
    }
}

/// The finaliser of SplitMix64 over its additive constant: a bijection that spreads neighbouring inputs over all 64 bits.
pub(super) fn mix(input: u64) -> u64 {
    let mut z = input.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_inputs_give_the_same_stream_and_any_other_input_another() {
        let first = |seed, row, client, part| Stream::new(seed, row, client, part).bits();
        let reference = first(1, 2, 3, Part::Slot);
        assert_eq!(reference, first(1, 2, 3, Part::Slot));
        let others = [
            first(2, 2, 3, Part::Slot),
            first(1, 3, 3, Part::Slot),
            first(1, 2, 4, Part::Slot),
            first(1, 2, 3, Part::Settle),
            first(1, 3, 2, Part::Slot),
        ];
        assert!(
            others.iter().all(|&other| other != reference),
            "{reference} in {others:?}"
        );
    }

    #[test]
    fn integers_cover_their_whole_range_and_nothing_else() {
        let mut stream = Stream::new(7, 0, 0, Part::Slot);
        let mut seen = [0u32; 5];
        for _ in 0..50_000 {
            seen[(stream.integer(-2, 2) + 2) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (9_500..10_500).contains(&count)), "{seen:?}");
        assert_eq!(stream.integer(9, 9), 9);
        stream.integer(i64::MIN, i64::MAX);
    }

    #[test]
    fn fractions_have_the_mean_of_the_uniform_distribution() {
        let mut stream = Stream::new(7, 0, 0, Part::Slot);
        let mean = (0..100_000).map(|_| stream.fraction()).sum::<f64>() / 100_000.0;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
