//! How long the parts of a row last, and what that means for each client.

use std::sync::Arc;

use serde::Deserialize;

use super::arrivals::{Arrivals, Extent, schedule, share};
use super::client::Pace;
use super::closed::Bound;

/// How long a part of a row lasts: `ms` (and at least `min_ops`) or `ops`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "RawPart")]
pub struct PartSpec {
    pub extent: PartExtent,
    pub arrivals: Option<Arrivals>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PartExtent {
    Time { length_ns: u64, least_ops: u64 },
    Ops(u64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPart {
    ms: Option<u64>,
    ops: Option<u64>,
    min_ops: Option<u64>,
    arrivals: Option<Arrivals>,
}

/// Longer parts are a mistake of the unit.
const LONGEST_MS: u64 = 86_400_000;
/// All arrivals of a part are fixed before it starts, and this many take 80 MB.
const MOST_ARRIVALS: f64 = 1e7;

impl TryFrom<RawPart> for PartSpec {
    type Error = String;

    fn try_from(raw: RawPart) -> Result<Self, String> {
        let extent = match (raw.ms, raw.ops, raw.min_ops) {
            (Some(ms), None, _) if ms > LONGEST_MS => {
                return Err(format!("`ms` is {ms}; accepted is up to {LONGEST_MS}"));
            }
            (_, _, Some(_)) if raw.arrivals.is_some() => {
                return Err("`min_ops` is not accepted with `arrivals`, which alone say how many there are".into());
            }
            (Some(ms), None, least) => PartExtent::Time {
                length_ns: ms * 1_000_000,
                least_ops: least.unwrap_or(0),
            },
            (None, Some(ops), None) => PartExtent::Ops(ops),
            _ => return Err("accepted is either `ms`, perhaps with `min_ops`, or `ops`".into()),
        };
        if let Some(arrivals) = raw.arrivals {
            check_arrivals(arrivals, extent)?;
        }
        Ok(Self {
            extent,
            arrivals: raw.arrivals,
        })
    }
}

/// Whether there is an end to them, in time and in number.
fn check_arrivals(Arrivals { rate, .. }: Arrivals, extent: PartExtent) -> Result<(), String> {
    if !(rate > 0.0 && rate.is_finite()) {
        return Err("`arrivals.rate` must be a positive number of events per second".into());
    }
    let (seconds, events) = match extent {
        PartExtent::Time { length_ns, .. } => (length_ns as f64 / 1e9, length_ns as f64 / 1e9 * rate),
        PartExtent::Ops(ops) => (ops as f64 / rate, ops as f64),
    };
    if events > MOST_ARRIVALS {
        return Err(format!(
            "`arrivals` would be {events:.0} events; accepted is up to {MOST_ARRIVALS:.0}"
        ));
    }
    if seconds * 1e3 > LONGEST_MS as f64 {
        return Err(format!(
            "`arrivals` would take {seconds:.0} s; accepted is up to {} s",
            LONGEST_MS / 1000
        ));
    }
    Ok(())
}

impl PartSpec {
    /// A client's arrivals, seeded by `key`; None in a closed loop.
    pub fn schedule(&self, client: u32, clients: u32, key: [u64; 2]) -> Option<Arc<[u64]>> {
        let extent = match self.extent {
            PartExtent::Time { length_ns, .. } => Extent::Ns(length_ns),
            PartExtent::Ops(ops) => Extent::Ops(ops),
        };
        let arrivals = self.arrivals?;
        Some(schedule(arrivals, extent, client, clients, key).into())
    }

    /// How a client drives a part that starts at `start_ns`.
    pub fn pace(&self, client: u32, clients: u32, start_ns: u64, schedule: Option<Arc<[u64]>>) -> Pace {
        match (schedule, self.extent) {
            (Some(schedule), extent) => Pace::Open {
                start_ns,
                length_ns: match extent {
                    PartExtent::Time { length_ns, .. } => length_ns,
                    PartExtent::Ops(_) => schedule.last().copied().unwrap_or(0),
                },
                schedule,
            },
            (None, PartExtent::Time { length_ns, least_ops }) => Pace::Closed(Bound::Until {
                moment_ns: start_ns + length_ns,
                least_ops: share(least_ops, client, clients),
            }),
            (None, PartExtent::Ops(ops)) => Pace::Closed(Bound::Ops(share(ops, client, clients))),
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
        let never = json!({"ms": 1, "arrivals": {"kind": "poisson", "rate": 0}});
        assert!(part(never).unwrap_err().contains("rate"));
        assert!(part(json!({"ms": u64::MAX})).unwrap_err().contains("accepted is up to"));
    }

    #[test]
    fn operations_and_least_operations_are_shared_out() {
        let shares = |spec: PartSpec| {
            (0..3).map(move |client| match spec.pace(client, 3, 0, None) {
                Pace::Closed(Bound::Ops(ops)) => ops,
                Pace::Closed(Bound::Until { least_ops, .. }) => least_ops,
                Pace::Open { .. } => unreachable!("there are no arrivals"),
            })
        };
        assert_eq!(shares(part(json!({"ops": 10})).unwrap()).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(
            shares(part(json!({"ms": 1, "min_ops": 2})).unwrap()).collect::<Vec<_>>(),
            [1, 1, 0]
        );
    }

    #[test]
    fn arrivals_without_end_are_refused() {
        let with = |mut part_json: serde_json::Value, rate: f64| {
            part_json["arrivals"] = json!({"kind": "poisson", "rate": rate});
            part(part_json)
        };
        for (extent, rate, named) in [
            (
                json!({"ms": 50}),
                1e12,
                "would be 50000000000 events; accepted is up to 10000000",
            ),
            (json!({"ops": 10_000_001}), 1e6, "would be 10000001 events"),
            (
                json!({"ops": 10}),
                1e-9,
                "would take 10000000000 s; accepted is up to 86400 s",
            ),
            (
                json!({"ms": 50, "min_ops": 1}),
                1e3,
                "`min_ops` is not accepted with `arrivals`",
            ),
            (json!({"ms": 50}), -1.0, "`arrivals.rate` must be"),
        ] {
            let refused = with(extent, rate).unwrap_err();
            assert!(refused.contains(named), "{refused}");
        }
        assert!(with(json!({"ms": 10_000}), 1e6).is_ok());
        assert!(with(json!({"ops": 86_400}), 1.0).is_ok());
    }
}
