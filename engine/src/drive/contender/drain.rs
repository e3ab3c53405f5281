//! Letting a server pay what a test has left it to do, and accounting that.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::account::server::Begun;
use crate::account::{Kinds, ServerMeter, kind};
use crate::drive::clock::now_ns;
use crate::drive::contender::Target;
use crate::drive::trouble::Failure;
use crate::record::ServerFigures;

/// What to drain (docs/engine-protocol.md, `drain`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrainSpec {
    pub target: String,
    /// A server that was idle for so long has nothing left to do.
    #[serde(default = "idle_ms")]
    pub idle_ms: u64,
    #[serde(default = "limit_ms")]
    pub limit_ms: u64,
}

fn idle_ms() -> u64 {
    200
}

fn limit_ms() -> u64 {
    2000
}

/// Longer limits are a mistake of the unit.
const LONGEST_MS: u64 = 3_600_000;

/// What the server did meanwhile.
#[derive(Debug, Default, Serialize)]
pub struct Drained {
    pub elapsed_ns: u64,
    /// False: the limit came first.
    pub idle: bool,
    pub background: Kinds,
    #[serde(flatten)]
    pub server: ServerFigures,
}

impl DrainSpec {
    fn check(&self) -> Result<(), Failure> {
        if !(1..=LONGEST_MS).contains(&self.limit_ms) {
            let message = format!("drain: `limit_ms` is {}; accepted is 1 to {LONGEST_MS}", self.limit_ms);
            return Err(Failure::usage(message));
        }
        if !(1..=self.limit_ms).contains(&self.idle_ms) {
            let message = format!("drain: `idle_ms` is {}; accepted is 1 to `limit_ms`", self.idle_ms);
            return Err(Failure::usage(message));
        }
        Ok(())
    }
}

/// Thaws the target and lets it work until it is idle or the limit is reached; freezes it again when it was frozen. A target
/// without an account has nothing to drain: an embedded server works only while its client does.
pub fn drain(target: &mut Target, spec: &DrainSpec) -> Result<Drained, Failure> {
    spec.check()?;
    let was_frozen = target.is_frozen();
    // Readings are exact while the server is frozen, so they are taken outside of the thaw.
    let Some(meter) = &mut target.meter else {
        return Ok(Drained {
            idle: true,
            ..Drained::default()
        });
    };
    meter.look_around();
    let kinds_before = meter.background();
    let disk_before = target.disk.read();
    let begun = meter.begin();
    target.thaw()?;
    let began_ns = now_ns();
    let idle = target
        .meter
        .as_mut()
        .is_some_and(|meter| wait_until_idle(meter, &begun, spec));
    let elapsed_ns = now_ns() - began_ns;
    if was_frozen {
        target.freeze()?;
    }
    let mut drained = Drained {
        elapsed_ns,
        idle,
        ..Drained::default()
    };
    if let Some(meter) = &mut target.meter {
        drained.server = meter.end(&begun).with_disk(target.disk.read().since(&disk_before));
        drained.background = kind::grown(&meter.background(), &kinds_before);
    }
    Ok(drained)
}

fn wait_until_idle(meter: &mut ServerMeter, begun: &Begun, spec: &DrainSpec) -> bool {
    (0..spec.limit_ms / spec.idle_ms).any(|_| {
        let before = meter.pulse(begun);
        std::thread::sleep(Duration::from_millis(spec.idle_ms));
        meter.pulse(begun).is_idle_since(&before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::AccountSpec;
    use crate::account::fake_server::{FakeServer, WORK_CPU_NS};
    use crate::drive::contender::freeze::{FreezeSpec, Freezer};
    use crate::test_tree::{PATIENCE, wait_for};
    use crate::wire::null::NullWire;
    use std::sync::Arc;

    fn target_of(server: &FakeServer) -> Target {
        let spec = AccountSpec {
            root_pid: server.pid(),
            cgroup: None,
        };
        let meter = ServerMeter::open(&spec).unwrap();
        let freezer = Freezer::new(&FreezeSpec::Signal, Some(server.pid())).unwrap();
        Target::new("a".into(), Arc::new(NullWire { reply_bytes: 1 }), Some(meter), freezer)
    }

    fn spec(idle_ms: u64, limit_ms: u64) -> DrainSpec {
        DrainSpec {
            target: "a".into(),
            idle_ms,
            limit_ms,
        }
    }

    /// Again until `is_told` of what the server did: one that gets no CPU for so long looks idle.
    fn drain_until(target: &mut Target, spec: &DrainSpec, mut is_told: impl FnMut(&Drained) -> bool) -> Drained {
        let mut drained = Drained::default();
        wait_for("the server to get some CPU", || {
            drained = drain(target, spec).unwrap();
            is_told(&drained)
        });
        drained
    }

    #[test]
    fn work_that_was_left_is_waited_for_and_accounted() {
        let server = FakeServer::start();
        let mut link = server.connect();
        let mut target = target_of(&server);
        let tid = link.tid();
        target.meter.as_mut().unwrap().set_backends(&[tid]);
        for _ in 0..4 {
            link.leave_work();
        }
        target.freeze().unwrap();
        let spec = spec(200, PATIENCE.as_millis() as u64);
        let (mut cpu_ns, mut of_flusher_ns, mut write_calls) = (0, 0, 0);
        drain_until(&mut target, &spec, |drained| {
            assert!(drained.idle && drained.elapsed_ns >= 200_000_000, "{drained:?}");
            assert!(!drained.background.contains_key("serve"), "{drained:?}");
            let used = &drained.server;
            assert!(used.server_foreground_cpu_ns <= used.server_background_cpu_ns);
            cpu_ns += used.server_background_cpu_ns.unwrap();
            of_flusher_ns += drained.background.get("flusher").copied().unwrap_or(0);
            write_calls += used.server_write_calls.unwrap();
            // The first piece may have been done before the server was frozen, and the second begun.
            of_flusher_ns >= 2 * WORK_CPU_NS && write_calls >= 2
        });
        assert!(target.is_frozen() && cpu_ns >= of_flusher_ns);
        drain_until(&mut target, &spec, |nothing| {
            nothing.idle && nothing.server.server_cpu_ns < Some(WORK_CPU_NS)
        });
        target.thaw().unwrap();
    }

    #[test]
    fn a_server_that_never_rests_is_left_at_the_limit() {
        let server = FakeServer::start();
        let mut link = server.connect();
        let mut target = target_of(&server);
        for _ in 0..1000 {
            link.leave_work();
        }
        let drained = drain_until(&mut target, &spec(50, 150), |drained| !drained.idle);
        assert!(!target.is_frozen(), "{drained:?}");
        assert!(drained.elapsed_ns >= 150_000_000, "{drained:?}");
        // Nobody has told which threads serve connections.
        assert_eq!(drained.server.server_background_cpu_ns, None);
        assert!(drained.background["flusher"] > 0, "{drained:?}");
    }

    #[test]
    fn without_an_account_there_is_nothing_to_drain() {
        let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
        let mut target = Target::new("a".into(), Arc::new(NullWire { reply_bytes: 1 }), None, freezer);
        let drained = drain(&mut target, &spec(200, 2000)).unwrap();
        assert_eq!((drained.idle, drained.elapsed_ns), (true, 0));
        assert_eq!(drained.server, ServerFigures::default());
    }

    #[test]
    fn times_that_make_no_sense_are_refused() {
        for (idle_ms, limit_ms, named) in [
            (0, 10, "`idle_ms` is 0"),
            (20, 10, "`idle_ms` is 20"),
            (1, 0, "`limit_ms` is 0"),
        ] {
            let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
            let mut target = Target::new("a".into(), Arc::new(NullWire { reply_bytes: 1 }), None, freezer);
            let refused = drain(&mut target, &spec(idle_ms, limit_ms)).unwrap_err();
            assert!(refused.message.contains(named), "{}", refused.message);
        }
    }
}
