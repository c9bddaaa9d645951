//! What declared cables may carry.

use super::{Assumption, Rule, Scope};
use crate::emission::{CableBudget, CableLine};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(crate) static RULE: Rule = Rule {
    id: "emission-cm",
    title: "A cable may carry only so much current",
    about: "A few microamperes along a cable reach the limit, and a few millivolts between the grounds of board and cable drive them. \
            What is measured with a clamp on the cable has to stay below this budget. Cables usually radiate most of all.",
    formula: "Greatest current along the cable with which its field equals the strictest limit, at harmonics of the declared clocks, \
              or at steps from 30 MHz to 1 GHz without clocks. Field: thin-wire moment method, antenna 1 to 4 m high, all around. Of \
              each cable: the smallest current.",
    source: "Harrington: Field Computation by Moment Methods, 1968, chapter 4; held to nec2c. Cables against loops: Hockanson et al. \
             1996; Su and Hubing 2011",
    severity: "info: a budget, which no board exceeds or keeps by itself",
    validity: "declared cables at connectors of the board, 30 MHz to 1 GHz",
    params: &[],
    assumes: &[
        Assumption::Limits,
        Assumption::Frequency,
        Assumption::Always(
            "the board lies on a table of 0.8 m, the cable runs 1 m along it and hangs down 0.4 m; the rest is bundled",
        ),
        Assumption::Always(
            "the board is a straight leg of its longer side; the cable is a bare wire of 2 mm whose end is open",
        ),
        Assumption::Always("nothing else radiates"),
    ],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(&scope.emission.cables, |budget| {
        least(scope, budget).into_iter().collect()
    })
}

fn least(scope: &Scope<'_>, budget: &CableBudget) -> Option<Draft> {
    let part = scope.part_named(&budget.connector)?;
    let smallest = |valid: bool| {
        let lines = budget.lines.iter().filter(move |line| line.valid == valid);
        lines.min_by(|x, y| x.permitted_a.total_cmp(&y.permitted_a))
    };
    let line: &CableLine = smallest(true).or_else(|| smallest(false))?;
    let validity = if line.valid {
        ""
    } else {
        "; outside_validity of the solver"
    };
    let detail = format!(
        "{} m at {}: at {:.1} MHz, {:.2} µA along the cable reach {:.1} dBµV/m, and {:.3} mV between board and cable drive them\
         {validity}",
        budget.length_m,
        budget.connector,
        line.frequency_hz / 1e6,
        line.permitted_a * 1e6,
        line.limit_dbuv_per_m,
        line.permitted_v * 1e3,
    );
    let at = scope.part(part).at;
    let draft = Draft::new(Severity::Info, at, RULE.title, detail);
    Some(draft.layer(scope.mount(part)).footprint(part))
}
