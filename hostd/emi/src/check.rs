//! A check of a board: nets are told apart, copper is indexed, rules run, findings are put in order.

use std::borrow::BorrowMut;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::emission::Emission;
use crate::finding::{Draft, Finding, Place, Severity, fingerprint};
use crate::found::Found;
use crate::geometry::Bounds;
use crate::kinds;
use crate::locate;
use crate::observer::{Cancelled, Observer, Stage, Watch};
use crate::rules::{Context, RULES, Rule};
use crate::settings::Settings;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Of `rules.json`.
    pub format_version: u32,
    /// How many.
    pub summary: Summary,
    /// How many of each rule.
    pub rules: BTreeMap<&'static str, Counts>,
    /// The worst first, at most [`SHOWN_MAX`](crate::SHOWN_MAX) of each rule.
    pub findings: Vec<Finding>,
    /// Rules that did not end before time was up: what they would have found is missing. Left out of `rules.json` if there are
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<&'static str>,
    /// About the board and the check as a whole, for people.
    pub notes: Vec<String>,
    /// What the declared clocks radiate, and what cables may carry; not a part of `rules.json`.
    #[serde(skip)]
    pub emission: Emission,
}

/// How many findings there are, with those that are not listed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// Of severity critical.
    pub critical: usize,
    /// Of severity warning.
    pub warning: usize,
    /// Of severity info.
    pub info: usize,
    /// The highest frequency that was reckoned with, in Hz.
    pub assumed_max_frequency_hz: f64,
}

/// How many findings a rule has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub found: usize,
    /// Those that are listed.
    pub shown: usize,
    /// Those that the rules file decided about; neither listed nor counted.
    pub suppressed: usize,
}

/// Checks a board by all rules. Where the observer says that [time is up](Observer::is_late), rules that have not ended are missing
/// from the report, which names them. A board that is lent, `&mut board`, is there for [`artifacts`](crate::artifacts) afterwards: what
/// its nets carry, and a permittivity that is set, are written into it, and it is in a frame of its own.
///
/// # Errors
/// [`Cancelled`] if the observer said so.
pub fn check(
    mut board: impl BorrowMut<Board>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Report, Cancelled> {
    check_lent(board.borrow_mut(), settings, observer)
}

fn check_lent(
    board: &mut Board,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Report, Cancelled> {
    let watch = Watch::new(observer);
    let running: Vec<&'static Rule> = RULES
        .iter()
        .copied()
        .filter(|rule| !settings.is_off(rule))
        .collect();
    let report = match look(board, settings, &running, &watch) {
        Err(Cancelled) if watch.is_late() => {
            let mut report = Report::new(board, settings, &Emission::default());
            report.leave_out(running.iter().map(|rule| rule.id));
            report
        }
        report => report?,
    };
    watch.is_wanted()?;
    watch.begin(Stage::Done);
    Ok(report)
}

/// Runs the rules. It is cancelled if time is up before the first of them.
fn look(
    board: &mut Board,
    settings: &Settings,
    running: &[&'static Rule],
    watch: &Watch<'_>,
) -> Result<Report, Cancelled> {
    prepare(board, settings, watch)?;
    let board = &*board;
    watch.begin(Stage::Copper);
    let mut context = Context::new(board, settings, watch)?;
    watch.begin(Stage::Emission);
    context.emission = Emission::of(&context)?;
    watch.begin(Stage::Rules);
    let done = AtomicUsize::new(0);
    let found: Vec<Result<Found, Cancelled>> = running
        .par_iter()
        .map(|rule| {
            let found = (rule.check)(&context.of(rule));
            // A rule that was stopped in its midst may not have noticed.
            let found = watch.go_on().and(found);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch.advance(Stage::Rules, done, running.len());
            found
        })
        .collect();
    watch.is_wanted()?;
    watch.begin(Stage::Report);
    let mut report = Report::new(board, settings, &context.emission);
    let mut unfinished = Vec::new();
    for (rule, found) in running.iter().zip(found) {
        match found {
            Ok(found) => report.take(rule, found, &context),
            Err(Cancelled) => unfinished.push(rule.id),
        }
    }
    report.finish();
    report.leave_out(unfinished);
    report.emission = context.emission;
    Ok(report)
}

/// Moves the board into a frame of its own, tells nets apart, and takes what settings say about the board.
pub(crate) fn prepare(
    board: &mut Board,
    settings: &Settings,
    watch: &Watch<'_>,
) -> Result<(), Cancelled> {
    watch.begin(Stage::Nets);
    board.enter_own_frame();
    if let Some(epsilon_r) = settings.epsilon_r() {
        board
            .stackup
            .gaps
            .iter_mut()
            .for_each(|gap| gap.epsilon_r = epsilon_r);
    }
    kinds::classify(board, settings, watch)
}

fn notes(board: &Board, settings: &Settings, emission: &Emission) -> Vec<String> {
    let mut notes = board.notes.clone();
    notes.extend(
        board
            .assumed
            .iter()
            .map(|assumed| format!("assumed: {assumed}")),
    );
    let (hz, is_declared) = settings.max_frequency_hz();
    if !is_declared {
        notes.push(format!(
            "assumed: nothing above {} MHz matters; say so with board.max_frequency_hz or clocks",
            hz / 1e6
        ));
    }
    notes.extend(emission.notes(settings));
    notes
}

impl Summary {
    /// How many there are of a severity.
    pub fn of(&self, severity: Severity) -> usize {
        match severity {
            Severity::Critical => self.critical,
            Severity::Warning => self.warning,
            Severity::Info => self.info,
        }
    }
}

impl Report {
    /// Without findings.
    fn new(board: &Board, settings: &Settings, emission: &Emission) -> Self {
        Self {
            format_version: 1,
            summary: Summary {
                critical: 0,
                warning: 0,
                info: 0,
                assumed_max_frequency_hz: settings.max_frequency_hz().0,
            },
            rules: BTreeMap::new(),
            findings: Vec::new(),
            unfinished: Vec::new(),
            notes: notes(board, settings, emission),
            emission: Emission::default(),
        }
    }

    /// Says which rules did not end in time.
    fn leave_out(&mut self, rules: impl IntoIterator<Item = &'static str>) {
        self.unfinished.extend(rules);
        if !self.unfinished.is_empty() {
            let note = format!(
                "time was up before these rules had ended, so what they would find is missing: {}",
                self.unfinished.join(", ")
            );
            self.notes.insert(0, note);
        }
    }

    /// Takes in what a rule found.
    fn take(&mut self, rule: &'static Rule, found: Found, context: &Context<'_>) {
        self.summary.critical += found.critical;
        self.summary.warning += found.warning;
        self.summary.info += found.info;
        let (count, suppressed) = (found.count(), found.suppressed);
        let worst = found.worst();
        if count + suppressed > 0 {
            let counts = Counts {
                found: count,
                shown: worst.len(),
                suppressed,
            };
            self.rules.insert(rule.id, counts);
        }
        self.findings
            .extend(worst.iter().map(|draft| finding(rule, draft, context)));
    }

    fn finish(&mut self) {
        // Rules stay in their order within a severity, and so do their findings.
        self.findings.sort_by_key(|finding| finding.severity);
        for (index, finding) in self.findings.iter_mut().enumerate() {
            finding.id = format!("f{}", index + 1);
        }
    }
}

fn finding(rule: &'static Rule, draft: &Draft, context: &Context<'_>) -> Finding {
    let board = context.board;
    let layer = draft
        .layer
        .map_or("", |layer| board.layers[layer].name.as_str());
    let net = draft.net.map_or("", |net| board.nets[net].name.as_str());
    let at = board.board_space_of(&context.bounds, draft.at);
    let in_source = draft.at + board.origin;
    let boxed = |bounds: Bounds| {
        let (a, b) = (
            board.board_space_of(&context.bounds, bounds.min),
            board.board_space_of(&context.bounds, bounds.max),
        );
        [round(a.x), round(b.y), round(b.x), round(a.y)]
    };
    Finding {
        id: String::new(),
        fingerprint: fingerprint(rule.id, net, layer, at),
        severity: draft.severity,
        rule: rule.id,
        title: draft.title.clone(),
        detail: draft.detail.clone(),
        net: net.to_owned(),
        layer: layer.to_owned(),
        x: round(at.x),
        y: round(at.y),
        bbox: draft.bounds.map(boxed),
        at: Place {
            x: round(in_source.x),
            y: round(in_source.y),
            layer: layer.to_owned(),
            footprint: draft
                .footprint
                .map(|index| board.footprints[index].reference.clone()),
            line: locate::line(context, draft),
        },
        value: draft.measure.map(|measure| round(measure.value)),
        limit: draft.measure.map(|measure| round(measure.limit)),
        unit: draft.measure.map(|measure| measure.unit),
        assumed: context.assumed(rule),
    }
}

/// To a ten-thousandth, which is more than any rule knows.
fn round(value: f64) -> f64 {
    let rounded = (value * 1e4).round() / 1e4;
    // No negative zero.
    rounded + 0.0
}
