//! Nets that are long against the wavelength.

use super::{Assumption, Param, Rule, Scope};
use crate::copper::TrackRun;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "radiator",
    title: "A net is long against the wavelength",
    about: "From a twentieth of a wavelength on, a net is an antenna worth the name, and has to be routed as a line.",
    formula: "Length of all tracks of the net > wavelength_fraction·λ, λ = c/(f_max·√εeff), εeff of its longest run.",
    source: "Ott 2009, chapter 5; εeff on outer layers: Hammerstad 1975",
    severity: "info, warning on fast nets",
    validity: "signals; branches are added",
    params: &[Param {
        key: "wavelength_fraction",
        default: 0.05,
        about: "shorter nets are short",
    }],
    assumes: &[Assumption::Frequency, Assumption::Stackup],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let runs = scope.runs.chunk_by(|x, y| x.net == y.net);
    let signals: Vec<&[TrackRun]> = runs.filter(|runs| scope.is_signal(runs[0].net)).collect();
    scope.each(&signals, |runs| long(scope, runs).into_iter().collect())
}

fn long(scope: &Scope<'_>, runs: &[TrackRun]) -> Option<Draft> {
    let net = runs[0].net;
    let longest = runs
        .iter()
        .max_by(|x, y| x.length().total_cmp(&y.length()))?;
    let width = longest.widths.iter().copied().fold(0.0, f64::max);
    let epsilon = scope.effective_epsilon(longest.layer, width);
    let hz = scope.settings.max_frequency_hz().0;
    let wavelength = super::context::LIGHT_MM_S / (hz * epsilon.sqrt());
    let limit = scope.param_of("wavelength_fraction", net) * wavelength;
    let length: f64 = runs.iter().map(TrackRun::length).sum();
    if length <= limit {
        return None;
    }
    let severity = scope.graded(net, Severity::Warning, Severity::Info);
    let detail = format!(
        "{length:.1} mm of tracks; the wavelength is {wavelength:.0} mm at {:.0} MHz (εeff {epsilon:.2})",
        hz / 1e6
    );
    let middle = longest.at(longest.length() / 2.0);
    Some(
        Draft::new(severity, middle, RULE.title, detail)
            .net(net)
            .layer(longest.layer)
            .measure(length, limit, "mm"),
    )
}
