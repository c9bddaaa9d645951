//! One net over its planes as a model for the field solver openEMS, and what its probes say as scattering parameters.
//!
//! Both are pure: [`model`] writes text, [`Outcome::read`] reads it. The solver is another program, which somebody else runs
//! under limits of time and memory: in an empty folder with [`Model::xml`] as its only argument, where it leaves a file for
//! each of [`PROBES`].
//!
//! Copper is without thickness and loss, dielectrics without loss, slanted edges become steps of the mesh. The first two
//! lift resonances; the last makes slanted traces a little too wide or too narrow. It is for comparing versions of a net.

mod mesh;
mod outcome;
mod ports;
mod probe;
mod scene;
mod xml;

pub use outcome::{Outcome, OutcomeError, PointOf};
pub use probe::{PROBES, ProbeError};

use crate::board::{Board, NetId};
use crate::kinds;
use crate::observer::{Cancelled, Watch};
use crate::settings::Settings;
use mesh::Mesh;
use scene::Scene;

/// Most cells of a model. openEMS takes about 100 bytes for each, and some 20 million of them a second and core.
pub const CELLS_MAX: usize = 6_000_000;

/// Most time steps.
const STEPS_MAX: u64 = 1_000_000;

/// The energy that is left when openEMS ends: −40 dB.
const END_CRITERIA: f64 = 1e-4;

/// What is asked of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The net's name.
    pub net: String,
    /// Up to which frequency, 100 MHz to 40 GHz.
    pub highest_hz: f64,
    /// The pads between which it is measured, such as `U1.3`; without them the two that are farthest apart.
    pub pads: Option<[String; 2]>,
    /// Impedance of source and load, 1 Ω to 1 kΩ.
    pub port_ohm: f64,
}

/// A model, and what is needed to read its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The file that openEMS reads.
    pub xml: String,
    /// The net's name.
    pub net: String,
    /// The pads that are its ports.
    pub ports: [String; 2],
    /// Impedance of source and load.
    pub port_ohm: f64,
    /// Up to which frequency.
    pub highest_hz: f64,
    /// Cells of the mesh.
    pub cells: usize,
    /// Most time steps.
    pub steps: u64,
    /// What was left out or assumed, for people.
    pub notes: Vec<String>,
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No such net.
    #[error("there is no net `{0}` on this board")]
    UnknownNet(String),
    /// It has not two pads.
    #[error("the net has {0} pads on planes' neighbours; a model needs two, name them with `pads`")]
    Pads(usize),
    /// A pad that was named is not of the net.
    #[error("the net has no pad `{0}`; pads are named like `U1.3`")]
    UnknownPad(String),
    /// There is nothing for the current to return in.
    #[error("there is no plane beside the pad `{0}`")]
    NoPlane(String),
    /// The highest frequency or the ports' impedance cannot be.
    #[error("{name} cannot be {value}; give {range}")]
    Value {
        /// Which.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What can be.
        range: &'static str,
    },
    /// The mesh has too many cells.
    #[error(
        "the net needs {0} cells, more than {CELLS_MAX}; choose a shorter net or a lower highest frequency"
    )]
    TooLarge(usize),
    /// The observer said so.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The model of one net over its planes.
///
/// # Errors
/// [`ModelError`], in words for people.
pub fn model(
    mut board: Board,
    settings: &Settings,
    question: &Question,
) -> Result<Model, ModelError> {
    within("highest_hz", question.highest_hz, 1e8, 4e10, "1e8 to 4e10")?;
    within("port_ohm", question.port_ohm, 1.0, 1e3, "1 to 1000")?;
    let watch = Watch::new(&());
    kinds::classify(&mut board, settings, &watch)?;
    if let Some(epsilon_r) = settings.epsilon_r() {
        let gaps = board.stackup.gaps.iter_mut();
        gaps.for_each(|gap| gap.epsilon_r = epsilon_r);
    }
    let net: NetId = board
        .net_named(&question.net)
        .ok_or_else(|| ModelError::UnknownNet(question.net.clone()))?;
    let ports = ports::find(&board, net, question.pads.as_ref())?;
    let scene = Scene::new(&board, net, ports);
    let mesh = Mesh::of(&scene, question.highest_hz)?;
    let steps = mesh.steps(&scene, question.highest_hz).min(STEPS_MAX);
    let mut notes = scene.notes.clone();
    notes.extend(board.assumed.iter().map(|text| format!("assumed: {text}")));
    Ok(Model {
        xml: xml::write(&scene, &mesh, question, steps),
        net: question.net.clone(),
        ports: scene.ports.clone().map(|port| port.name),
        port_ohm: question.port_ohm,
        highest_hz: question.highest_hz,
        cells: mesh.cells(),
        steps,
        notes,
    })
}

fn within(
    name: &'static str,
    value: f64,
    least: f64,
    most: f64,
    range: &'static str,
) -> Result<(), ModelError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(ModelError::Value { name, value, range })
    }
}
