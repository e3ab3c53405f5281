//! A test as received (docs/engine-protocol.md, TEST): its statements, or roles with statements of their own.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::drive::pace::open_loop::Arrivals;
use crate::workload::TestDefinition;

/// The roles of a test; one without a name where the test has statements itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Json")]
pub struct RolesDefinition(pub Vec<RoleDefinition>);

#[derive(Debug, Clone)]
pub struct RoleDefinition {
    pub name: Option<String>,
    /// None: as many as the test is opened with.
    pub clients: Option<u32>,
    /// None: a closed loop.
    pub arrivals: Option<Arrivals>,
    /// Whether its operations are operations of the test.
    pub counted: bool,
    pub share: Share<String>,
    pub test: TestDefinition,
}

/// What a role has to do of work with an end, and which role it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share<Role> {
    /// None: its clients go on until the other roles have done theirs.
    pub operations: Option<u64>,
    /// It does its n-th operation after the n-th of this role.
    pub follows: Option<Role>,
    /// By how many operations that role may be ahead.
    pub lead: Option<u64>,
}

impl<Role> Default for Share<Role> {
    fn default() -> Self {
        Self {
            operations: None,
            follows: None,
            lead: None,
        }
    }
}

const KEYS: [&str; 2] = ["name", "roles"];

impl TryFrom<Json> for RolesDefinition {
    type Error = String;

    fn try_from(json: Json) -> Result<Self, String> {
        let Some(roles) = json.get("roles").cloned() else {
            let test: TestDefinition = parse(json)?;
            check_statements(&test, None)?;
            return Ok(Self(vec![RoleDefinition {
                name: None,
                clients: None,
                arrivals: None,
                counted: true,
                share: Share::default(),
                test,
            }]));
        };
        let place = format!("test {}", json["name"]);
        let fields = json.as_object().into_iter().flat_map(Map::keys);
        if let Some(other) = fields.into_iter().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!(
                "{place}: unknown field `{other}`; accepted with `roles` is `name`"
            ));
        }
        let roles: Vec<Map<String, Json>> = parse(roles).map_err(|error| format!("{place}, `roles`: {error}"))?;
        let name = json["name"].as_str().unwrap_or_default();
        let roles: Vec<_> = roles
            .into_iter()
            .map(|role| RoleDefinition::parse(role, name))
            .collect::<Result<_, _>>()?;
        check(&roles).map_err(|error| format!("{place}, `roles`: {error}"))?;
        Ok(Self(roles))
    }
}

impl RoleDefinition {
    /// Errors of its statements name it as `"test/role"`.
    fn parse(mut fields: Map<String, Json>, test: &str) -> Result<Self, String> {
        let Some(Json::String(name)) = fields.remove("name") else {
            return Err(format!("test {test:?}, `roles`: a role has a `name`, a text"));
        };
        let full = format!("{test}/{name}");
        let in_role = |error: String| format!("test {full:?}: {error}");
        let clients = take(&mut fields, "clients").map_err(in_role)?.unwrap_or(1);
        if clients == 0 {
            return Err(in_role("`clients` is 0; accepted is 1 or more".into()));
        }
        let arrivals = take(&mut fields, "arrivals").map_err(in_role)?;
        let counted = take(&mut fields, "counted").map_err(in_role)?.unwrap_or(true);
        let share = Share::parse(&mut fields).map_err(in_role)?;
        fields.insert("name".into(), full.into());
        let test = parse(Json::Object(fields))?;
        check_statements(&test, share.operations)?;
        Ok(Self {
            name: Some(name),
            clients: Some(clients),
            arrivals,
            counted,
            share,
            test,
        })
    }
}

impl Share<String> {
    fn parse(fields: &mut Map<String, Json>) -> Result<Self, String> {
        let share = Self {
            operations: take(fields, "operations")?,
            follows: take(fields, "follows")?,
            lead: take(fields, "lead")?,
        };
        for (name, value) in [("operations", share.operations), ("lead", share.lead)] {
            if value == Some(0) {
                return Err(format!("`{name}` is 0; accepted is 1 or more"));
            }
        }
        if share.lead.is_some() && share.follows.is_none() {
            return Err("`lead` is accepted with `follows` alone".into());
        }
        Ok(share)
    }
}

/// A role with operations may have nothing to do on some targets; without an end it would turn on the spot, unless it connects.
fn check_statements(test: &TestDefinition, operations: Option<u64>) -> Result<(), String> {
    match (test.statements.is_empty() && !test.connect, operations) {
        (true, None) => Err(format!(
            "test {:?}: `statements` is empty; at least one statement is needed, but with `connect` and of a role with `operations`",
            test.name
        )),
        _ => Ok(()),
    }
}

fn check(roles: &[RoleDefinition]) -> Result<(), String> {
    let mut names: Vec<_> = roles.iter().map(|role| &role.name).collect();
    names.sort();
    names.dedup();
    match () {
        () if roles.is_empty() => Err("there is none; accepted are one or more".into()),
        () if names.len() < roles.len() => Err("two have the same name".into()),
        () if !roles.iter().any(|role| role.counted) => Err("one at least has to be `counted`".into()),
        () => roles.iter().try_for_each(|role| check_follows(role, roles)),
    }
}

/// Whether a role that follows another can come to its end.
fn check_follows(role: &RoleDefinition, roles: &[RoleDefinition]) -> Result<(), String> {
    let name = role.name.as_deref().unwrap_or_default();
    let find = |name: &String| roles.iter().find(|other| other.name.as_ref() == Some(name));
    let Some(followed) = &role.share.follows else {
        return Ok(());
    };
    let Some(leader) = find(followed) else {
        return Err(format!("{name:?} follows {followed:?}, which is no role of this test"));
    };
    let mut ahead = Some(leader);
    for _ in roles {
        match ahead {
            Some(other) if other.name == role.name => return Err(format!("{name:?} would have to follow itself")),
            _ => ahead = ahead.and_then(|other| find(other.share.follows.as_ref()?)),
        }
    }
    match (role.share.operations, leader.share.operations) {
        (Some(own), Some(of_leader)) if own > of_leader => Err(format!(
            "{name:?} has {own} operations and follows {followed:?}, which has {of_leader}: it would wait for ever"
        )),
        _ => Ok(()),
    }
}

fn parse<T: DeserializeOwned>(json: Json) -> Result<T, String> {
    serde_json::from_value(json).map_err(|error| error.to_string())
}

fn take<T: DeserializeOwned>(fields: &mut Map<String, Json>, name: &str) -> Result<Option<T>, String> {
    let value = fields.remove(name).map(parse).transpose();
    value.map_err(|error| format!("`{name}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn role(name: &str) -> Json {
        json!({"name": name, "statements": [{"name": "s", "sql": "SELECT 1"}]})
    }

    #[test]
    fn statements_alone_are_one_role_without_a_name() {
        let test: RolesDefinition = parse(role("t")).unwrap();
        assert_eq!(test.0.len(), 1);
        assert_eq!((&test.0[0].name, test.0[0].clients), (&None, None));
        assert_eq!(test.0[0].test.name, "t");
    }

    #[test]
    fn roles_have_their_own_statements_clients_and_arrivals() {
        let mut writer = role("writer");
        writer["clients"] = json!(3);
        writer["arrivals"] = json!({"kind": "poisson", "rate": 10});
        writer["counted"] = json!(false);
        let test: RolesDefinition = parse(json!({"name": "t", "roles": [role("reader"), writer]})).unwrap();
        let [reader, writer] = &test.0[..] else {
            panic!("{test:?}")
        };
        assert_eq!((reader.clients, reader.arrivals, reader.counted), (Some(1), None, true));
        assert_eq!((writer.clients, writer.counted), (Some(3), false));
        assert_eq!(
            (reader.test.name.as_str(), writer.arrivals.unwrap().rate),
            ("t/reader", 10.0)
        );
    }

    #[test]
    fn a_role_with_an_end_may_have_nothing_to_do() {
        let idle = json!({"name": "idle", "operations": 1, "statements": []});
        let test: RolesDefinition = parse(json!({"name": "t", "roles": [role("r"), idle]})).unwrap();
        assert!(test.0[1].test.statements.is_empty());
    }

    #[test]
    fn wrong_roles_are_told_what_is_accepted() {
        let with = |key: &str, value: Json| {
            let mut wrong = role("w");
            wrong[key] = value;
            json!({"name": "t", "roles": [wrong]})
        };
        for (json, expected) in [
            (json!({"name": "t", "roles": []}), "test \"t\", `roles`: there is none"),
            (
                json!({"name": "t", "roles": [role("w"), role("w")]}),
                "two have the same name",
            ),
            (
                json!({"name": "t", "roles": [role("w")], "transaction": true}),
                "unknown field `transaction`",
            ),
            (
                json!({"name": "t", "roles": [{"statements": []}]}),
                "a role has a `name`",
            ),
            (with("clients", json!(0)), "test \"t/w\": `clients` is 0"),
            (
                with("arrivals", json!({"kind": "poisson", "rate": 0})),
                "test \"t/w\": `arrivals`: `rate` is 0",
            ),
            (with("counted", json!(false)), "one at least has to be `counted`"),
            (
                with("statements", json!([{"name": "s"}])),
                "test \"t/w\", statement \"s\": missing field `sql`",
            ),
            (with("pace", json!(1)), "unknown field `pace`"),
            (with("operations", json!(0)), "test \"t/w\": `operations` is 0"),
            (
                with("statements", json!([])),
                "test \"t/w\": `statements` is empty; at least one",
            ),
            (with("lead", json!(8)), "`lead` is accepted with `follows` alone"),
            (with("follows", json!("x")), "\"w\" follows \"x\", which is no role"),
            (with("follows", json!("w")), "\"w\" would have to follow itself"),
        ] {
            let error = parse::<RolesDefinition>(json).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
