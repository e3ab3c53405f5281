//! Moments at which an open loop sends its events, fixed before the slot starts.

use rand::{Rng, SeedableRng};
use rand_distr::Exp;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

/// How events arrive, all clients together.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    pub kind: ArrivalKind,
    /// Events per second.
    pub rate: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalKind {
    /// At equal distances.
    Constant,
    /// At independent, exponentially distributed distances.
    Poisson,
}

/// How long arrivals go on, all clients together.
#[derive(Debug, Clone, Copy)]
pub enum Extent {
    Ns(u64),
    Ops(u64),
}

/// Arrivals of one client in ns after the start of the slot, in order.
///
/// `key` seeds the Poisson process, so that every target of a row sees the same arrivals.
pub fn schedule(arrivals: Arrivals, extent: Extent, client: u32, clients: u32, key: [u64; 2]) -> Vec<u64> {
    let distance_ns = 1e9 * f64::from(clients) / arrivals.rate;
    let moments: Box<dyn Iterator<Item = f64>> = match arrivals.kind {
        ArrivalKind::Constant => {
            let first_ns = distance_ns * (f64::from(client) + 0.5) / f64::from(clients);
            Box::new((0u32..).map(move |number| first_ns + f64::from(number) * distance_ns))
        }
        ArrivalKind::Poisson => poisson(distance_ns, client, key),
    };
    let moments = moments.map(|moment| moment as u64);
    match extent {
        Extent::Ns(length_ns) => moments.take_while(|moment| *moment < length_ns).collect(),
        Extent::Ops(ops) => moments.take(share(ops, client, clients) as usize).collect(),
    }
}

fn poisson(distance_ns: f64, client: u32, [seed, row]: [u64; 2]) -> Box<dyn Iterator<Item = f64>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ row.rotate_left(32) ^ u64::from(client).rotate_left(48));
    let distances = Exp::new(1.0 / distance_ns).expect("the rate is positive, which is checked on input");
    let mut moment = 0.0;
    Box::new(std::iter::from_fn(move || {
        moment += random.sample(distances);
        Some(moment)
    }))
}

/// A client's share of `ops`: as equal as whole numbers allow, first clients first.
pub fn share(ops: u64, client: u32, clients: u32) -> u64 {
    let (client, clients) = (u64::from(client), u64::from(clients));
    ops / clients + u64::from(client < ops % clients)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(kind: ArrivalKind, rate: f64) -> Arrivals {
        Arrivals { kind, rate }
    }

    #[test]
    fn shares_add_up_and_differ_by_one_at_most() {
        for (ops, clients) in [(10, 3), (2, 4), (0, 1), (7, 7)] {
            let shares: Vec<u64> = (0..clients).map(|client| share(ops, client, clients)).collect();
            assert_eq!(shares.iter().sum::<u64>(), ops);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn constant_arrivals_of_all_clients_interleave() {
        let constant = arrivals(ArrivalKind::Constant, 1000.0);
        let mut all: Vec<u64> = (0..3)
            .flat_map(|client| schedule(constant, Extent::Ns(9_000_000), client, 3, [1, 1]))
            .collect();
        all.sort_unstable();
        assert_eq!(
            all,
            (0..9).map(|number| number * 1_000_000 + 500_000).collect::<Vec<_>>()
        );
        assert_eq!(schedule(constant, Extent::Ops(5), 1, 2, [1, 1]), [1_500_000, 3_500_000]);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_depend_on_the_key_alone() {
        let poisson = arrivals(ArrivalKind::Poisson, 5000.0);
        let of = |row| schedule(poisson, Extent::Ns(4_000_000_000), 0, 1, [7, row]);
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
        let count = of(3).len() as f64;
        assert!((count - 20_000.0).abs() < 5.0 * 20_000f64.sqrt(), "{count}");
        let distances: Vec<f64> = of(3).windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05);
    }
}
