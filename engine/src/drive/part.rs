//! How long the parts of a row last, and what that means for each client.

use serde::Deserialize;

use super::roles::share;
use crate::drive::pace::closed::Bound;

/// How long a part of a row lasts: `ms` (and at least `min_ops`) or `ops`, perhaps in slices.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "RawPart")]
pub struct PartSpec {
    pub extent: PartExtent,
    /// After so long the next target has its turn, until all have done their operations.
    pub slice_ns: Option<u64>,
    /// A target's slices end after so long in all, whether or not its operations are done.
    pub most_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PartExtent {
    Time { length_ns: u64, least_ops: u64 },
    Ops(u64),
}

impl PartExtent {
    /// None of a part that is bounded by time.
    pub fn ops(&self) -> Option<u64> {
        match *self {
            Self::Ops(ops) => Some(ops),
            Self::Time { .. } => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPart {
    ms: Option<u64>,
    ops: Option<u64>,
    min_ops: Option<u64>,
    slice_ms: Option<u64>,
    most_ms: Option<u64>,
}

/// Longer parts are a mistake of the unit.
const LONGEST_MS: u64 = 86_400_000;

impl TryFrom<RawPart> for PartSpec {
    type Error = String;

    fn try_from(raw: RawPart) -> Result<Self, String> {
        let extent = match (raw.ms, raw.ops, raw.min_ops) {
            (Some(ms), None, _) if ms > LONGEST_MS => {
                return Err(format!("`ms` is {ms}; accepted is up to {LONGEST_MS}"));
            }
            (Some(ms), None, least) => PartExtent::Time {
                length_ns: ms * 1_000_000,
                least_ops: least.unwrap_or(0),
            },
            (None, Some(ops), None) => PartExtent::Ops(ops),
            _ => return Err("accepted is either `ms`, perhaps with `min_ops`, or `ops`".into()),
        };
        if let Some(slice_ms) = raw.slice_ms {
            check_slice(slice_ms, extent)?;
        }
        if raw.most_ms.is_some_and(|ms| raw.slice_ms.is_none() || ms == 0) {
            return Err("`most_ms` is accepted with `slice_ms`, from 1 on: what it bounds is work in slices".into());
        }
        Ok(Self {
            extent,
            slice_ns: raw.slice_ms.map(|ms| ms * 1_000_000),
            most_ns: raw.most_ms.map(|ms| ms.saturating_mul(1_000_000)),
        })
    }
}

fn check_slice(slice_ms: u64, extent: PartExtent) -> Result<(), String> {
    if !matches!(extent, PartExtent::Ops(_)) {
        return Err("`slice_ms` is accepted with `ops`: what is sliced is work with an end".into());
    }
    if !(1..=LONGEST_MS).contains(&slice_ms) {
        return Err(format!("`slice_ms` is {slice_ms}; accepted is 1 to {LONGEST_MS}"));
    }
    Ok(())
}

impl PartSpec {
    /// Nothing for a part that is bounded by operations.
    pub fn length_ns(&self) -> u64 {
        match self.extent {
            PartExtent::Time { length_ns, .. } => length_ns,
            PartExtent::Ops(_) => 0,
        }
    }

    /// When a client's share is over in a part that starts at `start_ns`; `client` of `clients` that share it.
    pub fn bound(&self, client: u32, clients: u32, start_ns: u64) -> Bound {
        match self.extent {
            PartExtent::Time { length_ns, least_ops } => Bound::Until {
                moment_ns: start_ns + length_ns,
                least_ops: share(least_ops, client, clients),
            },
            PartExtent::Ops(ops) => Bound::Ops(share(ops, client, clients)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn part(json: serde_json::Value) -> Result<PartSpec, String> {
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_part_is_bounded_by_time_or_by_operations() {
        let timed = part(json!({"ms": 50, "min_ops": 7})).unwrap();
        assert_eq!(
            timed.extent,
            PartExtent::Time {
                length_ns: 50_000_000,
                least_ops: 7
            }
        );
        assert_eq!(part(json!({"ops": 9})).unwrap().extent, PartExtent::Ops(9));
        for wrong in [
            json!({}),
            json!({"ms": 1, "ops": 1}),
            json!({"ops": 1, "min_ops": 1}),
            json!({"min_ops": 1}),
        ] {
            assert!(part(wrong).unwrap_err().contains("either `ms`"));
        }
        assert!(part(json!({"ms": u64::MAX})).unwrap_err().contains("accepted is up to"));
    }

    #[test]
    fn work_with_an_end_may_be_sliced() {
        let sliced = part(json!({"ops": 9, "slice_ms": 20})).unwrap();
        assert_eq!((sliced.extent, sliced.slice_ns), (PartExtent::Ops(9), Some(20_000_000)));
        let bounded = part(json!({"ops": 9, "slice_ms": 20, "most_ms": 50})).unwrap();
        assert_eq!(bounded.most_ns, Some(50_000_000));
        for (wrong, expected) in [
            (json!({"ms": 9, "slice_ms": 20}), "accepted with `ops`"),
            (json!({"ops": 9, "slice_ms": 0}), "`slice_ms` is 0"),
            (
                json!({"ops": 9, "most_ms": 50}),
                "`most_ms` is accepted with `slice_ms`",
            ),
            (json!({"ops": 9, "slice_ms": 20, "most_ms": 0}), "`most_ms` is accepted"),
        ] {
            let error = part(wrong).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn operations_and_least_operations_are_shared_out() {
        let shares = |spec: PartSpec| {
            (0..3).map(move |client| match spec.bound(client, 3, 0) {
                Bound::Ops(ops) => ops,
                Bound::Until { least_ops, .. } => least_ops,
            })
        };
        assert_eq!(shares(part(json!({"ops": 10})).unwrap()).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(
            shares(part(json!({"ms": 1, "min_ops": 2})).unwrap()).collect::<Vec<_>>(),
            [1, 1, 0]
        );
        for (ops, clients) in [(10, 3), (2, 4), (0, 1), (7, 7)] {
            let shares: Vec<u64> = (0..clients).map(|client| share(ops, client, clients)).collect();
            assert_eq!(shares.iter().sum::<u64>(), ops);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}
