//! What rules see of a board.

use std::collections::HashMap;
use std::ops::Deref;

use rayon::prelude::*;

use super::{Assumption, Rule};
use crate::board::{Board, Footprint, Hole, LayerId, Net, NetId, NetKind, Pad, Speed};
use crate::copper::{
    Antipads, Contacts, Joints, Places, Planes, SegmentGrid, TrackRun, Transfer, runs, transfers,
};
use crate::emission::Emission;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::Bounds;
use crate::kinds::behind;
use crate::observer::{Cancelled, Stage, Stop, Watch};
use crate::settings::{Clock, Settings};

/// The speed of light in mm/s.
pub(crate) const LIGHT_MM_S: f64 = 299_792_458e3;

/// A board with its indices.
pub(crate) struct Context<'a> {
    pub(crate) board: &'a Board,
    pub(crate) settings: &'a Settings,
    /// Around the outline.
    pub(crate) bounds: Bounds,
    pub(crate) planes: Planes,
    pub(crate) antipads: Antipads,
    pub(crate) contacts: Contacts<'a>,
    pub(crate) joints: Joints,
    /// Half of the size of the largest joint, in mm.
    pub(crate) joint_mm_max: f64,
    /// Nets that a link makes one with another, such as 0 Ω.
    pub(crate) links: HashMap<NetId, Vec<NetId>>,
    /// What joins planes.
    pub(crate) transfers: Places<Transfer>,
    /// By net and layer.
    pub(crate) runs: Vec<TrackRun>,
    pub(crate) outline: SegmentGrid,
    /// The pads of each net, by index.
    pub(crate) pads: Vec<Vec<usize>>,
    /// The declared clocks that are nets of the board.
    pub(crate) clocks: Vec<(NetId, &'a Clock)>,
    /// Clocks, each with a net on which it goes on behind a resistor.
    pub(crate) behind: Vec<(NetId, NetId)>,
    /// What the declared clocks radiate, and what cables may carry.
    pub(crate) emission: Emission,
    pub(crate) watch: &'a Watch<'a>,
}

/// A board as one rule sees it.
pub(crate) struct Scope<'a> {
    context: &'a Context<'a>,
    rule: &'static Rule,
}

impl<'a> Deref for Scope<'a> {
    type Target = Context<'a>;
    fn deref(&self) -> &Context<'a> {
        self.context
    }
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        board: &'a Board,
        settings: &'a Settings,
        watch: &'a Watch<'a>,
    ) -> Result<Self, Cancelled> {
        let stop: Stop<'_> = &|| watch.is_stopped();
        let ((planes, contacts), (runs, antipads)) = rayon::join(
            || rayon::join(|| Planes::new(board, stop), || Contacts::new(board, stop)),
            || rayon::join(|| runs(board, stop), || Antipads::new(board, stop)),
        );
        watch.advance(Stage::Copper, 3, 4);
        let mut pads = vec![Vec::new(); board.nets.len()];
        for (index, pad) in board.pads.iter().enumerate() {
            pads[pad.net].push(index);
        }
        let context = Self {
            board,
            settings,
            pads,
            bounds: board.bounds(),
            planes,
            antipads,
            contacts,
            joints: Joints::new(board, stop),
            joint_mm_max: joint_mm_max(board),
            links: links(board),
            transfers: transfers(board, stop),
            runs,
            outline: SegmentGrid::new(board.outline.clone(), stop),
            clocks: clocks(board, settings),
            behind: behind(board, |net| settings.is_clock(&board.nets[net].name)),
            emission: Emission::default(),
            watch,
        };
        // What was left unfinished must not be looked at.
        watch.go_on()?;
        Ok(context)
    }

    pub(crate) fn of(&'a self, rule: &'static Rule) -> Scope<'a> {
        Scope {
            context: self,
            rule,
        }
    }

    /// Asks whether to go on.
    pub(crate) fn go_on(&self) -> Result<(), Cancelled> {
        self.watch.go_on()
    }

    /// Whether to leave a long loop early. What it found so far is dropped: see [`each`](Self::each).
    pub(crate) fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    /// What a rule assumed on this board.
    pub(crate) fn assumed(&self, rule: &Rule) -> Vec<String> {
        let texts = rule
            .assumes
            .iter()
            .filter_map(|assumption| match assumption {
                Assumption::Stackup if self.board.stackup.is_declared => None,
                Assumption::Stackup => {
                    Some("parts of the stack-up, as the notes list them".to_owned())
                }
                Assumption::Frequency => match self.settings.max_frequency_hz() {
                    (_, true) => None,
                    (hz, false) => Some(format!("nothing above {} MHz matters", hz / 1e6)),
                },
                Assumption::Limits if self.settings.site().is_declared() => None,
                Assumption::Limits => Some(self.settings.site().text()),
                Assumption::Always(text) => Some((*text).to_owned()),
            });
        texts.collect()
    }

    pub(crate) fn net(&self, net: NetId) -> &'a Net {
        &self.board.nets[net]
    }

    pub(crate) fn is_signal(&self, net: NetId) -> bool {
        self.net(net).kind == NetKind::Signal
    }

    pub(crate) fn is_ground(&self, net: NetId) -> bool {
        self.net(net).kind == NetKind::Ground
    }

    pub(crate) fn layer_name(&self, layer: LayerId) -> &'a str {
        &self.board.layers[layer].name
    }

    /// The runs of signals.
    pub(crate) fn signal_runs(&self) -> Vec<&TrackRun> {
        self.runs
            .iter()
            .filter(|run| self.is_signal(run.net))
            .collect()
    }

    /// The runs of a net.
    pub(crate) fn runs_of(&self, net: NetId) -> &[TrackRun] {
        let from = self.runs.partition_point(|run| run.net < net);
        let count = self.runs[from..].partition_point(|run| run.net == net);
        &self.runs[from..from + count]
    }

    /// The part of that reference.
    pub(crate) fn part_named(&self, reference: &str) -> Option<usize> {
        let mut parts = self.board.footprints.iter();
        parts.position(|part| part.reference == reference)
    }

    /// The permittivity that a wave on a layer sees: of the insulation inside, of insulation and air outside.
    pub(crate) fn effective_epsilon(&self, layer: LayerId, width: f64) -> f64 {
        let last = self.board.layers.len() - 1;
        let stackup = &self.board.stackup;
        let nearest = self.planes.references(layer).first();
        if layer != 0 && layer != last {
            return nearest.map_or_else(
                || stackup.epsilon(),
                |r| stackup.epsilon_between(layer, r.layer),
            );
        }
        let neighbour = if layer == 0 { 1.min(last) } else { last - 1 };
        let reference = nearest.map_or(neighbour, |r| r.layer);
        let epsilon_r = stackup.epsilon_between(layer, reference);
        let height = stackup.distance(layer, reference);
        // Hammerstad 1975, without the correction for narrow lines.
        let narrow = 1.0 / (1.0 + 12.0 * height / width.max(0.01)).sqrt();
        (epsilon_r + 1.0) / 2.0 + (epsilon_r - 1.0) / 2.0 * narrow
    }

    /// A part of the wavelength in the board's insulation at the highest frequency, in mm.
    pub(crate) fn part_of_wavelength(&self, part: f64) -> f64 {
        let hz = self.settings.max_frequency_hz().0;
        part * LIGHT_MM_S / (hz * self.board.stackup.epsilon().sqrt())
    }

    /// The pads of a net.
    pub(crate) fn pads_of(&self, net: NetId) -> impl Iterator<Item = &'a Pad> {
        let board = self.board;
        self.pads[net].iter().map(move |index| &board.pads[*index])
    }

    /// The indices of all parts.
    pub(crate) fn parts(&self) -> Vec<usize> {
        (0..self.board.footprints.len()).collect()
    }

    /// A part.
    pub(crate) fn part(&self, index: usize) -> &'a Footprint {
        &self.board.footprints[index]
    }

    /// The pads of a part.
    pub(crate) fn pads_of_part(&self, part: usize) -> impl Iterator<Item = &'a Pad> {
        let board = self.board;
        board.footprints[part]
            .pads
            .iter()
            .map(move |index| &board.pads[*index])
    }
}

fn joint_mm_max(board: &Board) -> f64 {
    let vias = board.vias.iter().map(|via| via.size / 2.0);
    let holes = board.pads.iter().filter(|pad| pad.hole == Hole::Plated);
    vias.chain(holes.map(Pad::reach)).fold(0.0, f64::max)
}

/// Which nets links make one with which others.
fn links(board: &Board) -> HashMap<NetId, Vec<NetId>> {
    let mut links: HashMap<NetId, Vec<NetId>> = HashMap::new();
    for part in board.footprints.iter().filter(|part| part.is_link()) {
        if let [first, second] = part.nets[..] {
            links.entry(first).or_default().push(second);
            links.entry(second).or_default().push(first);
        }
    }
    links
}

/// The declared clocks that are nets of a board.
fn clocks<'a>(board: &'a Board, settings: &'a Settings) -> Vec<(NetId, &'a Clock)> {
    let names = board.nets.iter().map(|net| net.name.as_str());
    let nets: HashMap<&str, NetId> = names.zip(0..).collect();
    let clocks = settings.clocks().iter();
    clocks
        .filter_map(|clock| Some((*nets.get(clock.net.as_str())?, clock)))
        .collect()
}

impl Scope<'_> {
    /// Runs `find` for every item, on all threads.
    pub(crate) fn each<T: Sync>(
        &self,
        items: &[T],
        find: impl Fn(&T) -> Vec<Draft> + Sync,
    ) -> Result<Found, Cancelled> {
        self.each_into(items, |item, add| find(item).into_iter().for_each(add))
    }

    /// As [`each`](Self::each), for items with many findings: `find` hands over one at a time.
    pub(crate) fn each_into<T: Sync>(
        &self,
        items: &[T],
        find: impl Fn(&T, &mut dyn FnMut(Draft)) + Sync,
    ) -> Result<Found, Cancelled> {
        let found = items.par_iter().map(|item| {
            self.go_on()?;
            let mut found = Found::default();
            find(item, &mut |draft| self.add(&mut found, draft));
            self.go_on()?;
            Ok(found)
        });
        found.try_reduce(Found::default, |x, y| Ok(x.with(y)))
    }

    /// Some findings.
    pub(crate) fn found(&self, drafts: impl IntoIterator<Item = Draft>) -> Found {
        let mut found = Found::default();
        drafts
            .into_iter()
            .for_each(|draft| self.add(&mut found, draft));
        found
    }

    /// Takes a finding in as settings want it.
    fn add(&self, found: &mut Found, mut draft: Draft) {
        let net = draft.net.map_or("", |net| self.net(net).name.as_str());
        if self.settings.suppressed(self.rule.id, net).is_some() {
            found.suppressed += 1;
            return;
        }
        draft.severity = self
            .settings
            .severity(self.rule.id)
            .unwrap_or(draft.severity);
        found.add(draft);
    }

    /// A parameter of the rule for a net.
    pub(crate) fn param_of(&self, key: &str, net: NetId) -> f64 {
        self.settings.param(self.rule, key, Some(self.net(net)))
    }

    /// A parameter of the rule.
    pub(crate) fn param(&self, key: &str) -> f64 {
        self.settings.param(self.rule, key, None)
    }

    /// How bad it is on a net: fast nets are worse, slow ones harmless.
    pub(crate) fn graded(&self, net: NetId, fast: Severity, other: Severity) -> Severity {
        match self.net(net).speed {
            Speed::Fast => fast,
            Speed::Unknown => other,
            Speed::Slow => Severity::Info,
        }
    }
}
