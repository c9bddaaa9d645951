//! What nets carry and how fast they are: what the rules file says, then the net class, then what pins, pours and capacitors
//! say, beside the words of the name.

mod evidence;

use std::collections::BTreeMap;

use crate::board::{Board, Net, NetId, NetKind, Speed};
use crate::observer::{Cancelled, Watch};
use crate::settings::Settings;
use crate::words::{self, Interface};
use evidence::evidence;

/// Sets kind and speed of every net.
pub(crate) fn classify(
    board: &mut Board,
    settings: &Settings,
    watch: &Watch<'_>,
) -> Result<(), Cancelled> {
    // Capacitors to ground tell of supplies, so grounds come first.
    let grounds = grounds(board, settings);
    let seen = evidence(board, &grounds);
    for (id, net) in board.nets.iter_mut().enumerate() {
        // A net meets every group's pattern.
        watch.go_on()?;
        if net.name.is_empty() {
            net.kind = NetKind::None;
            continue;
        }
        let declared = settings.kind(net);
        let declared = declared.map(|kind| (kind, "the rules file".to_owned()));
        let found = declared
            .or_else(|| of_classes(net))
            .or_else(|| seen[id].kind(&words::of_net(&net.name)));
        (net.kind, net.because) = found.unwrap_or_default();
    }
    speeds(board, settings, watch)
}

/// What the classes of a net say. Classes for supplies often have their grounds too, for the sake of wide traces: a net that has
/// the name of a ground is none of the supplies.
fn of_classes(net: &Net) -> Option<(NetKind, String)> {
    let is_ground = || evidence::names_ground(&words::of_net(&net.name));
    let (kind, because) = said_by(&net.classes)?;
    (kind != NetKind::Power || !is_ground()).then_some((kind, because))
}

fn said_by(classes: &[String]) -> Option<(NetKind, String)> {
    classes.iter().find_map(|class| {
        let words = words::of_text(class);
        let any = |is: fn(&str) -> bool| words.iter().any(|word| is(word));
        let kind = if any(words::is_about_supply) {
            None
        } else if any(words::is_ground) {
            Some(NetKind::Ground)
        } else {
            let is_power =
                any(words::is_supply) || words.iter().any(|w| w == "POWER" || w == "PWR");
            is_power.then_some(NetKind::Power)
        };
        kind.map(|kind| (kind, format!("net class {class}")))
    })
}

/// Which nets are grounds by what is declared and by their names.
fn grounds(board: &Board, settings: &Settings) -> Vec<bool> {
    let is_ground = |net: &Net| {
        let declared = settings
            .kind(net)
            .or_else(|| of_classes(net).map(|(kind, _)| kind));
        declared.map_or_else(
            || evidence::names_ground(&words::of_net(&net.name)),
            |kind| kind == NetKind::Ground,
        )
    };
    board.nets.iter().map(is_ground).collect()
}

fn speeds(board: &mut Board, settings: &Settings, watch: &Watch<'_>) -> Result<(), Cancelled> {
    let mates = fast_mates(board);
    let clocks = |net: NetId| settings.is_clock(&board.nets[net].name);
    let mut is_behind = vec![false; board.nets.len()];
    for (_, net) in behind(board, clocks) {
        is_behind[net] = true;
    }
    for (id, net) in board.nets.iter_mut().enumerate() {
        watch.go_on()?;
        if net.kind == NetKind::None {
            continue;
        }
        let class_says = |is: fn(&str) -> bool| {
            let mut words = net.classes.iter().flat_map(|class| words::of_text(class));
            words.any(|word| is(&word))
        };
        net.speed = if let Some(speed) = settings.speed(net) {
            speed
        } else if class_says(words::is_fast_class) || mates[id] || is_behind[id] {
            Speed::Fast
        } else if class_says(words::is_slow_class) {
            Speed::Slow
        } else {
            Speed::Unknown
        };
    }
    Ok(())
}

/// The nets that go on behind a resistor in series with one of some nets, each after that net.
pub(crate) fn behind(board: &Board, is_meant: impl Fn(NetId) -> bool) -> Vec<(NetId, NetId)> {
    let is_signal = |net: NetId| board.nets[net].kind == NetKind::Signal;
    let resistors = board.footprints.iter();
    let resistors = resistors.filter(|part| part.is_series_resistor());
    let mut found = Vec::new();
    for part in resistors {
        let [first, second] = part.nets[..] else {
            continue;
        };
        for (net, other) in [(first, second), (second, first)] {
            if is_meant(net) && !is_meant(other) && is_signal(other) {
                found.push((net, other));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Which nets are one of a pair that may be fast, by the names of both.
fn fast_mates(board: &Board) -> Vec<bool> {
    let mut is_mate = vec![false; board.nets.len()];
    for (positive, negative) in pairs(board) {
        let is_slow = interface(&board.nets[positive]) == Interface::Slow;
        if !is_slow {
            (is_mate[positive], is_mate[negative]) = (true, true);
        }
    }
    is_mate
}

/// What a net of a pair is for, as its name says, or else its class for pairs.
pub(crate) fn interface(net: &Net) -> Interface {
    match words::interface(&net.name) {
        Interface::Unknown => net
            .pair_class
            .as_deref()
            .map_or(Interface::Unknown, words::interface),
        known => known,
    }
}

/// The pairs of a board, positive net first: signals with names that belong together, and those of classes for pairs.
pub(crate) fn pairs(board: &Board) -> Vec<(NetId, NetId)> {
    // Nets are in the order of their names.
    let find = |name: &String| {
        board
            .nets
            .binary_search_by(|net| net.name.as_str().cmp(name))
            .ok()
    };
    let is_signal = |id: &NetId| board.nets[*id].kind == NetKind::Signal;
    let mut of_classes: BTreeMap<&str, Vec<NetId>> = BTreeMap::new();
    let signals: Vec<NetId> = (0..board.nets.len()).filter(is_signal).collect();
    for id in &signals {
        if let Some(class) = &board.nets[*id].pair_class {
            of_classes.entry(class).or_default().push(*id);
        }
    }
    let mut pairs = Vec::new();
    let mut is_mate = vec![false; board.nets.len()];
    let mut add = |positive: NetId, negative: NetId| {
        if !is_mate[positive] && !is_mate[negative] && positive != negative {
            (is_mate[positive], is_mate[negative]) = (true, true);
            pairs.push((positive, negative));
        }
    };
    for id in &signals {
        let mates = words::mates(&board.nets[*id].name);
        if let Some(mate) = mates.iter().filter_map(find).find(is_signal) {
            add(*id, mate);
        }
    }
    for of_class in of_classes.values() {
        if let [first, second] = of_class[..] {
            let is_first =
                |name: &str| words::mates_of_class(name).contains(&board.nets[first].name);
            let is_turned = is_first(&board.nets[second].name);
            let (positive, negative) = if is_turned {
                (second, first)
            } else {
                (first, second)
            };
            add(positive, negative);
            continue;
        }
        for id in of_class {
            let net = &board.nets[*id];
            let is_beside =
                |mate: &NetId| is_signal(mate) && board.nets[*mate].pair_class == net.pair_class;
            let mates = words::mates_of_class(&net.name);
            if let Some(mate) = mates.iter().filter_map(find).find(is_beside) {
                add(*id, mate);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}
