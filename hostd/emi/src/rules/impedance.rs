//! Steps of the impedance along a net.

mod beside;
mod lines;
mod steps;
mod stretches;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{Assumption, Param, Rule, Scope};
use crate::board::NetId;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::kinds::pairs;
use crate::observer::Cancelled;
use lines::{Solved, solve};
use steps::{Step, steps};
use stretches::{Piece, Shape, stretches};

pub(super) static RULE: Rule = Rule {
    id: "impedance",
    title: "The impedance of a net has a step",
    about: "Where the impedance changes, a part of each edge goes back. What goes to and fro rings, and its harmonics radiate.",
    formula: "Z0 of each stretch of one width, layer and set of planes: microstrip, stripline in the middle of one dielectric; \
              otherwise boundary elements, which count poured copper within two heights beside the trace, solder mask that the file \
              has, and the other net of a pair: its Z0 is that of the odd mode, half of the differential one. \
              |Z0/Z − 1| · min(1, 2·l·√εeff/(c·t_r)) > max_step_pct, Z: target_ohm, half of target_pair_ohm, or Z0 of the width and \
              layer that most of the net has; l: length in one piece with too much or too little. Of each net: the worst piece.",
    source: "Hammerstad & Jensen 1980; Cohn 1954, 1955; Wei, Harrington, Mautz, Sarkar 1984. Reflections of short stretches: Johnson \
             & Graham 1993",
    severity: "warning on fast nets and nets with a target, otherwise info; info on nets that are declared slow",
    validity: "signals over planes; gaps beside a trace are rounded by up to 16 %, which is 3 % of Z0; other signals beside it are not \
               counted. outside_validity marks stretches whose measures differ by more than a factor of 100",
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
        Param {
            key: "target_pair_ohm",
            default: 0.0,
            about: "what the nets of a pair should have against each other; 0: target_ohm for each",
        },
    ],
    assumes: &[
        Assumption::Frequency,
        Assumption::Stackup,
        Assumption::Always(
            "no solder mask where the file has none, planes much wider than the trace",
        ),
    ],
    check,
};

/// A net and its stretches, run by run.
struct Of {
    net: NetId,
    is_of_pair: bool,
    runs: Vec<Vec<Piece>>,
}

/// What a net should have.
struct Wanted {
    ohm: f64,
    /// Whether somebody said so.
    is_declared: bool,
    /// For people.
    text: String,
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let mut mates: Vec<Option<NetId>> = vec![None; scope.board.nets.len()];
    for (positive, negative) in pairs(scope.board) {
        (mates[positive], mates[negative]) = (Some(negative), Some(positive));
    }
    let nets: Vec<NetId> = (0..scope.board.nets.len())
        .filter(|net| scope.is_signal(*net) && !scope.runs_of(*net).is_empty())
        .collect();
    let of_nets = nets.par_iter().map(|net| {
        scope.go_on()?;
        Ok(Of {
            net: *net,
            is_of_pair: mates[*net].is_some(),
            runs: stretches(scope, *net, mates[*net]),
        })
    });
    let of_nets: Vec<Of> = of_nets.collect::<Result<_, Cancelled>>()?;
    let mut shapes: BTreeMap<Shape, f64> = BTreeMap::new();
    for piece in of_nets.iter().flat_map(|of| of.runs.iter().flatten()) {
        *shapes.entry(piece.shape).or_default() += piece.length();
    }
    let solved = solve(scope, &shapes)?;
    scope.each(&of_nets, |of| {
        worst(scope, of, &solved).into_iter().collect()
    })
}

/// What a net should have, if anything is known about it.
fn wanted(scope: &Scope<'_>, of: &Of, solved: &BTreeMap<Shape, Solved>) -> Option<Wanted> {
    let of_pair = scope.param_of("target_pair_ohm", of.net);
    let target = scope.param_of("target_ohm", of.net);
    if of.is_of_pair && 0.0 < of_pair {
        return Some(Wanted {
            ohm: of_pair / 2.0,
            is_declared: true,
            text: format!("{of_pair} Ω between both nets are wanted"),
        });
    }
    if 0.0 < target {
        return Some(Wanted {
            ohm: target,
            is_declared: true,
            text: format!("{target} Ω are wanted"),
        });
    }
    let mut lengths: BTreeMap<Shape, f64> = BTreeMap::new();
    for piece in of.runs.iter().flatten() {
        *lengths.entry(piece.shape).or_default() += piece.length();
    }
    let known = lengths
        .iter()
        .filter_map(|(shape, length)| Some((shape, *length, solved.get(shape)?)));
    let (shape, length, line) = known.max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(x.0)))?;
    Some(Wanted {
        ohm: line.ohm,
        is_declared: false,
        text: format!(
            "most of the net, {length:.1} mm {:.3} mm wide on {}, has {:.1} Ω",
            shape.width_mm(),
            scope.layer_name(shape.layer),
            line.ohm,
        ),
    })
}

fn worst(scope: &Scope<'_>, of: &Of, solved: &BTreeMap<Shape, Solved>) -> Option<Draft> {
    let net = of.net;
    let wanted = wanted(scope, of, solved)?;
    let rise = scope.settings.rise_s(scope.net(net));
    let limit = scope.param_of("max_step_pct", net);
    let steps = steps(&of.runs, solved, wanted.ohm, limit / 100.0);
    let valued = steps.into_iter().map(|step| (step.value(rise), step));
    let order = |step: &Step| Reverse((step.shape, step.run));
    let (value, step) = valued
        .max_by(|x, y| x.0.total_cmp(&y.0).then(order(&x.1).cmp(&order(&y.1))))
        .filter(|worst| limit < worst.0)?;
    let line = solved.get(&step.shape)?;
    let run = &scope.runs_of(net)[step.run];
    let draft = Draft::new(
        severity(scope, net, wanted.is_declared),
        run.at(step.from.midpoint(step.to)),
        RULE.title,
        detail(scope, &step, line, &wanted.text, value),
    );
    let draft = draft.net(net).layer(step.shape.layer);
    Some(draft.measure(value, limit, "%"))
}

fn severity(scope: &Scope<'_>, net: NetId, is_declared: bool) -> Severity {
    let other = if is_declared {
        Severity::Warning
    } else {
        Severity::Info
    };
    scope.graded(net, Severity::Warning, other)
}

fn detail(scope: &Scope<'_>, step: &Step, line: &Solved, wanted: &str, value: f64) -> String {
    let (least, most) = step.ohm;
    let ohm = if most - least < 0.05 {
        format!("{most:.1} Ω")
    } else {
        format!("{least:.1} to {most:.1} Ω")
    };
    let beside = match (step.shape.beside.pour, step.shape.beside.mate) {
        (None, None) => String::new(),
        (Some((gap, _)), None) => format!(" about {:.2} mm from poured copper", gap.mm()),
        (_, Some(gap)) => format!(" about {:.2} mm from the other net of the pair", gap.mm()),
    };
    let validity = if line.is_valid {
        ""
    } else {
        "; outside_validity"
    };
    format!(
        "{:.1} mm {:.3} mm wide on {}{beside} have {ohm}, {wanted}: {value:.0} % of an edge's step, its length counted \
         ({}{validity})",
        step.to - step.from,
        step.shape.width_mm(),
        scope.layer_name(step.shape.layer),
        line.method,
    )
}
