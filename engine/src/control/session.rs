//! Carrying out commands: the targets that are known, and the test that is open.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::command::{Command, ManyTargets, OneTarget, PrepareSpec, QuerySpec, RowsSpec, TargetSpec};
use super::output::Output;
use crate::account::{DiskMeter, Kinds, ServerMeter};
use crate::drive::check::{self, CheckSpec};
use crate::drive::contender::Target;
use crate::drive::contender::drain::{self, DrainSpec};
use crate::drive::contender::freeze::Freezer;
use crate::drive::data::load::{self, LoadSpec};
use crate::drive::data::script::{self, ScriptSpec};
use crate::drive::part::PartExtent;
use crate::drive::roles::Seats;
use crate::drive::rows::{Row, RowRunner, RowSpec, SecondOf, Stopped};
use crate::drive::test::{OpenSpec, OpenTest};
use crate::drive::trouble::Failure;
use crate::wire::{self, Connection, TextTable};
use crate::workload::Appended;

/// Version of docs/engine-protocol.md that is spoken here.
const PROTOCOL: u32 = 1;

/// Field order matters: connections are closed before targets are forgotten.
#[derive(Default)]
pub struct Session {
    test: Option<OpenTest>,
    /// Of scripts that are to go on, by target.
    scripts: BTreeMap<String, Box<dyn Connection>>,
    targets: BTreeMap<String, Target>,
    /// What was appended to the tables of targets that were dropped.
    appended: BTreeMap<String, Appended>,
}

/// What is said of all rows of a command in its last line.
#[derive(Serialize)]
struct RowsEnd<'a> {
    latency: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    roles: BTreeMap<&'a str, BTreeMap<String, BTreeMap<&'static str, String>>>,
    error_examples: BTreeMap<&'a str, BTreeMap<&'static str, &'a str>>,
    background: BTreeMap<String, Kinds>,
    accounting_notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
}

#[derive(Serialize)]
struct TaggedRow<'a> {
    tag: &'a Value,
    #[serde(flatten)]
    row: Row,
}

impl Session {
    /// Carries out a command and answers it. Fails only when the answer cannot be written.
    pub fn carry_out(&mut self, command: Command, output: &mut Output<impl Write>) -> io::Result<()> {
        let answer = match command {
            Command::Load(spec) => return self.load(&spec, output),
            Command::Rows(spec) => return self.rows(&spec, output),
            Command::Hello | Command::Quit => Ok(hello()),
            Command::Target(spec) => self.target(spec),
            Command::Drop(spec) => self.drop_target(&spec),
            Command::Query(spec) => self.query(&spec),
            Command::Prepare(spec) => self.prepare(&spec),
            Command::Script(spec) => self.script(&spec),
            Command::Open(spec) => self.open(spec),
            Command::Check(spec) => self.check(spec),
            Command::Drain(spec) => self.drain(&spec),
            Command::Close => {
                self.test = None;
                Ok(json!({}))
            }
            Command::Freeze(spec) => self.each(&spec, Target::freeze),
            Command::Thaw(spec) => self.each(&spec, Target::thaw),
        };
        answer_with(output, answer)
    }

    fn target(&mut self, spec: TargetSpec) -> Result<Value, Failure> {
        let usage = |message: String| Failure::usage(message).at(&spec.name);
        if self.targets.contains_key(&spec.name) {
            return Err(usage(format!(
                "`name`: there is a target {:?} already; drop it first",
                spec.name
            )));
        }
        let wire = wire::from_address(&spec.wire, &spec.address, spec.session_sql.clone()).map_err(usage)?;
        let meter = spec.account.as_ref().map(ServerMeter::open).transpose();
        let meter = meter.map_err(|error| usage(format!("`account`: {error}")))?;
        let root_pid = spec.account.as_ref().map(|account| account.root_pid);
        let freezer = Freezer::new(&spec.freeze.clone().unwrap_or_default(), root_pid).map_err(usage)?;
        let mut target = Target::new(spec.name.clone(), Arc::from(wire), meter, freezer);
        target.disk = spec.disk.as_ref().map(DiskMeter::open).unwrap_or_default();
        if let Some(appended) = self.appended.remove(&spec.name).filter(|_| spec.goes_on) {
            target.appended = appended;
        }
        self.targets.insert(spec.name, target);
        Ok(json!({}))
    }

    fn drop_target(&mut self, spec: &OneTarget) -> Result<Value, Failure> {
        self.find(&spec.target)?;
        if self
            .test
            .as_ref()
            .is_some_and(|test| test.targets.contains(&spec.target))
        {
            self.test = None;
        }
        self.scripts.remove(&spec.target);
        if let Some(target) = self.targets.remove(&spec.target) {
            self.appended.insert(spec.target.clone(), target.appended);
        }
        Ok(json!({}))
    }

    fn script(&mut self, spec: &ScriptSpec) -> Result<Value, Failure> {
        let kept = self.scripts.remove(&spec.target);
        let ran = self.find(&spec.target)?.awake(|target| {
            let mut connection = kept.map_or_else(|| target.wire.connect().map_err(Failure::connect), Ok)?;
            script::run(connection.as_mut(), spec).map(|ran| (ran, connection))
        });
        let (ran, connection) = ran.map_err(|failure| failure.at(&spec.target))?;
        if spec.more {
            self.scripts.insert(spec.target.clone(), connection);
        }
        Ok(json!(ran))
    }

    fn query(&mut self, spec: &QuerySpec) -> Result<Value, Failure> {
        if let Some(limit) = spec.counted_s {
            return self.counted(spec, limit);
        }
        let table = self.find(&spec.target)?.awake(|target| {
            let mut connection = target.wire.connect().map_err(Failure::connect)?;
            connection.query(&spec.sql).map_err(Failure::statement)
        });
        let TextTable {
            columns,
            rows,
            affected,
        } = table.map_err(|failure| failure.at(&spec.target))?;
        Ok(json!({"columns": columns, "rows": rows, "affected": affected}))
    }

    fn prepare(&mut self, spec: &PrepareSpec) -> Result<Value, Failure> {
        let taken = self.find(&spec.target)?.awake(|target| {
            let mut connection = target.wire.connect().map_err(Failure::connect)?;
            let times = (0..spec.times).map(|_| connection.time_prepare(&spec.sql));
            times.collect::<Result<Vec<_>, _>>().map_err(Failure::statement)
        });
        let taken = taken.map_err(|failure| failure.at(&spec.target))?;
        Ok(json!({"prepare_ns": taken}))
    }

    fn counted(&mut self, spec: &QuerySpec, limit: Duration) -> Result<Value, Failure> {
        let counted = self.find(&spec.target)?.awake(|target| {
            let mut connection = target.wire.connect().map_err(Failure::connect)?;
            connection.run_counted(&spec.sql, limit).map_err(Failure::statement)
        });
        Ok(json!({"statements": counted.map_err(|failure| failure.at(&spec.target))?}))
    }

    fn load(&mut self, spec: &LoadSpec, output: &mut Output<impl Write>) -> io::Result<()> {
        let mut written = Ok(());
        let loaded = self.find(&spec.target).and_then(|target| {
            target.awake(|target| {
                load::load(target, spec, &mut |rows| {
                    if written.is_ok() {
                        written = output.line(&json!({"rows": rows}));
                    }
                })
            })
        });
        written?;
        answer_with(output, loaded.map_err(|failure| failure.at(&spec.target)))
    }

    fn open(&mut self, spec: OpenSpec) -> Result<Value, Failure> {
        self.test = None;
        let mut targets = pick(&mut self.targets, &spec.targets)?;
        if targets.is_empty() {
            return Err(Failure::usage(
                "open: `targets` is empty; accepted are names of targets",
            ));
        }
        for target in &mut targets {
            target.thaw()?;
        }
        let (test, backends) = OpenTest::open(spec, &mut targets)?;
        self.test = Some(test);
        Ok(json!({"backends": backends}))
    }

    fn check(&mut self, spec: CheckSpec) -> Result<Value, Failure> {
        let test = self.test.as_mut().ok_or_else(no_test)?;
        let mut checked = serde_json::Map::new();
        for (index, name) in test.targets.iter().enumerate() {
            let target = self.targets.get_mut(name).expect("dropping a target closes its test");
            let (crew, seats) = (&mut test.crew, &test.seats);
            let of_target = target.awake(|_| {
                let roles = (0..seats.roles.len()).map(|role| {
                    let checked = crew.run_one(seats.first_of(role), move |client| check::check(client, index, spec));
                    Ok((seats.roles[role].name.clone(), checked?))
                });
                roles.collect::<Result<_, Failure>>().map(check::join)
            });
            let of_target = of_target.map_err(|failure| failure.at(name))?;
            checked.insert(name.clone(), json!(of_target));
        }
        Ok(json!({"targets": checked}))
    }

    fn drain(&mut self, spec: &DrainSpec) -> Result<Value, Failure> {
        let drained = drain::drain(self.find(&spec.target)?, spec)?;
        Ok(json!(drained))
    }

    fn each(
        &mut self,
        spec: &ManyTargets,
        action: impl Fn(&mut Target) -> Result<(), Failure>,
    ) -> Result<Value, Failure> {
        pick(&mut self.targets, &spec.targets)?
            .into_iter()
            .try_for_each(action)?;
        Ok(json!({}))
    }

    fn rows(&mut self, spec: &RowsSpec, output: &mut Output<impl Write>) -> io::Result<()> {
        let (orders, mut runner) = match self.prepare_rows(spec) {
            Ok(prepared) => prepared,
            Err(failure) => return output.error(&failure),
        };
        let mut stopped = None;
        for (row, order) in (spec.first_row..).zip(orders) {
            let mut told = Ok(());
            let outcome = runner.run(row, &order, &mut |seconds| {
                if told.is_ok() {
                    told = tell_seconds(output, &spec.tag, seconds);
                }
            });
            told?;
            match outcome {
                Ok(row) => {
                    output.line(&TaggedRow { tag: &spec.tag, row })?;
                    tell_seconds(output, &spec.tag, runner.take_seconds(false))?;
                }
                Err(reason) => {
                    stopped = Some(reason);
                    break;
                }
            }
        }
        tell_seconds(output, &spec.tag, runner.take_seconds(true))?;
        let background = runner.background();
        output.done(&rows_end(&runner, background, stopped))
    }

    /// The orders as indices into the targets of the open test, and what runs them.
    fn prepare_rows(&mut self, spec: &RowsSpec) -> Result<(Vec<Vec<usize>>, RowRunner<'_>), Failure> {
        let test = self.test.as_mut().ok_or_else(no_test)?;
        check_end(&test.seats, spec)?;
        let settles = [Some(spec.settle), spec.settle_again];
        if settles.iter().flatten().any(|settle| settle.slice_ns.is_some()) {
            return Err(Failure::usage(
                "rows: `slice_ms` is not accepted in `settle` and `settle_again`; only `slot` may be sliced",
            ));
        }
        let index_of = |name: &String| {
            let index = test.targets.iter().position(|target| target == name);
            index.ok_or_else(|| Failure::usage(unknown("`orders`", name, test.targets.iter())))
        };
        let indices = |order: &Vec<String>| -> Result<Vec<usize>, Failure> {
            each_once("`orders`", order)?;
            order.iter().map(index_of).collect()
        };
        let orders = spec.orders.iter().map(indices).collect::<Result<_, _>>()?;
        let targets = pick(&mut self.targets, &test.targets)?;
        let row_spec = RowSpec {
            seed: spec.seed,
            settle: spec.settle,
            settle_again: spec.settle_again.unwrap_or(spec.settle),
            slot: spec.slot,
            series: spec.series,
        };
        let runner = RowRunner::new(row_spec, &mut test.crew, &test.seats, targets, &mut test.host)?;
        Ok((orders, runner))
    }

    fn find(&mut self, name: &str) -> Result<&mut Target, Failure> {
        if !self.targets.contains_key(name) {
            return Err(Failure::usage(unknown("`target`", name, self.targets.keys())));
        }
        Ok(self.targets.get_mut(name).expect("it is there"))
    }
}

/// Whether the bounds of the parts go with those of the roles.
fn check_end(seats: &Seats, spec: &RowsSpec) -> Result<(), Failure> {
    let (ops, is_sliced) = (spec.slot.extent.ops(), spec.slot.slice_ns.is_some());
    let refuse = |message: String| Err(Failure::usage(format!("rows: {message}")));
    match seats.operations() {
        Some(operations) if ops != Some(operations) || !is_sliced => refuse(format!(
            "roles of this test have `operations`, {operations} in all; accepted is \
             `slot` with `ops` {operations} and `slice_ms`"
        )),
        Some(_) if spec.settle.extent != PartExtent::Ops(0) => {
            refuse("roles of this test have `operations`; accepted is `settle` with `ops` 0".into())
        }
        None if seats.has_arrivals() && ops.is_some() => refuse(
            "`slot.ops` is not accepted where a role has arrivals and none has `operations`: they have no end of \
             their own; `ms` is"
                .into(),
        ),
        None if seats.are_named() && is_sliced => {
            refuse("`slot.slice_ms` is accepted in a test with roles when one of them has `operations`".into())
        }
        _ => Ok(()),
    }
}

fn answer_with(output: &mut Output<impl Write>, answer: Result<impl Serialize, Failure>) -> io::Result<()> {
    match answer {
        Ok(body) => output.done(&body),
        Err(failure) => output.error(&failure),
    }
}

fn tell_seconds(output: &mut Output<impl Write>, tag: &Value, seconds: Vec<SecondOf>) -> io::Result<()> {
    if seconds.is_empty() {
        return Ok(());
    }
    output.line(&json!({"tag": tag, "series": seconds}))
}

fn hello() -> Value {
    json!({
        "engine": env!("CARGO_PKG_VERSION"),
        "protocol": PROTOCOL,
        "wires": wire::WIRES,
        "sqlite_bundled": wire::sqlite::bundled_version(),
    })
}

fn rows_end<'a>(runner: &'a RowRunner, background: BTreeMap<String, Kinds>, stopped: Option<Stopped>) -> RowsEnd<'a> {
    let totals: Vec<_> = runner.totals().collect();
    let with_roles = totals.iter().filter(|(_, total)| !total.roles.is_empty());
    let failed = totals.iter().filter(|(_, total)| !total.errors.examples().is_empty());
    RowsEnd {
        latency: totals
            .iter()
            .map(|(name, total)| (*name, total.recorded.response.to_base64()))
            .collect(),
        roles: with_roles
            .map(|(name, total)| (*name, runner.histograms_of_roles(total)))
            .collect(),
        error_examples: failed.map(|(name, total)| (*name, total.errors.examples())).collect(),
        background,
        accounting_notes: runner.accounting_notes(),
        stopped,
    }
}

/// The targets of these names, in their order.
fn pick<'a>(targets: &'a mut BTreeMap<String, Target>, names: &[String]) -> Result<Vec<&'a mut Target>, Failure> {
    each_once("`targets`", names)?;
    if let Some(name) = names.iter().find(|name| !targets.contains_key(*name)) {
        return Err(Failure::usage(unknown("`targets`", name, targets.keys())));
    }
    let mut picked: Vec<_> = targets
        .values_mut()
        .filter(|target| names.contains(&target.name))
        .collect();
    picked.sort_by_key(|target| names.iter().position(|name| *name == target.name));
    Ok(picked)
}

fn each_once(field: &str, names: &[String]) -> Result<(), Failure> {
    let mut numbered = names.iter().enumerate();
    match numbered.find(|(number, name)| names[..*number].contains(name)) {
        Some((_, twice)) => Err(Failure::usage(format!("{field}: {twice:?} is named twice"))),
        None => Ok(()),
    }
}

fn no_test() -> Failure {
    Failure::usage("no test is open; `open` one first")
}

fn unknown<'a>(field: &str, name: &str, known: impl Iterator<Item = &'a String>) -> String {
    let known: Vec<_> = known.map(String::as_str).collect();
    let accepted = if known.is_empty() {
        "none, as there are none yet".to_owned()
    } else {
        known.join(", ")
    };
    format!("{field}: there is no target {name:?}; accepted are {accepted}")
}
