//! What each kind of run computes of a board.

use emi::board::Board;
use emi::solve::{self, Outcome, Question};
use emi::{Cancelled, Limits, Observer, OpenError, RulesFile, Settings, SourceFile};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::emi::boards::Facts;
use store::emi::runs::{Failure, Kind};

use crate::runner::{Made, Product, failure};
use crate::wire::Request;

/// The artifact that a field solver reads.
pub(crate) const MODEL: &str = "model.xml";

/// Names of files that were not read, in a summary.
const UNREAD_MAX: usize = 50;

const JSON: &str = "application/json";
const CSV: &str = "text/csv; charset=utf-8";

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) artifacts: Vec<Made>,
    pub(crate) product: Product,
}

/// What was asked of a run.
#[derive(Debug)]
pub(crate) struct Asked {
    rules: RulesFile,
    /// Of a field solver, if the run is for one.
    question: Option<Question>,
}

/// What params have of a question to a field solver.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionText {
    net: String,
    #[serde(default = "highest_hz")]
    highest_hz: f64,
    pads: Option<[String; 2]>,
    #[serde(default = "port_ohm")]
    port_ohm: f64,
}

fn highest_hz() -> f64 {
    3e9
}

fn port_ohm() -> f64 {
    50.0
}

/// What the params of a run ask: settings as [`RulesFile::of_params`] reads them, and for a field solver `net`, `highest_hz`,
/// `pads` and `port_ohm`.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn asked(kind: Kind, params: &Map<String, Value>) -> Result<Asked, String> {
    let mut file = params.clone();
    let question = match kind {
        Kind::Solve => Some(question(&mut file)?),
        _ => None,
    };
    let rules = RulesFile::of_params(Value::Object(file).to_string().as_bytes());
    Ok(Asked {
        rules: rules.map_err(|refusal| refusal.to_string())?,
        question,
    })
}

fn question(file: &mut Map<String, Value>) -> Result<Question, String> {
    let keys = ["net", "highest_hz", "pads", "port_ohm"];
    let own = keys.iter().filter_map(|key| file.remove_entry(*key));
    let text = Value::Object(own.collect());
    let text: QuestionText = serde_json::from_value(text).map_err(|error| error.to_string())?;
    Ok(Question {
        net: text.net,
        highest_hz: text.highest_hz,
        pads: text.pads,
        port_ohm: text.port_ohm,
    })
}

/// Carries out a request.
///
/// # Errors
/// The board, or what was asked, is refused: why, and where.
pub(crate) fn compute(
    request: &Request,
    probes: &[Vec<u8>],
    bytes: &[u8],
    observer: &dyn Observer,
) -> Result<Results, Failure> {
    let limits = Limits {
        bytes_max: request.file_bytes_max,
        unpacked_bytes_max: usize::try_from(request.unpacked_bytes_max).unwrap_or(usize::MAX),
        entries_max: request.entries_max,
        ..Limits::default()
    };
    let opened = emi::open(bytes, &limits, observer).map_err(|error| match error {
        OpenError::Refused { .. } => failure("refused", error.to_string()),
        OpenError::Cancelled => stopped(Cancelled),
    })?;
    let asked = asked(request.kind, &request.params).map_err(|why| failure("refused", why))?;
    let settings = opened
        .rules
        .into_iter()
        .fold(Settings::default(), Settings::with);
    let mut notes = asked.rules.notes.clone();
    let settings = settings.with(asked.rules);
    let unread = opened.unread.iter().take(UNREAD_MAX);
    notes.extend(unread.map(|name| format!("not read: {name}")));
    let task = Task {
        board: opened.board,
        settings,
        observer,
    };
    let mut results = match (request.kind, asked.question) {
        (Kind::Ingest, _) => task.ingest(opened.file, &request.filename, bytes),
        (Kind::Compliance, _) => task.compliance(),
        (Kind::Cable, _) => task.cable(),
        (Kind::Solve, Some(question)) => task.solve(&question, probes),
        (Kind::Solve, None) => Err(failure("refused", "no net is named")),
    }?;
    if !notes.is_empty() {
        let summary = &mut results.product.summary;
        summary.insert("notes".to_owned(), json!(notes));
    }
    Ok(results)
}

/// A board, and how it is to be looked at.
struct Task<'t> {
    board: Board,
    settings: Settings,
    observer: &'t dyn Observer,
}

impl Task<'_> {
    /// By all rules. Lines are those of `within`, a file of the zip, or of the board itself.
    fn ingest(
        mut self,
        within: Option<String>,
        filename: &str,
        bytes: &[u8],
    ) -> Result<Results, Failure> {
        let facts = facts(&self.board);
        let report = emi::check(&mut self.board, &self.settings, self.observer).map_err(stopped)?;
        let source = match within {
            Some(file) => SourceFile::named(file),
            None => SourceFile::new(filename, bytes, &report),
        };
        self.observer.stage("report");
        let made = emi::artifacts(&self.board, &report, &source).into_iter();
        Ok(Results {
            artifacts: made
                .map(|made| Made {
                    name: made.name.to_owned(),
                    content_type: made.content_type.to_owned(),
                    bytes: made.bytes,
                })
                .collect(),
            product: Product {
                summary: object(&report.summary),
                facts: Some(facts),
            },
        })
    }

    /// The emission of declared clocks: without clocks it is not complete, and has no margins.
    fn compliance(self) -> Result<Results, Failure> {
        let found = emi::compliance(self.board, &self.settings, self.observer).map_err(stopped)?;
        let artifacts = vec![
            text("compliance.json", JSON, found.json()),
            text("spectrum.csv", CSV, found.csv()),
        ];
        Ok(summed_up(artifacts, &found, &["lines", "methods"]))
    }

    /// What declared cables may carry.
    fn cable(self) -> Result<Results, Failure> {
        let found = emi::cable(self.board, &self.settings, self.observer).map_err(stopped)?;
        let artifacts = vec![
            text("cable.json", JSON, found.json()),
            text("cables.csv", CSV, found.csv()),
        ];
        Ok(summed_up(artifacts, &found, &["cables"]))
    }

    /// The model for the field solver, or what it makes of it.
    fn solve(self, question: &Question, probes: &[Vec<u8>]) -> Result<Results, Failure> {
        let refused = |error: &dyn std::error::Error| failure("refused", error.to_string());
        let model = solve::model(self.board, &self.settings, question);
        let model = model.map_err(|error| refused(&error))?;
        let [a, b, c, d] = probes else {
            let artifacts = vec![text(MODEL, "application/xml", model.xml)];
            let said = json!({"cells": model.cells, "steps": model.steps});
            return Ok(summed_up(artifacts, &said, &[]));
        };
        let found = Outcome::read(&model, [a, b, c, d]).map_err(|error| refused(&error))?;
        let artifacts = vec![
            text("solve.json", JSON, found.json()),
            text("solve.csv", CSV, found.csv()),
        ];
        Ok(summed_up(artifacts, &found, &["points"]))
    }
}

fn stopped(cancelled: Cancelled) -> Failure {
    failure("stopped", cancelled.to_string())
}

fn text(name: &str, content_type: &str, text: String) -> Made {
    Made {
        name: name.to_owned(),
        content_type: content_type.to_owned(),
        bytes: text.into_bytes(),
    }
}

/// With what was found, but its long members, as the summary.
fn summed_up(artifacts: Vec<Made>, found: &impl Serialize, long: &[&str]) -> Results {
    let mut summary = object(found);
    summary.retain(|key, _| !long.contains(&key.as_str()));
    Results {
        artifacts,
        product: Product {
            summary,
            facts: None,
        },
    }
}

fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

fn facts(board: &Board) -> Facts {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    let bounds = board.bounds();
    let has_outline = !board.outline.is_empty() && !bounds.is_empty();
    let outline_mm =
        has_outline.then_some([bounds.max.x - bounds.min.x, bounds.max.y - bounds.min.y]);
    Facts {
        layer_count: count(board.layers.len()),
        net_count: count(board.nets.iter().filter(|net| !net.name.is_empty()).count()),
        outline_mm: outline_mm.filter(|sides| sides.iter().all(|side| side.is_finite())),
        stackup: stackup(board),
    }
}

/// Its sheets from the top: copper and what is between.
fn stackup(board: &Board) -> Vec<Value> {
    let mut sheets = Vec::new();
    for (place, layer) in board.layers.iter().enumerate() {
        sheets.push(json!({
            "kind": "copper",
            "name": layer.name,
            "thickness_mm": board.stackup.copper.get(place),
        }));
        if let Some(gap) = board.stackup.gaps.get(place) {
            sheets.push(json!({
                "kind": "dielectric",
                "thickness_mm": gap.thickness,
                "epsilon_r": gap.epsilon_r,
            }));
        }
    }
    sheets
}
