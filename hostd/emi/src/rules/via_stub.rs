//! Vias whose unused end resonates.

use super::{Assumption, Param, Rule, Scope};
use crate::board::Via;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "via-stub",
    title: "The unused end of a via resonates",
    about: "A via that goes on below the layer on which its signal leaves is an open stub: at a quarter wavelength it shorts the \
            signal.",
    formula: "f = c/(4·L·√εr), L from the last layer that is used to the end of the via; compared with resonance_margin·f_knee, \
              f_knee = 1/(π·t_r).",
    source: "quarter-wave stub; knee frequency: Johnson & Graham 1993. Published VNA data of 21.0 and 8.35 mm stubs (gerber2ems): \
             1.91 and 5.15 GHz",
    severity: "warning; info on slow nets",
    validity: "vias of signals that are used on two layers; the capacitance of pads, which lowers f further, is left out",
    params: &[Param {
        key: "resonance_margin",
        default: 4.0,
        about: "how far above the knee a resonance has to be",
    }],
    assumes: &[Assumption::Frequency, Assumption::Stackup],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let signals: Vec<&Via> = scope
        .board
        .vias
        .iter()
        .filter(|via| scope.is_signal(via.net))
        .collect();
    scope.each(&signals, |via| stub(scope, via).into_iter().collect())
}

fn stub(scope: &Scope<'_>, via: &Via) -> Option<Draft> {
    let stackup = &scope.board.stackup;
    let (first, last) = (via.span.top()?, via.span.bottom()?);
    let distance = |a: usize, b: usize| if a == b { 0.0 } else { stackup.distance(a, b) };
    let longest = distance(first, last);
    let knee = 1.0 / (std::f64::consts::PI * scope.settings.rise_s(scope.net(via.net)));
    let limit = scope.param_of("resonance_margin", via.net) * knee;
    let resonance =
        |length: f64| super::context::LIGHT_MM_S / (4.0 * length * stackup.epsilon().sqrt());
    // Most vias are too short whatever is used of them.
    if longest <= 0.0 || limit <= resonance(longest) {
        return None;
    }
    let used = scope.contacts.layers_used(via);
    let (top, bottom) = (used.top()?, used.bottom()?);
    if top == bottom {
        return None;
    }
    let length = distance(first, top).max(distance(bottom, last));
    let hz = resonance(length);
    if length <= 0.0 || limit <= hz {
        return None;
    }
    let detail = format!(
        "{length:.2} mm beyond {} to {} resonate at {:.2} GHz; the signal's knee is at {:.2} GHz",
        scope.layer_name(top),
        scope.layer_name(bottom),
        hz / 1e9,
        knee / 1e9
    );
    let severity = scope.graded(via.net, Severity::Warning, Severity::Warning);
    let draft = Draft::new(severity, via.at, RULE.title, detail)
        .net(via.net)
        .layer(bottom);
    Some(draft.measure(hz / 1e9, limit / 1e9, "GHz"))
}
