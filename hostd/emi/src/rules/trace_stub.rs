//! Tracks that end nowhere and resonate.

use super::{Assumption, Param, Rule, Scope};
use crate::board::LayerSet;
use crate::copper::TrackRun;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::Point;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "trace-stub",
    title: "A track ends nowhere and resonates",
    about: "A branch that ends at no pad and no via is an open stub: at a quarter wavelength it shorts the signal, and it is an \
            antenna.",
    formula: "f = c/(4·L·√εeff) of a run with one loose end; compared with resonance_margin·f_knee, f_knee = 1/(π·t_r).",
    source: "quarter-wave stub; knee frequency: Johnson & Graham 1993; εeff on outer layers: Hammerstad 1975. Published VNA data of \
             a 21.0 mm stub (gerber2ems): 1.91 GHz",
    severity: "warning; info on slow nets",
    validity: "signals; L is the run up to the next branch",
    params: &[Param {
        key: "resonance_margin",
        default: 4.0,
        about: "how far above the knee a resonance has to be",
    }],
    assumes: &[Assumption::Frequency, Assumption::Stackup],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(&scope.signal_runs(), |run| {
        stub(scope, run).into_iter().collect()
    })
}

fn stub(scope: &Scope<'_>, run: &TrackRun) -> Option<Draft> {
    let length = run.length();
    let width = run.widths.iter().copied().fold(0.0, f64::max);
    let epsilon = scope.effective_epsilon(run.layer, width);
    let hz = super::context::LIGHT_MM_S / (4.0 * length.max(f64::MIN_POSITIVE) * epsilon.sqrt());
    let knee = 1.0 / (std::f64::consts::PI * scope.settings.rise_s(scope.net(run.net)));
    let limit = scope.param_of("resonance_margin", run.net) * knee;
    if limit <= hz {
        return None;
    }
    let loose: Vec<Point> = [run.start(), run.end()]
        .into_iter()
        .filter(|end| is_loose(scope, run, *end))
        .collect();
    // A run with two loose ends is no branch of anything.
    let [end] = loose[..] else { return None };
    let detail = format!(
        "{length:.1} mm on {} that end at nothing resonate at {:.2} GHz; the signal's knee is at {:.2} GHz",
        scope.layer_name(run.layer),
        hz / 1e9,
        knee / 1e9
    );
    let severity = scope.graded(run.net, Severity::Warning, Severity::Warning);
    let draft = Draft::new(severity, end, RULE.title, detail)
        .net(run.net)
        .layer(run.layer);
    Some(draft.measure(hz / 1e9, limit / 1e9, "GHz"))
}

/// Whether nothing but the run itself is at one of its ends.
fn is_loose(scope: &Scope<'_>, run: &TrackRun, end: Point) -> bool {
    let at = scope
        .contacts
        .tracks_at(run.net, LayerSet::only(run.layer), end);
    // The last piece of the run, and those before it that are so short that they are still there.
    let own = |index: &usize| {
        let line = scope.board.tracks[*index].line;
        run.lines
            .iter()
            .any(|l| (l.a == line.a && l.b == line.b) || (l.a == line.b && l.b == line.a))
    };
    at.iter().all(own)
        && at
            .first()
            .is_some_and(|index| scope.contacts.ends_alone(*index, end))
}
