//! Shells of connectors, mounting holes and the enclosure's net.

use super::{Rule, Scope};
use crate::board::{Hole, NetId, NetKind, Pad};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;
use crate::words;

pub(super) static RULE: Rule = Rule {
    id: "connector-shield",
    title: "A shell or enclosure is connected to nothing",
    about: "A discharge into a shell, a screw or the enclosure has to reach the board's ground without crossing the circuit, and a \
            shield that is open at one end shields nothing.",
    formula: "Shell pads of connectors (SH, SHIELD, SHELL, S1…, MP) and plated mounting holes without a net; nets of an enclosure that \
              no part joins with a ground.",
    source: "as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "parts J…, P…, X…, CN…, USB…; H… and MH…",
    params: &[],
    assumes: &[],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let found = scope.each(&scope.parts(), |part| {
        open_pad(scope, *part).into_iter().collect()
    })?;
    let nets: Vec<NetId> = (0..scope.board.nets.len()).collect();
    if nets.iter().any(|net| is_board_ground(scope, *net)) {
        let lone = scope.each(&nets, |net| {
            lone_enclosure(scope, *net).into_iter().collect()
        })?;
        return Ok(found.with(lone));
    }
    Ok(found)
}

fn open_pad(scope: &Scope<'_>, index: usize) -> Option<Draft> {
    let part = scope.part(index);
    let (is_connector, is_hole) = (part.is_connector(), part.is_mounting_hole());
    let is_meant =
        |pad: &&Pad| is_connector && is_shell(pad) || is_hole && pad.hole == Hole::Plated;
    let meant: Vec<&Pad> = scope.pads_of_part(index).filter(is_meant).collect();
    let is_open = |pad: &Pad| {
        let net = scope.net(pad.net);
        net.kind == NetKind::None || net.name.starts_with("unconnected-(")
    };
    let first = meant
        .first()
        .filter(|_| meant.iter().all(|pad| is_open(pad)))?;
    let what = if is_connector { "shell" } else { "plated hole" };
    let detail = format!("the {what} of {} has no net", part.reference);
    let draft = Draft::new(Severity::Warning, first.at, RULE.title, detail);
    Some(draft.layer(scope.mount(index)).footprint(index))
}

fn is_shell(pad: &Pad) -> bool {
    let is_numbered = |word: &str| {
        let digits = word.strip_prefix('S').unwrap_or("x");
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
    };
    let names = words::of_text(&pad.number)
        .into_iter()
        .chain(words::of_text(&pad.function));
    let mut names = names.map(|name| {
        name.trim_end_matches(char::is_numeric).to_owned()
            + if is_numbered(&name) { "#" } else { "" }
    });
    names.any(|name| matches!(name.as_str(), "SH" | "SHIELD" | "SHELL" | "MP" | "S#"))
}

fn is_enclosure(scope: &Scope<'_>, net: NetId) -> bool {
    words::of_net(&scope.net(net).name)
        .iter()
        .any(|word| words::is_chassis(word))
}

fn is_board_ground(scope: &Scope<'_>, net: NetId) -> bool {
    scope.is_ground(net) && !is_enclosure(scope, net)
}

fn lone_enclosure(scope: &Scope<'_>, net: NetId) -> Option<Draft> {
    let pad = scope
        .pads_of(net)
        .next()
        .filter(|_| is_enclosure(scope, net))?;
    let joins = |part: usize| {
        scope
            .part(part)
            .nets
            .iter()
            .any(|other| is_board_ground(scope, *other))
    };
    if scope.pads_of(net).any(|pad| joins(pad.footprint)) {
        return None;
    }
    let detail = format!(
        "no part joins {} with a ground of the board",
        scope.net(net).name
    );
    Some(
        Draft::new(Severity::Warning, pad.at, RULE.title, detail)
            .net(net)
            .footprint(pad.footprint),
    )
}
