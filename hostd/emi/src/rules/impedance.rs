//! Steps of the impedance along a net.

mod lines;
mod stretches;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::{Assumption, Param, Rule, Scope};
use crate::board::NetId;
use crate::fields::constants::LIGHT_SPEED;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;
use lines::{Solved, solve};
use stretches::{Shape, Stretch, stretches};

pub(super) static RULE: Rule = Rule {
    id: "impedance",
    title: "The impedance of a net has a step",
    about: "Where the impedance changes, a part of each edge goes back. What goes to and fro rings, and its harmonics radiate.",
    formula: "Z0 of each stretch of one width, layer and set of planes: microstrip, stripline in the middle of one dielectric; \
              otherwise boundary elements. |Z0/Z − 1| · min(1, 2·l·√εeff/(c·t_r)) > max_step_pct, Z: target_ohm, or Z0 of the width \
              and layer that most of the net has; l: the longest stretch in one piece. Of each net: the worst stretch.",
    source: "Hammerstad & Jensen 1980; Cohn 1954, 1955; Wei, Harrington, Mautz, Sarkar 1984. Reflections of short stretches: Johnson \
             & Graham 1993",
    severity: "warning on fast nets and nets with target_ohm, otherwise info",
    validity: "signals over planes; copper beside a trace on its own layer, other traces and solder mask are not counted, and lower Z0. \
               outside_validity marks stretches whose measures differ by more than a factor of 100",
    params: &[
        Param {
            key: "max_step_pct",
            default: 20.0,
            about: "of the impedance",
        },
        Param {
            key: "target_ohm",
            default: 0.0,
            about: "what the net should have; 0: what most of it has",
        },
    ],
    assumes: &[
        Assumption::Frequency,
        Assumption::Stackup,
        Assumption::Always("no solder mask, no copper beside the trace, planes much wider than it"),
    ],
    check,
};

/// A net's stretches by their shape.
type Stretches = BTreeMap<Shape, Stretch>;

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let nets: Vec<NetId> = (0..scope.board.nets.len())
        .filter(|net| scope.is_signal(*net) && !scope.runs_of(*net).is_empty())
        .collect();
    let of_nets = nets.par_iter().map(|net| {
        scope.go_on()?;
        Ok((*net, stretches(scope, *net)))
    });
    let of_nets: Vec<(NetId, Stretches)> = of_nets.collect::<Result<_, Cancelled>>()?;
    let shapes: BTreeSet<Shape> = of_nets
        .iter()
        .flat_map(|(_, stretches)| stretches.keys().copied())
        .collect();
    let solved = solve(scope, &shapes)?;
    scope.each(&of_nets, |(net, stretches)| {
        step(scope, *net, stretches, &solved).into_iter().collect()
    })
}

fn step(
    scope: &Scope<'_>,
    net: NetId,
    stretches: &Stretches,
    solved: &BTreeMap<Shape, Solved>,
) -> Option<Draft> {
    let known = stretches
        .iter()
        .filter_map(|(shape, stretch)| Some((shape, stretch, solved.get(shape)?)));
    let known: Vec<(&Shape, &Stretch, &Solved)> = known.collect();
    let (usual, most, of_usual) = *known
        .iter()
        .max_by(|x, y| x.1.total_mm.total_cmp(&y.1.total_mm).then(y.0.cmp(x.0)))?;
    let target = scope.param_of("target_ohm", net);
    let wanted = if 0.0 < target { target } else { of_usual.ohm };
    let rise = scope.settings.rise_s(scope.net(net));
    let weighed = |stretch: &Stretch, line: &Solved| {
        let delay = stretch.longest_mm / 1e3 * line.permittivity.sqrt() / LIGHT_SPEED;
        100.0 * (line.ohm / wanted - 1.0).abs() * (2.0 * delay / rise).min(1.0)
    };
    let limit = scope.param_of("max_step_pct", net);
    let of_all = known
        .iter()
        .map(|(shape, stretch, line)| (weighed(stretch, line), *shape, *stretch, *line));
    let (value, shape, stretch, line) = of_all
        .max_by(|x, y| x.0.total_cmp(&y.0).then(y.1.cmp(x.1)))
        .filter(|worst| limit < worst.0)?;
    let against = if 0.0 < target {
        format!("{target} Ω are wanted")
    } else {
        format!(
            "most of the net, {:.1} mm {:.3} mm wide on {}, has {:.1} Ω",
            most.total_mm,
            usual.width_mm(),
            scope.layer_name(usual.layer),
            of_usual.ohm,
        )
    };
    let validity = if line.is_valid {
        ""
    } else {
        "; outside_validity"
    };
    let detail = format!(
        "{:.1} mm {:.3} mm wide on {} have {:.1} Ω, {against}: {value:.0} % of an edge's step, its length counted ({}{validity})",
        stretch.longest_mm,
        shape.width_mm(),
        scope.layer_name(shape.layer),
        line.ohm,
        line.method,
    );
    let severity = if 0.0 < target {
        scope.graded(net, Severity::Warning, Severity::Warning)
    } else {
        scope.graded(net, Severity::Warning, Severity::Info)
    };
    let draft = Draft::new(severity, stretch.at, RULE.title, detail)
        .net(net)
        .layer(shape.layer);
    Some(draft.measure(value, limit, "%"))
}
