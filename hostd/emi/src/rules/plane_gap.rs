//! A trace over a void of its plane.

use super::walk::{GAP_HEIGHTS_MIN, Under, detour, places, walk};
use super::{Assumption, Param, Rule, Scope};
use crate::copper::TrackRun;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::Bounds;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "plane-gap",
    title: "A trace crosses a gap in its reference plane",
    about: "The return current flows under its trace. Where the plane has a gap, it flows around the gap, and the loop that it \
            makes radiates and picks up.",
    formula: "Stretch without plane on the layers beside, between two stretches with plane: longer than max(min_crossing_mm, \
              4·h), h the height above the plane. Copper narrower than 3·h between two gaps is no plane. Antipads of the net's \
              own vias and pads are no gaps. Detour: largest distance from the stretch to an edge of the plane.",
    source: "exact crossing of the trace's middle with the outlines of fills; 4·h: the field reaches that far (Johnson & Graham 1993)",
    severity: "warning if the detour is longer than detour_mm, critical on fast nets, otherwise info",
    validity: "signals on layers beside a layer with filled zones of a ground or supply of more than 4 mm²",
    params: &[
        Param {
            key: "min_crossing_mm",
            default: 0.6,
            about: "shorter gaps are none",
        },
        Param {
            key: "detour_mm",
            default: 1.0,
            about: "shorter detours are info",
        },
    ],
    assumes: &[Assumption::Stackup],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(&scope.signal_runs(), |run| gaps(scope, run))
}

fn gaps(scope: &Scope<'_>, run: &TrackRun) -> Vec<Draft> {
    let grounds = walk(scope, run);
    let height = scope
        .planes
        .references(run.layer)
        .first()
        .map_or(0.0, |r| r.height);
    let least = scope
        .param_of("min_crossing_mm", run.net)
        .max(GAP_HEIGHTS_MIN * height);
    let inner = 1..grounds.len().saturating_sub(1);
    let open = inner
        .map(|index| &grounds[index])
        .filter(|g| g.under == Under::Nothing && least < g.length());
    open.map(|gap| {
        let places = places(run, gap);
        let detour = detour(scope, run, &places);
        let severity = if scope.param_of("detour_mm", run.net) < detour {
            scope.graded(run.net, Severity::Critical, Severity::Warning)
        } else {
            Severity::Info
        };
        let layers: Vec<&str> = scope
            .planes
            .references(run.layer)
            .iter()
            .map(|r| scope.layer_name(r.layer))
            .collect();
        let detail = format!(
            "{:.1} mm on {} without plane on {}; the plane's edge is up to {detour:.1} mm away",
            gap.length(),
            scope.layer_name(run.layer),
            layers.join(" and "),
        );
        let middle = run.at((gap.from + gap.to) / 2.0);
        Draft::new(severity, middle, RULE.title, detail)
            .net(run.net)
            .layer(run.layer)
            .bounds(Bounds::of(places))
            .measure(gap.length(), least, "mm")
    })
    .collect()
}
