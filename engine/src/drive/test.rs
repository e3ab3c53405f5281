//! An open test: its program, and clients connected to all its targets.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::affinity::Pin;
use super::client::Client;
use super::crew::Crew;
use super::target::Target;
use super::trouble::Failure;
use crate::wire::{Mode, Wire};
use crate::workload::{Program, TestDefinition};

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
    #[serde(default = "one")]
    pub tables: u32,
    pub test: TestDefinition,
}

fn one() -> u32 {
    1
}

fn prepared() -> Mode {
    Mode::Prepared
}

/// Field order matters: clients leave before the calling thread gets its CPUs back.
pub struct OpenTest {
    /// Names of the targets; everywhere else they are indices into this.
    pub targets: Vec<String>,
    pub crew: Crew,
    pub program: Arc<Program>,
    _pin: Pin,
}

impl OpenTest {
    /// Connects and prepares; `targets` are those of the spec, in its order. Also gives the backends of every target.
    pub fn open(spec: OpenSpec, targets: &mut [&mut Target]) -> Result<(Self, BTreeMap<String, Vec<i32>>), Failure> {
        let program = Program::compile(&spec.test, spec.tables, spec.clients).map_err(Failure::usage)?;
        let program = Arc::new(program);
        let pin = Pin::this_thread_to(&spec.cpus)
            .map_err(|error| Failure::usage(format!("`cpus`: cannot pin to {:?}: {error}", spec.cpus)))?;
        let wires: Vec<(String, Arc<dyn Wire>)> = targets
            .iter()
            .map(|target| (target.name.clone(), target.wire.clone()))
            .collect();
        let connect = {
            let program = program.clone();
            move |number| Client::connect(number, program.clone(), spec.mode, &wires)
        };
        let mut crew = Crew::assemble(spec.clients, connect)?;
        let backends = name_backends(&mut crew, targets);
        let test = Self {
            targets: spec.targets,
            crew,
            program,
            _pin: pin,
        };
        Ok((test, backends))
    }
}

/// Tells every target's account which processes serve the crew.
fn name_backends(crew: &mut Crew, targets: &mut [&mut Target]) -> BTreeMap<String, Vec<i32>> {
    let by_client = crew.run((0..crew.clients()).map(|_| |client: &mut Client| client.backends()));
    let mut backends = BTreeMap::new();
    for (index, target) in targets.iter_mut().enumerate() {
        let of_target: Vec<i32> = by_client.iter().filter_map(|of_client| of_client[index]).collect();
        if let Some(meter) = &mut target.meter {
            meter.set_backends(&of_target);
        }
        backends.insert(target.name.clone(), of_target);
    }
    backends
}
