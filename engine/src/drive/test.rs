//! An open test: its program, and clients connected to all its targets.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::affinity::Pin;
use super::client::{Client, Goal};
use super::contender::Target;
use super::crew::Crew;
use super::roles::{Role, RoleDefinition, RolesDefinition, Seats, Share};
use super::trouble::Failure;
use crate::account::HostMeter;
use crate::drive::contender::backends;
use crate::workload::definition::StatementDefinition;
use crate::workload::{Mode, Program, TestDefinition};

/// What to open (docs/engine-protocol.md, `open`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSpec {
    pub targets: Vec<String>,
    #[serde(default = "one")]
    pub clients: u32,
    #[serde(default = "prepared")]
    pub mode: Mode,
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// Of which stolen time counts; none named: all.
    #[serde(default)]
    pub foreground_cpus: Vec<usize>,
    #[serde(default = "one")]
    pub tables: u32,
    pub test: RolesDefinition,
    /// In place of `test`, for the targets named.
    #[serde(default)]
    pub tests: BTreeMap<String, RolesDefinition>,
}

fn one() -> u32 {
    1
}

fn prepared() -> Mode {
    Mode::Prepared
}

impl OpenSpec {
    /// The programs of every target, in their order: one for each role.
    fn programs(&self) -> Result<Vec<Programs>, Failure> {
        if let Some(name) = self.tests.keys().find(|name| !self.targets.contains(name)) {
            return Err(Failure::usage(format!(
                "`tests`: {name:?} is no target of this test; accepted are {}",
                self.targets.join(", ")
            )));
        }
        let common = self.compile(&self.test)?;
        let programs_of = |name: &String| match self.tests.get(name) {
            None => Ok(common.clone()),
            Some(own) => check_roles_alike(&self.test, own)
                .map_err(|message| Failure::usage(format!("`tests`: {message}")))
                .and_then(|()| self.compile(own))
                .map_err(|failure| failure.at(name)),
        };
        self.targets.iter().map(programs_of).collect()
    }

    fn compile(&self, test: &RolesDefinition) -> Result<Programs, Failure> {
        let compiled = test.0.iter().map(|role| {
            let clients = role.clients.unwrap_or(self.clients);
            Program::compile(&role.test, self.tables, clients).map(Arc::new)
        });
        compiled.collect::<Result<_, _>>().map_err(Failure::usage)
    }

    fn seats(&self) -> Seats {
        let index_of = |name: &String| self.test.0.iter().position(|role| role.name.as_ref() == Some(name));
        let role = |role: &RoleDefinition| Role {
            name: role.name.clone(),
            clients: role.clients.unwrap_or(self.clients),
            arrivals: role.arrivals,
            counted: role.counted,
            share: Share {
                operations: role.share.operations,
                follows: role.share.follows.as_ref().and_then(index_of),
                lead: role.share.lead,
            },
        };
        Seats {
            roles: self.test.0.iter().map(role).collect(),
        }
    }
}

/// By role.
type Programs = Vec<Arc<Program>>;

/// Whether two tests have the same clients, and these draw the same values.
fn check_roles_alike(common: &RolesDefinition, own: &RolesDefinition) -> Result<(), String> {
    let clients = |role: &RoleDefinition| {
        (
            role.name.clone(),
            role.clients,
            role.arrivals,
            role.counted,
            role.share.clone(),
        )
    };
    if !common.0.iter().map(clients).eq(own.0.iter().map(clients)) {
        return Err(
            "the roles differ from those in `test`; only `sql`, `mode`, `transaction` and `connect` may".into(),
        );
    }
    let mut pairs = common.0.iter().zip(&own.0);
    pairs.try_for_each(|(common, own)| check_alike(&common.test, &own.test))
}

/// Whether two definitions draw the same values in the same order, so that their targets see the same keys.
fn check_alike(common: &TestDefinition, own: &TestDefinition) -> Result<(), String> {
    let drawing = |test: &TestDefinition| {
        let all = test.statements.iter().filter(|statement| statement.draws());
        all.cloned().collect::<Vec<_>>()
    };
    let (common, own) = (drawing(common), drawing(own));
    let names = |all: &[StatementDefinition]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let (of_common, of_own) = (names(&common), names(&own));
    if of_common != of_own {
        return Err(format!(
            "the statements are {}; accepted are those of `test` in their order, {}",
            of_own.join(", "),
            of_common.join(", ")
        ));
    }
    let different = |(common, own): (&StatementDefinition, &StatementDefinition)| {
        let field = match () {
            () if common.params != own.params => "params",
            () if common.repeat != own.repeat => "repeat",
            () if common.table != own.table => "table",
            () if common.part != own.part => "part",
            () if common.rows != own.rows => "rows",
            () if common.position != own.position => "position",
            () if common.pause_ns != own.pause_ns => "pause_ns",
            () if common.keep != own.keep => "keep",
            () if common.when != own.when => "when",
            () => return None,
        };
        Some(format!(
            "statement {:?}: `{field}` differs from that in `test`; only `sql` and `mode` may",
            own.name
        ))
    };
    match common.iter().zip(&own).find_map(different) {
        Some(message) => Err(message),
        None => Ok(()),
    }
}

/// Field order matters: clients leave before the calling thread gets its CPUs back.
pub struct OpenTest {
    /// Names of the targets; everywhere else they are indices into this.
    pub targets: Vec<String>,
    pub crew: Crew,
    pub seats: Seats,
    pub host: HostMeter,
    _pin: Pin,
}

impl OpenTest {
    /// Connects and prepares; `targets` are those of the spec, in its order. Also gives the backends of every target.
    pub fn open(spec: OpenSpec, targets: &mut [&mut Target]) -> Result<(Self, BTreeMap<String, Vec<i32>>), Failure> {
        let programs = spec.programs()?;
        let pin = Pin::this_thread_to(&spec.cpus)
            .map_err(|error| Failure::usage(format!("`cpus`: cannot pin to {:?}: {error}", spec.cpus)))?;
        let seats = spec.seats();
        let goals_of_role = |role: usize| -> Vec<Goal> {
            let goals = targets.iter().zip(&programs).map(|(target, programs)| Goal {
                name: target.name.clone(),
                wire: target.wire.clone(),
                program: programs[role].clone(),
                appended: target.appended.clone(),
            });
            goals.collect()
        };
        let goals: Vec<_> = (0..seats.roles.len()).map(goals_of_role).collect();
        let seated = seats.clone();
        let connect = move |number| {
            let seat = seated.seat(number);
            Client::connect(number, spec.mode, &goals[seat.role]).map(|client| client.seated(seat))
        };
        let mut crew = Crew::assemble(seats.clients(), connect)?;
        let backends = backends::name(&mut crew, targets);
        let test = Self {
            targets: spec.targets,
            crew,
            seats,
            host: HostMeter::new(&spec.foreground_cpus),
            _pin: pin,
        };
        Ok((test, backends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn programs(tests: Value) -> Result<Programs, Failure> {
        let spec: OpenSpec =
            serde_json::from_value(json!({"targets": ["a", "b"], "test": point("SELECT 1 WHERE :id"), "tests": tests}))
                .unwrap();
        Ok(spec.programs()?.into_iter().flatten().collect())
    }

    fn point(sql: &str) -> Value {
        json!({"name": "point", "statements": [
            {"name": "point", "sql": sql, "params": {"id": {"gen": "uniform", "low": 1, "high": 9}}}]})
    }

    #[test]
    fn a_target_has_its_own_test_or_the_common_one() {
        let same = programs(json!({})).unwrap();
        assert!(Arc::ptr_eq(&same[0], &same[1]));
        let own = programs(json!({"b": point("SELECT 2 WHERE :id")})).unwrap();
        let text = |program: &Program| {
            let mut out = Vec::new();
            program.statements[0].render(1, &mut out, |_, out| out.push(b'?'));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            (text(&own[0]).as_str(), text(&own[1]).as_str()),
            ("SELECT 1 WHERE ?", "SELECT 2 WHERE ?")
        );
    }

    #[test]
    fn what_draws_nothing_may_be_on_some_targets_alone() {
        let built = |count: usize, table: &str| {
            let all =
                (0..count).map(|index| json!({"name": format!("i{index}"), "sql": "CREATE INDEX", "table": table}));
            let mut test = point("SELECT :id");
            test["statements"].as_array_mut().unwrap().extend(all);
            json!({"a": test})
        };
        assert_eq!(programs(built(3, "client")).unwrap()[0].statements.len(), 4);
        let failure = programs(built(1, "draw")).unwrap_err();
        assert!(
            failure.message.contains("the statements are point, i0"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn tests_that_would_draw_other_values_are_refused() {
        let mut other_name = point("SELECT :id");
        other_name["statements"][0]["name"] = json!("line");
        let mut other_params = point("SELECT :id");
        other_params["statements"][0]["params"]["id"]["high"] = json!(8);
        let mut repeated = point("SELECT :id");
        repeated["statements"][0]["repeat"] = json!(2);
        for (tests, target, expected) in [
            (
                json!({"c": point("SELECT :id")}),
                None,
                "\"c\" is no target of this test; accepted are a, b",
            ),
            (
                json!({"b": other_name}),
                Some("b"),
                "the statements are line; accepted are those of `test`",
            ),
            (
                json!({"b": other_params}),
                Some("b"),
                "statement \"point\": `params` differs",
            ),
            (
                json!({"a": repeated}),
                Some("a"),
                "statement \"point\": `repeat` differs",
            ),
            (json!({"a": point("SELECT :key")}), Some("a"), "the SQL names :key"),
        ] {
            let failure = programs(tests).unwrap_err();
            assert_eq!(failure.target.as_deref(), target);
            assert!(failure.message.contains(expected), "{}", failure.message);
        }
    }
}
