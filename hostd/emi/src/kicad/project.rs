//! A KiCad project: which classes nets are in.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::board::Board;
use crate::pattern::Pattern;
use crate::refusal::{Position, Refusal};

/// Most bytes of a project file.
const BYTES_MAX: usize = 16 << 20;

/// Most patterns: each is compared with every net.
const PATTERNS_MAX: usize = 1000;

/// What a `.kicad_pro` says about net classes.
#[derive(Debug, Default)]
pub struct Project {
    /// Classes by the names of nets.
    named: BTreeMap<String, Vec<String>>,
    /// Classes, and the patterns of the nets that are in them.
    patterns: Vec<(String, Pattern)>,
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
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for class in settings.classes {
            for net in class.nets {
                named.entry(net).or_default().push(class.name.clone());
            }
        }
        for (net, names) in settings.netclass_assignments.unwrap_or_default() {
            match names {
                Names::One(name) => named.entry(net).or_default().push(name),
                Names::Some(names) => named.entry(net).or_default().extend(names),
            }
        }
        let assigned = settings.netclass_patterns.unwrap_or_default();
        if assigned.len() > PATTERNS_MAX {
            return Err(Refusal::whole(format!(
                "the project has more than {PATTERNS_MAX} patterns of net classes"
            )));
        }
        let patterns = assigned
            .into_iter()
            .map(|a| (a.netclass, Pattern::new(&a.pattern)));
        Ok(Self {
            named,
            patterns: patterns.collect(),
        })
    }

    /// Puts the board's nets in their classes.
    pub fn apply(&self, board: &mut Board) {
        for net in &mut board.nets {
            let named = self.named.get(&net.name).into_iter().flatten();
            let matching = self
                .patterns
                .iter()
                .filter(|(_, pattern)| pattern.matches(&net.name));
            net.classes
                .extend(named.chain(matching.map(|(class, _)| class)).cloned());
            net.classes.sort();
            net.classes.dedup();
        }
    }
}
