//! What the declared clocks of a board radiate, and what its declared cables may carry, against the limits of a standard.
//!
//! The result is a table of lines with margins, never a verdict.

mod cables;
mod csv;
mod drivers;
mod runs;

pub use cables::{CableBudget, CableLine};
pub use runs::{CableReport, Compliance, Judged, cable, compliance};

use serde::Serialize;

use crate::fields::emission::{CABLE_NOTE, EmissionError, NOTES, Report, Setting, report};
use crate::fields::radiation::Site;
use crate::observer::Cancelled;
use crate::rules::{Context, EMISSION_CM};
use crate::settings::{ASSUMED_DUTY, ASSUMED_MODULATION_HZ, Settings};
use drivers::Drivers;

/// Emission of a board: its loops by [`Report`], its cables by budgets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Emission {
    /// Lines of the clocks' loops with their margins. `complete` in it is `false`, and there is no smallest margin, unless
    /// every declared clock is fully declared and routed on this board, and there is at least one.
    #[serde(flatten)]
    pub spectrum: Option<Report>,
    /// What has to be declared or mended before the emission is complete, for people.
    pub missing: Vec<String>,
    /// What was assumed, for people.
    pub assumed: Vec<String>,
    /// What each declared cable may carry.
    pub cables: Vec<CableBudget>,
    /// What to know about cables.
    pub cable_note: &'static str,
}

impl Emission {
    /// Whether every clock is declared with all that its emission needs.
    pub fn complete(&self) -> bool {
        self.spectrum.as_ref().is_some_and(|report| report.complete)
    }

    /// As `emission.json`.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Of a board.
    pub(crate) fn of(context: &Context<'_>) -> Result<Self, Cancelled> {
        let (spectrum, mut missing) = spectrum(context)?;
        let (cables, refused) = if context.settings.is_off(&EMISSION_CM) {
            (Vec::new(), Vec::new())
        } else {
            cables::budgets(context)?
        };
        missing.extend(refused);
        Ok(Self {
            spectrum,
            missing,
            assumed: assumed(context),
            cables,
            cable_note: CABLE_NOTE,
        })
    }

    /// What to say about it beside the findings: always that cables dominate, and what is missing.
    pub(crate) fn notes(&self, settings: &Settings) -> Vec<String> {
        let clocks = settings.clocks();
        if clocks.is_empty() && settings.cables().is_empty() {
            return vec![
                "emission: no clocks and no cables are declared, so nothing is said about margins; currents on cables \
                 radiate most, loops over planes rarely break limits"
                    .to_owned(),
            ];
        }
        let mut notes = self.missing.clone();
        notes.extend(NOTES.map(|text| format!("emission: {text}")));
        notes
    }
}

/// The lines of the declared clocks, and what is missing.
fn spectrum(context: &Context<'_>) -> Result<(Option<Report>, Vec<String>), Cancelled> {
    let site = context.settings.site();
    let Drivers {
        drivers,
        mut missing,
    } = Drivers::of(context)?;
    let setting = Setting {
        table: site.table(),
        distance_m: site.distance_m(),
        site: Site::Reflecting,
        highest_hz: None,
    };
    let stop = || context.is_stopped();
    let found = match report(&drivers, &setting, &stop) {
        Err(EmissionError::Stopped) => return Err(Cancelled),
        Err(error) => {
            missing.push(error.to_string());
            report(&[], &setting, &stop)
        }
        found => found,
    };
    Ok((found.ok(), missing))
}

/// What the emission of a board assumes.
fn assumed(context: &Context<'_>) -> Vec<String> {
    let (settings, board) = (context.settings, context.board);
    let clocks = settings.clocks();
    let mut assumed = Vec::new();
    if !settings.site().is_declared() {
        assumed.push(settings.site().text());
    }
    if !clocks.is_empty() {
        assumed.push(format!(
            "clocks are high for {} % of their period, so that they have no even harmonics",
            100.0 * ASSUMED_DUTY
        ));
        assumed.extend(
            [
                "vias, pins and packages are not counted",
                "the same current everywhere along a net",
            ]
            .map(str::to_owned),
        );
    }
    if clocks.iter().any(|clock| clock.spread.is_some()) {
        assumed.push(format!(
            "spread clocks go up and down {} thousand times a second",
            ASSUMED_MODULATION_HZ / 1e3
        ));
    }
    assumed.extend(board.assumed.iter().cloned());
    assumed
}
