//! What each kind of run computes of a board.

use emi::board::Board;
use emi::{Limits, Observer, Refusal, Report, RulesFile, Settings, kicad};
use serde_json::{Map, Value, json};
use store::emi::boards::Facts;
use store::emi::runs::{Failure, Kind};

use crate::artifact;
use crate::runner::{Made, Product, failure};
use crate::wire::Order;

/// Key of a rules file's version, which params may leave out.
const VERSION: &str = "version";

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) artifacts: Vec<Made>,
    pub(crate) product: Product,
}

/// Settings from the params of a run, which are `emi.rules.yaml` as JSON.
///
/// # Errors
/// What is no such file.
pub(crate) fn settings(params: &Map<String, Value>) -> Result<RulesFile, Refusal> {
    let mut file = params.clone();
    file.entry(VERSION).or_insert_with(|| 1.into());
    // JSON is YAML.
    RulesFile::read(Value::Object(file).to_string().as_bytes())
}

/// Carries out an order.
///
/// # Errors
/// The board, or what was asked, is refused: why, and where.
pub(crate) fn compute(
    order: &Order,
    bytes: Vec<u8>,
    observer: &dyn Observer,
) -> Result<Results, Failure> {
    observer.stage("read");
    let limits = Limits {
        bytes_max: order.file_bytes_max,
        ..Limits::default()
    };
    let board = kicad::read(&bytes, &limits).map_err(|refusal| refused(&refusal))?;
    drop(bytes);
    let asked = settings(&order.params).map_err(|refusal| refused(&refusal))?;
    let facts = (order.kind == Kind::Ingest).then(|| facts(&board));
    let settings = Settings::default().with(asked);
    let report = emi::check(board, &settings, observer)
        .map_err(|cancelled| failure("stopped", cancelled.to_string()))?;
    observer.stage("report");
    let (artifacts, summary) = match order.kind {
        Kind::Ingest => (vec![rules(&report)], summary(&report)),
        Kind::Compliance => (
            vec![
                rules(&report),
                text("emission.json", "application/json", report.emission.json()),
                text(
                    "spectrum.csv",
                    "text/csv; charset=utf-8",
                    report.emission.csv(),
                ),
            ],
            compliance(&report),
        ),
        Kind::Cable => (
            vec![text(
                "emission.json",
                "application/json",
                report.emission.json(),
            )],
            cable(&report),
        ),
        Kind::Solve => return Err(failure("not_offered", "No field solver is installed.")),
    };
    Ok(Results {
        artifacts,
        product: Product { summary, facts },
    })
}

fn refused(refusal: &Refusal) -> Failure {
    failure("refused", refusal.to_string())
}

fn text(name: &str, content_type: &str, text: String) -> Made {
    Made {
        name: name.to_owned(),
        content_type: content_type.to_owned(),
        bytes: text.into_bytes(),
    }
}

fn rules(report: &Report) -> Made {
    text(artifact::RULES, "application/json", report.json())
}

/// The summary of `rules.json`.
fn summary(report: &Report) -> Map<String, Value> {
    object(json!(report.summary))
}

/// Whether the emission is complete, and then the smallest margins: without clocks there is nothing to be had.
fn compliance(report: &Report) -> Map<String, Value> {
    let emission = &report.emission;
    let mut said = summary(report);
    said.insert("complete".to_owned(), emission.complete().into());
    said.insert("missing".to_owned(), json!(emission.missing));
    said.insert("assumed".to_owned(), json!(emission.assumed));
    if let Some(spectrum) = &emission.spectrum {
        said.insert("limits".to_owned(), json!(spectrum.limits));
        said.insert("distance_m".to_owned(), json!(spectrum.distance_m));
        if let Some(margins) = &spectrum.smallest_margins {
            said.insert("smallest_margins".to_owned(), json!(margins));
        }
    }
    said
}

/// What each declared cable may carry, in short.
fn cable(report: &Report) -> Map<String, Value> {
    let emission = &report.emission;
    let cables: Vec<Value> = emission
        .cables
        .iter()
        .map(|cable| {
            let least = cable
                .lines
                .iter()
                .filter(|line| line.valid)
                .min_by(|a, b| a.permitted_a.total_cmp(&b.permitted_a));
            json!({
                "connector": cable.connector,
                "length_m": cable.length_m,
                "shielded": cable.shielded,
                "least": least,
            })
        })
        .collect();
    object(json!({
        "complete": !cables.is_empty() && emission.missing.is_empty(),
        "cables": cables,
        "missing": emission.missing,
        "assumed": emission.assumed,
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn facts(board: &Board) -> Facts {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    let bounds = board.bounds();
    let has_outline = !board.outline.is_empty() && !bounds.is_empty();
    let outline_mm =
        has_outline.then(|| [bounds.max.x - bounds.min.x, bounds.max.y - bounds.min.y]);
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
