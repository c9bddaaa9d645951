//! What parts are: told by the letters of their references, and by words of values and footprints.

use super::Context;
use crate::board::{Footprint, Hole, NetId, Pad, Side};
use crate::words;

impl Footprint {
    fn has_prefix(&self, prefixes: &[&str]) -> bool {
        prefixes.contains(&self.prefix().as_str())
    }

    /// The words of value and footprint.
    fn words(&self) -> Vec<String> {
        let mut words = words::of_text(&self.value);
        words.extend(words::of_text(&self.library));
        words
    }

    pub(super) fn is_capacitor(&self) -> bool {
        self.prefix() == "C"
    }

    pub(super) fn is_inductor(&self) -> bool {
        self.prefix() == "L"
    }

    pub(super) fn is_circuit(&self) -> bool {
        self.has_prefix(&["U", "IC"])
    }

    pub(super) fn is_switch(&self) -> bool {
        self.is_circuit() || self.has_prefix(&["Q", "T", "M"])
    }

    /// Whether it lets a supply through: fuses, beads, chokes, resistors, diodes, transistors.
    pub(super) fn is_in_series(&self) -> bool {
        self.nets.len() <= 3 && self.has_prefix(&["F", "FB", "L", "R", "D", "Q", "FL", "NT", "JP"])
    }

    pub(super) fn is_crystal(&self) -> bool {
        const WORDS: &[&str] = &[
            "CRYSTAL",
            "XTAL",
            "OSCILLATOR",
            "RESONATOR",
            "QUARTZ",
            "HC49",
            "XO",
            "TCXO",
        ];
        let says_so = || {
            self.words()
                .iter()
                .any(|word| WORDS.contains(&word.as_str()))
        };
        self.has_prefix(&["Y", "XTAL"])
            || self.has_prefix(&["X", "Q", "OSC", "U", "QZ"]) && says_so()
    }

    pub(super) fn is_connector(&self) -> bool {
        self.has_prefix(&["J", "P", "CN", "CON", "X", "USB", "JACK"])
            && self.pads.len() > 1
            && !self.is_crystal()
    }

    /// Whether it clamps lines: a known part, whatever its reference.
    pub(super) fn is_clamp(&self) -> bool {
        const PARTS: &[&str] = &[
            "USBLC", "PESD", "SRV05", "SMAJ", "SMBJ", "SMCJ", "SP05", "TPD", "RCLAMP", "PRTR5V",
            "IP4220", "IP4234", "NUP", "CDSOT", "ESD", "TVS", "ESDA", "PRTR", "DVIULC", "ECMF",
            "SM712", "DT1240", "AZ1", "VARISTOR", "UCLAMP", "ESDALC",
        ];
        let is_part = |word: &String| PARTS.iter().any(|part| word.starts_with(part));
        self.words().iter().any(is_part) || self.has_prefix(&["TVS", "RV", "VAR"])
    }

    pub(super) fn is_mounting_hole(&self) -> bool {
        self.has_prefix(&["H", "MH"])
            || self
                .words()
                .iter()
                .any(|word| word.starts_with("MOUNTINGHOLE"))
    }
}

impl Context<'_> {
    /// Whether a part is between a net and any ground.
    pub(super) fn joins_ground(&self, part: usize) -> bool {
        self.part(part).nets.iter().any(|net| self.is_ground(*net))
    }

    /// The pads on a net of capacitors to ground.
    pub(super) fn capacitor_pads(&self, net: NetId) -> impl Iterator<Item = &Pad> {
        self.pads_of(net).filter(|pad| {
            self.part(pad.footprint).is_capacitor() && self.joins_ground(pad.footprint)
        })
    }

    /// Whether a part has a pad within `within` mm of the outline; 0 stands for anywhere.
    pub(super) fn is_at_edge(&self, part: usize, within: f64) -> bool {
        let near = |pad: &Pad| self.edge_distance(pad.at, within + pad.reach()).is_some();
        within <= 0.0 || self.pads_of_part(part).any(near)
    }

    /// The distance from a pad's copper to the nearest via or plated hole of its net; 0 if it is plated or in a fill of it.
    pub(super) fn to_joint(&self, pad: &Pad, within: f64) -> Option<f64> {
        if pad.hole == Hole::Plated || self.contacts.is_in_fill(pad.net, pad.layers, pad.at) {
            return Some(0.0);
        }
        let near = self
            .joints
            .among(pad.net)
            .within(pad.at, within + pad.reach())
            .filter(|(_, joint)| joint.net == pad.net);
        let distances = near.map(|(at, joint)| (pad.distance(at) - joint.radius).max(0.0));
        distances
            .min_by(f64::total_cmp)
            .filter(|distance| *distance <= within)
    }

    /// The layer that a part is mounted on.
    pub(super) fn mount(&self, part: usize) -> usize {
        match self.part(part).side {
            Side::Top => 0,
            Side::Bottom => self.board.layers.len() - 1,
        }
    }
}
