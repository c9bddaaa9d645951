//! A KiCad project: which classes nets are in.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::classes::Classes;
use crate::board::Board;
use crate::refusal::{Position, Refusal};

/// Most bytes of a project file.
const BYTES_MAX: usize = 16 << 20;

/// Most patterns: each is compared with every net.
const PATTERNS_MAX: usize = 1000;

/// What a `.kicad_pro` says about net classes.
#[derive(Debug, Default)]
pub struct Project {
    classes: Classes,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    net_settings: NetSettings,
}

#[derive(Default, Deserialize)]
struct NetSettings {
    #[serde(default)]
    classes: Vec<Class>,
    #[serde(default)]
    netclass_patterns: Option<Vec<Assigned>>,
    /// By net; a name in KiCad 6, a list of names later.
    #[serde(default)]
    netclass_assignments: Option<BTreeMap<String, Names>>,
}

#[derive(Deserialize)]
struct Class {
    name: String,
    #[serde(default)]
    nets: Vec<String>,
    /// In mm, as the gap.
    diff_pair_width: Option<f64>,
    diff_pair_gap: Option<f64>,
}

#[derive(Deserialize)]
struct Assigned {
    netclass: String,
    pattern: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Some(Vec<String>),
}

impl Project {
    /// Reads a project file.
    ///
    /// # Errors
    /// What is no JSON or no project, with line and column.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > BYTES_MAX {
            return Err(Refusal::whole(format!(
                "the project has more than {BYTES_MAX} bytes"
            )));
        }
        let file: File = serde_json::from_slice(bytes).map_err(|error| Refusal {
            at: Some(Position {
                line: error.line(),
                column: error.column(),
            }),
            message: "this is no KiCad project".to_owned(),
        })?;
        let settings = file.net_settings;
        let mut classes = Classes::default();
        for class in settings.classes {
            let sizes = class.diff_pair_width.zip(class.diff_pair_gap);
            classes.add(&class.name, sizes.map(Into::into));
            for net in &class.nets {
                classes.put(net, &class.name);
            }
        }
        for (net, names) in settings.netclass_assignments.unwrap_or_default() {
            let names = match names {
                Names::One(name) => vec![name],
                Names::Some(names) => names,
            };
            names.iter().for_each(|class| classes.put(&net, class));
        }
        let assigned = settings.netclass_patterns.unwrap_or_default();
        if assigned.len() > PATTERNS_MAX {
            return Err(Refusal::whole(format!(
                "the project has more than {PATTERNS_MAX} patterns of net classes"
            )));
        }
        for assigned in assigned {
            classes.put_all(&assigned.pattern, assigned.netclass);
        }
        Ok(Self { classes })
    }

    /// Puts the board's nets in their classes.
    pub fn apply(&self, board: &mut Board) {
        self.classes.apply(&mut board.nets);
    }
}
