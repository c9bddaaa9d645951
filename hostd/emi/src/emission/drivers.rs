//! The declared clocks of a board with the loops of their nets.

use crate::fields::emission::Driver;
use crate::fields::radiation::CurrentLoop;
use crate::observer::Cancelled;
use crate::rules::{Context, Loops, loops};

/// Clocks as drivers.
pub(super) struct Drivers {
    pub(super) drivers: Vec<Driver>,
    /// What keeps some of them from having a clock, for people.
    pub(super) missing: Vec<String>,
}

impl Drivers {
    /// The clocks of a board, by net. What cannot be computed is a driver without a clock.
    pub(super) fn of(context: &Context<'_>) -> Result<Self, Cancelled> {
        let (mut drivers, mut missing) = (Vec::new(), Vec::new());
        for clock in context.settings.clocks() {
            let name = &clock.net;
            let known = context.clocks.iter().find(|(_, known)| known.net == *name);
            let net = known.map(|(net, _)| *net);
            let of_net = net.map(|net| loops(context, net)).transpose()?;
            let of_net = of_net.unwrap_or_default();
            let emitting = clock.emitting();
            let what = match (net, &emitting) {
                (None, _) => Some(format!("the clock `{name}` is no net of this board")),
                (_, None) => Some(format!(
                    "the clock `{name}` needs volts and load_ohm for its emission"
                )),
                _ if of_net.length_mm <= 0.0 => {
                    Some(format!("the clock `{name}` has no tracks on this board"))
                }
                _ => None,
            };
            drivers.push(Driver {
                name: name.clone(),
                clock: emitting.filter(|_| what.is_none()),
                loops: current_loops(&of_net),
            });
            missing.extend(what);
        }
        if drivers.is_empty() {
            missing
                .push("no clocks are declared, so nothing is said about their emission".to_owned());
        }
        drivers.sort_by(|x, y| x.name.cmp(&y.name));
        Ok(Self { drivers, missing })
    }
}

/// The loops of a net as the formula wants them. The whole net carries the current, so its length decides whether the
/// formula holds.
fn current_loops(loops: &Loops) -> Vec<CurrentLoop> {
    [loops.covered_mm2, loops.gaps_mm2]
        .into_iter()
        .filter(|area| 0.0 < *area)
        .map(|area| CurrentLoop {
            area_m2: area / 1e6,
            length_m: loops.length_mm / 1e3,
        })
        .collect()
}
