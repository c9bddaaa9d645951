//! Which line of the board's file a finding is about: that of the copper beneath it.

use crate::board::{Board, LayerId};
use crate::finding::Draft;
use crate::geometry::Point;
use crate::rules::Context;

/// Places that are nearer to each other are the same, in mm.
const SAME_PLACE_MM: f64 = 1e-6;

/// The line of the track, via, pad or fill that is nearest to where the finding is, on its net, layer and part as far as it
/// has them. A finding that has none of them is about no copper.
pub(crate) fn line(context: &Context<'_>, draft: &Draft) -> Option<u32> {
    if draft.net.is_none() && draft.footprint.is_none() {
        return None;
    }
    // The first of equals wins: thin copper tells more than the plane that it lies in.
    let near = tracks(context.board, draft)
        .chain(pads(context, draft))
        .chain(vias(context.board, draft))
        .min_by(|x, y| x.0.total_cmp(&y.0));
    let found = match near {
        Some((distance, _)) if distance <= 0.0 => near,
        _ => near
            .into_iter()
            .chain(fills(context.board, draft))
            .min_by(|x, y| x.0.total_cmp(&y.0)),
    };
    found.map(|(_, line)| line).filter(|line| 0 < *line)
}

fn is_on(draft: &Draft, layer: LayerId) -> bool {
    draft.layer.is_none_or(|wanted| wanted == layer)
}

/// Distances and lines of its part's pads, or of its net's.
fn pads<'a>(context: &'a Context<'_>, draft: &'a Draft) -> impl Iterator<Item = (f64, u32)> + 'a {
    let of_part = draft
        .footprint
        .map_or(&[][..], |part| &context.board.footprints[part].pads);
    let of_net = match (draft.footprint, draft.net) {
        (None, Some(net)) => &context.pads[net][..],
        _ => &[],
    };
    let pads = of_part.iter().chain(of_net);
    let pads = pads.map(|index| &context.board.pads[*index]);
    pads.filter(|pad| draft.layer.is_none_or(|layer| pad.layers.has(layer)))
        .map(|pad| (pad.distance(draft.at), pad.source_line))
}

fn tracks<'a>(board: &'a Board, draft: &'a Draft) -> impl Iterator<Item = (f64, u32)> + 'a {
    // Tracks are in the order of their nets.
    let net = draft.net.filter(|_| draft.footprint.is_none());
    let from = net.map_or(board.tracks.len(), |net| {
        board.tracks.partition_point(|track| track.net < net)
    });
    let tracks = board.tracks[from..].iter();
    let tracks = tracks.take_while(move |track| Some(track.net) == net);
    tracks
        .filter(|track| is_on(draft, track.layer))
        .map(|track| {
            let distance = (track.line.distance(draft.at) - track.width / 2.0).max(0.0);
            (distance, track.source_line)
        })
}

fn vias<'a>(board: &'a Board, draft: &'a Draft) -> impl Iterator<Item = (f64, u32)> + 'a {
    let net = draft.net.filter(|_| draft.footprint.is_none());
    let from = net.map_or(board.vias.len(), |net| {
        board.vias.partition_point(|via| via.net < net)
    });
    let vias = board.vias[from..].iter();
    let vias = vias.take_while(move |via| Some(via.net) == net);
    let on_layer = |via: &&crate::board::Via| draft.layer.is_none_or(|layer| via.span.has(layer));
    vias.filter(on_layer).map(|via| {
        let from_middle = via.at.distance(draft.at);
        // What is at its very middle is about the via, not about the tracks that end there.
        let distance = if from_middle <= SAME_PLACE_MM {
            -1.0
        } else {
            (from_middle - via.size / 2.0).max(0.0)
        };
        (distance, via.source_line)
    })
}

fn fills<'a>(board: &'a Board, draft: &'a Draft) -> impl Iterator<Item = (f64, u32)> + 'a {
    let net = draft.net.filter(|_| draft.footprint.is_none());
    let fills = board.fills.iter();
    let fills = fills.filter(move |fill| Some(fill.net) == net && is_on(draft, fill.layer));
    let box_distance = |fill: &crate::board::Fill, at: Point| {
        let bounds = fill.bounds;
        let outside = Point::new(
            (bounds.min.x - at.x).max(at.x - bounds.max.x).max(0.0),
            (bounds.min.y - at.y).max(at.y - bounds.max.y).max(0.0),
        );
        outside.length()
    };
    fills.map(move |fill| {
        // Within the box around it, its exact distance counts.
        let beside = box_distance(fill, draft.at);
        let distance = if 0.0 < beside {
            beside
        } else {
            fill.shape.distance(draft.at)
        };
        (distance, fill.source_line)
    })
}
