//! The two runs that compute emission alone: `compliance`, of clocks, and `cable`.

use serde::Serialize;

use super::{CableBudget, assumed, cables, spectrum};
use crate::board::Board;
use crate::check::prepare;
use crate::fields::Method;
use crate::fields::emission::{CABLE_NOTE, NOTES, Point, Smallest};
use crate::fields::limits::Table;
use crate::observer::{Cancelled, Observer, Stage, Watch};
use crate::rules::Context;
use crate::settings::Settings;

/// Of both results.
const FORMAT_VERSION: u32 = 1;

/// By which limits a result was judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The table's name, such as `cispr-32-b`.
    pub table: String,
    /// Its version.
    pub version: u32,
    /// The standard with its edition.
    pub standard: String,
    /// Of the equipment, `A` or `B`.
    pub class: String,
    /// Of the antenna, in m.
    pub distance_m: f64,
    /// How reliable the values are: `public law` or `secondary sources`.
    pub status: String,
    /// Where the values were found.
    pub sources: Vec<String>,
    /// When they were compared with their sources.
    pub verified: String,
    /// What to know about them.
    pub notes: Vec<String>,
}

impl Judged {
    fn by(settings: &Settings) -> Self {
        let site = settings.site();
        let table: &Table = site.table();
        Self {
            table: table.id.clone(),
            version: table.version,
            standard: table.standard.clone(),
            class: table.equipment_class.clone(),
            distance_m: site.distance_m(),
            status: table.status.clone(),
            sources: table.sources.clone(),
            verified: table.verified.clone(),
            notes: table.notes.clone(),
        }
    }
}

/// What the loops of declared clocks radiate, with margins and without a verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compliance {
    /// Of this result.
    pub format_version: u32,
    /// Whether there is a clock, and every declared one has all that its emission needs and is routed on the board.
    pub complete: bool,
    /// By what it is judged.
    pub limits: Judged,
    /// Highest frequency that was looked at; 0 without clocks.
    pub highest_hz: f64,
    /// The smallest margin of each detector; left out unless complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_margins: Option<Vec<Smallest>>,
    /// Lines at which there is a limit, by frequency; without margins unless complete.
    pub lines: Vec<Point>,
    /// What has to be declared or mended before it is complete, for people.
    pub missing: Vec<String>,
    /// What was assumed, for people.
    pub assumed: Vec<String>,
    /// How the numbers were computed.
    pub methods: Vec<&'static Method>,
    /// What to know about them.
    pub notes: Vec<&'static str>,
}

/// What declared cables may carry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CableReport {
    /// Of this result.
    pub format_version: u32,
    /// Whether there is a cable, and each one has a budget.
    pub complete: bool,
    /// By what it is judged.
    pub limits: Judged,
    /// By connector.
    pub cables: Vec<CableBudget>,
    /// What has to be declared or mended before it is complete, for people.
    pub missing: Vec<String>,
    /// What was assumed, for people.
    pub assumed: Vec<String>,
    /// What to know about the numbers.
    pub notes: Vec<&'static str>,
}

/// Computes what the declared clocks of a board radiate, and nothing else.
///
/// # Errors
/// [`Cancelled`] if the observer said so.
pub fn compliance(
    mut board: Board,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Compliance, Cancelled> {
    let watch = Watch::new(observer);
    prepare(&mut board, settings, &watch)?;
    watch.begin(Stage::Copper);
    let context = Context::new(&board, settings, &watch)?;
    watch.begin(Stage::Emission);
    let (report, missing) = spectrum(&context)?;
    watch.go_on()?;
    watch.begin(Stage::Done);
    let complete = report.as_ref().is_some_and(|report| report.complete);
    let mut result = Compliance {
        format_version: FORMAT_VERSION,
        complete,
        limits: Judged::by(settings),
        highest_hz: 0.0,
        smallest_margins: None,
        lines: Vec::new(),
        missing,
        assumed: assumed(&context),
        methods: Vec::new(),
        notes: NOTES.to_vec(),
    };
    if let Some(report) = report {
        result.highest_hz = report.highest_hz;
        result.smallest_margins = report.smallest_margins;
        result.lines = report.points;
        result.methods = report.methods;
    }
    if !complete {
        result
            .lines
            .iter_mut()
            .for_each(|line| line.margins.clear());
    }
    Ok(result)
}

/// Computes what the declared cables of a board may carry, and nothing else.
///
/// # Errors
/// [`Cancelled`] if the observer said so.
pub fn cable(
    mut board: Board,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<CableReport, Cancelled> {
    let watch = Watch::new(observer);
    prepare(&mut board, settings, &watch)?;
    watch.begin(Stage::Copper);
    let context = Context::new(&board, settings, &watch)?;
    watch.begin(Stage::Emission);
    let (cables, mut missing) = cables::budgets(&context)?;
    watch.go_on()?;
    watch.begin(Stage::Done);
    if settings.cables().is_empty() {
        missing.push("no cables are declared, so nothing is said about their currents".to_owned());
    }
    Ok(CableReport {
        format_version: FORMAT_VERSION,
        complete: missing.is_empty(),
        limits: Judged::by(settings),
        cables,
        missing,
        assumed: cables::assumed(&context),
        notes: vec![CABLE_NOTE, NOTES[1]],
    })
}

impl Compliance {
    /// As JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// `spectrum.csv`, as of [`Emission::csv`](super::Emission::csv).
    pub fn csv(&self) -> String {
        super::csv::spectrum(&self.lines, self.complete)
    }
}

impl CableReport {
    /// As JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// `cables.csv`: one row for each cable and frequency.
    pub fn csv(&self) -> String {
        super::csv::cables(&self.cables)
    }
}
