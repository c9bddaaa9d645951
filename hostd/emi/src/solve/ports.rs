//! Where a net is driven and where it ends.

use super::ModelError;
use crate::board::{Board, LayerId, NetId, NetKind, Pad};
use crate::geometry::Point;

/// Most pads of a net that are compared.
const PADS_MAX: usize = 500;

/// A port between a pad and the plane beside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Port {
    /// Of its pad, such as `U1.3`.
    pub(super) name: String,
    pub(super) at: Point,
    /// Of the pad.
    pub(super) layer: LayerId,
    /// Of the plane.
    pub(super) plane: LayerId,
    /// How wide it is, in mm.
    pub(super) width: f64,
}

/// The ports of a net: at the pads that are named, or at those that are farthest apart.
pub(super) fn find(
    board: &Board,
    net: NetId,
    wanted: Option<&[String; 2]>,
) -> Result<[Port; 2], ModelError> {
    let pads: Vec<&Pad> = board.pads.iter().filter(|pad| pad.net == net).collect();
    if let Some([first, second]) = wanted {
        let named = |name: &String| {
            let found = pads.iter().find(|pad| name_of(board, pad) == *name);
            let pad = found.ok_or_else(|| ModelError::UnknownPad(name.clone()))?;
            port(board, pad).ok_or_else(|| ModelError::NoPlane(name.clone()))
        };
        return Ok([named(first)?, named(second)?]);
    }
    let ports: Vec<Port> = pads
        .iter()
        .take(PADS_MAX)
        .filter_map(|pad| port(board, pad))
        .collect();
    let pairs = ports
        .iter()
        .enumerate()
        .flat_map(|(index, x)| ports[index + 1..].iter().map(move |y| (x, y)));
    let farthest = pairs.max_by(|x, y| {
        let (of_x, of_y) = (x.0.at.distance(x.1.at), y.0.at.distance(y.1.at));
        of_x.total_cmp(&of_y)
    });
    match farthest {
        Some((x, y)) if 0.0 < x.at.distance(y.at) => Ok([x.clone(), y.clone()]),
        _ => Err(ModelError::Pads(ports.len())),
    }
}

fn name_of(board: &Board, pad: &Pad) -> String {
    let part = board.footprints.get(pad.footprint);
    let reference = part.map_or("", |part| part.reference.as_str());
    format!("{reference}.{}", pad.number)
}

/// A port on the layer of the pad that has a plane nearest to it.
fn port(board: &Board, pad: &Pad) -> Option<Port> {
    let last = board.layers.len().checked_sub(1)?;
    let neighbours = |layer: LayerId| [layer.checked_sub(1), (layer < last).then_some(layer + 1)];
    let pairs = pad.layers.layers().flat_map(|layer| {
        let beside = neighbours(layer).into_iter().flatten();
        beside.map(move |plane| (layer, plane))
    });
    let with_plane = pairs.filter(|(layer, plane)| *layer <= last && has_plane(board, *plane));
    let nearest = with_plane.min_by(|x, y| {
        let height = |(layer, plane): &(LayerId, LayerId)| board.stackup.distance(*layer, *plane);
        height(x).total_cmp(&height(y))
    });
    let (layer, plane) = nearest?;
    let least = pad.bounds.width().min(pad.bounds.height());
    Some(Port {
        name: name_of(board, pad),
        at: pad.at,
        layer,
        plane,
        width: least.clamp(0.05, 2.0),
    })
}

/// Whether a layer has a fill of a supply or ground.
pub(super) fn has_plane(board: &Board, layer: LayerId) -> bool {
    let mut fills = board.fills.iter();
    fills.any(|fill| {
        let kind = board.nets[fill.net].kind;
        fill.layer == layer && matches!(kind, NetKind::Ground | NetKind::Power)
    })
}
