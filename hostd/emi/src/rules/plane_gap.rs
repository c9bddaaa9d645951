//! A trace over a void of its plane.

use super::around::{Ends, Gap, Wanted, gaps};
use super::plane_split::split_mm_max;
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
    formula: "Stretch without plane on the layers beside, between two stretches with plane, longer than min_crossing_mm. The way \
              of the return current: the shortest one in the copper of the plane, on either side of the gap, or through vias and \
              capacitors over other planes. Detour: how much longer than the gap it is. Loop: what way and trace enclose, and \
              L·D/μ0 = D²·ln(D/W)/2π of a slot with L = (μ0/2π)·D·ln(D/W), D half of the detour, at most 25 mm, W the trace's width. \
              Where a plane of the same net runs beside the trace on its own layer, at most 1 mm away for 80 % of the gap, the loop is the \
              gap times that distance. Copper narrower than 3·h between two gaps does not divide them, h the height above the plane. Antipads of the net's \
              own vias and pads are no gaps.",
    source: "exact crossing of the trace's middle with the outlines of fills; slots: Johnson & Graham 1993",
    severity: "loops of at least loop_mm2: warning, critical on fast nets; smaller ones: info, warning on fast nets",
    validity: "signals on layers beside a layer with filled zones of a ground or supply of more than 4 mm². Ways are followed up to \
               200 mm; tracks and pads of the plane's net do not count as copper of the plane",
    params: &[
        Param {
            key: "min_crossing_mm",
            default: LEAST_MM,
            about: "shorter gaps are none",
        },
        Param {
            key: "detour_mm",
            default: 1.0,
            about: "gaps with shorter detours are none",
        },
        Param {
            key: "loop_mm2",
            default: 25.0,
            about: "smaller loops are less bad",
        },
    ],
    assumes: &[Assumption::Stackup],
    check,
};

/// The shortest gap by default, in mm.
pub(super) const LEAST_MM: f64 = 0.1;

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(&scope.signal_runs(), |run| crossings(scope, run))
}

fn crossings(scope: &Scope<'_>, run: &TrackRun) -> Vec<Draft> {
    let least = scope.param_of("min_crossing_mm", run.net);
    let enough = scope.param_of("detour_mm", run.net);
    let is_meant = |gap: &Gap| match gap.ends {
        // The rule about splits reports it.
        Ends::Planes { one_net: false } => split_mm_max(scope, run.layer) < gap.to - gap.from,
        Ends::Planes { one_net: true } | Ends::Joint => true,
        Ends::Nothing => false,
    };
    let gaps = gaps(scope, run, Wanted { least, enough });
    let gaps = gaps
        .iter()
        .filter(|gap| least < gap.open && is_meant(gap))
        .filter(|gap| gap.around.extra.is_none_or(|extra| enough < extra));
    gaps.map(|gap| draft(scope, run, gap)).collect()
}

fn draft(scope: &Scope<'_>, run: &TrackRun, gap: &Gap) -> Draft {
    let limit = scope.param_of("loop_mm2", run.net);
    let loop_mm2 = gap.around.loop_mm2;
    let severity = if limit <= loop_mm2 {
        scope.graded(run.net, Severity::Critical, Severity::Warning)
    } else {
        scope.graded(run.net, Severity::Warning, Severity::Info)
    };
    let layers: Vec<&str> = scope
        .planes
        .references(run.layer)
        .iter()
        .map(|r| scope.layer_name(r.layer))
        .collect();
    let way = match gap.around.extra {
        _ if gap.is_beside => format!(
            "a plane beside it on {} carries the return current",
            scope.layer_name(run.layer)
        ),
        Some(extra) => format!("the return current's way around it is {extra:.1} mm longer"),
        None => "the return current has no way around it".to_owned(),
    };
    let detail = format!(
        "{:.1} mm on {} without plane on {}; {way}, a loop of {loop_mm2:.0} mm²",
        gap.open,
        scope.layer_name(run.layer),
        layers.join(" and "),
    );
    let middle = run.at(gap.from.midpoint(gap.to));
    Draft::new(severity, middle, RULE.title, detail)
        .net(run.net)
        .layer(run.layer)
        .bounds(Bounds::of(run.between(gap.from, gap.to)))
        .measure(loop_mm2, limit, "mm²")
}
