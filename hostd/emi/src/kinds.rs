//! What nets carry and how fast they are: what the rules file says, then the net class, then the words of the name, then
//! what the copper is.

use crate::board::{Board, NetKind, Speed};
use crate::observer::{Cancelled, Watch};
use crate::settings::Settings;
use crate::words;

/// A fill is a plane, and its net a supply, if it covers this part of the board.
const PLANE_PART: f64 = 0.25;

/// Sets kind and speed of every net.
pub(crate) fn classify(
    board: &mut Board,
    settings: &Settings,
    watch: &Watch<'_>,
) -> Result<(), Cancelled> {
    let planes = nets_of_planes(board);
    let mates = mates(board);
    for (id, net) in board.nets.iter_mut().enumerate() {
        // A net meets every group's pattern.
        watch.go_on()?;
        if net.name.is_empty() {
            net.kind = NetKind::None;
            continue;
        }
        let declared = settings.kind(net);
        let of_class = net.classes.iter().find_map(|class| {
            let words = words::of_text(class);
            kind_of(&words).map(|kind| (kind, format!("net class {class}")))
        });
        let of_name =
            || kind_of(&words::of_net(&net.name)).map(|kind| (kind, "its name".to_owned()));
        let of_copper = || planes[id].then(|| (NetKind::Power, "a plane of its own".to_owned()));
        let kind = declared.map(|kind| (kind, "the rules file".to_owned()));
        let found = kind.or(of_class).or_else(of_name).or_else(of_copper);
        (net.kind, net.because) = found.unwrap_or_default();
        let class_says = |is: fn(&str) -> bool| {
            let mut words = net.classes.iter().flat_map(|class| words::of_text(class));
            words.any(|word| is(&word))
        };
        net.speed = if let Some(speed) = settings.speed(net) {
            speed
        } else if class_says(words::is_fast_class) || mates[id] {
            Speed::Fast
        } else if class_says(words::is_slow_class) {
            Speed::Slow
        } else {
            Speed::Unknown
        };
    }
    Ok(())
}

/// What some words say; a name that only tells of a supply is a signal's.
fn kind_of(words: &[String]) -> Option<NetKind> {
    let any = |is: fn(&str) -> bool| words.iter().any(|word| is(word));
    if any(words::is_about_supply) {
        None
    } else if any(words::is_ground) {
        Some(NetKind::Ground)
    } else if any(words::is_supply) {
        Some(NetKind::Power)
    } else {
        None
    }
}

/// Which nets have a fill that covers much of the board.
fn nets_of_planes(board: &Board) -> Vec<bool> {
    let area = board.area();
    let mut is_plane = vec![false; board.nets.len()];
    for fill in &board.fills {
        is_plane[fill.net] |= PLANE_PART * area < fill.area;
    }
    is_plane
}

/// Which nets are one of a pair, by the names of both.
fn mates(board: &Board) -> Vec<bool> {
    let mut is_mate = vec![false; board.nets.len()];
    for (positive, negative) in pairs(board) {
        (is_mate[positive], is_mate[negative]) = (true, true);
    }
    is_mate
}

/// The pairs of a board, positive net first.
pub(crate) fn pairs(board: &Board) -> Vec<(usize, usize)> {
    // Nets are in the order of their names.
    let find = |name: &str| {
        board
            .nets
            .binary_search_by(|net| net.name.as_str().cmp(name))
            .ok()
    };
    let nets = board.nets.iter().enumerate();
    nets.filter_map(|(id, net)| Some((id, find(&words::mate(&net.name)?)?)))
        .collect()
}
