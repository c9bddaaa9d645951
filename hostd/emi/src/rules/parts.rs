//! What parts are: told by the letters of their references, and by words of values and footprints.

use super::Context;
use crate::board::{Footprint, Hole, NetId, Pad, Side};
use crate::copper::ROUNDING_MM;
use crate::words;

/// Values of parts that are left out of a board, wherever they stand in the text.
const LEFT_OUT: &[&str] = &[
    "DNP",
    "DNF",
    "DNI",
    "DNM",
    "DNS",
    "NOPOP",
    "NOFIT",
    "NOSTUFF",
    "UNPOPULATED",
];

/// Values that say so as their first word: `NA(100n)`.
const LEFT_OUT_FIRST: &[&str] = &["NA", "NF", "NM", "NC", "NP"];

/// Most nets that links make one: a board has few, and its pins are looked at on each.
const RAIL_NETS_MAX: usize = 16;

/// Up to this resistance a resistor in series does not end a signal, in ohms.
const SERIES_OHM_MAX: f64 = 330.0;

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

    /// Whether it is on the finished board, as far as its attributes and its value say.
    pub(crate) fn is_fitted(&self) -> bool {
        let words = words::of_text(&self.value);
        let has = |known: &[&str], word: &String| known.contains(&word.as_str());
        let says_no = words.iter().any(|word| has(LEFT_OUT, word))
            || words.first().is_some_and(|word| has(LEFT_OUT_FIRST, word));
        !self.is_left_out && !says_no
    }

    pub(crate) fn is_capacitor(&self) -> bool {
        self.prefix() == "C" && self.is_fitted()
    }

    pub(super) fn is_inductor(&self) -> bool {
        self.prefix() == "L" && self.is_fitted()
    }

    pub(crate) fn is_circuit(&self) -> bool {
        self.has_prefix(&["U", "IC"]) && self.is_fitted()
    }

    pub(crate) fn is_switch(&self) -> bool {
        self.is_circuit() || self.has_prefix(&["Q", "T", "M"]) && self.is_fitted()
    }

    /// Whether it lets a supply through: fuses, beads, chokes, resistors, diodes, transistors.
    pub(super) fn is_in_series(&self) -> bool {
        self.nets.len() <= 3
            && self.has_prefix(&["F", "FB", "L", "R", "D", "Q", "FL", "NT", "JP"])
            && self.is_fitted()
    }

    /// The resistance of a resistor in ohms, as its value says: `33`, `4k7`, `0R`, `22 Ohm`.
    pub(crate) fn ohm(&self) -> Option<f64> {
        (self.prefix() == "R" && self.is_fitted()).then_some(())?;
        ohm_of(&self.value)
    }

    /// Whether it makes one net of two: 0 Ω, or a net tie.
    pub(crate) fn is_link(&self) -> bool {
        let is_tie = || self.prefix() == "NT" && self.is_fitted();
        self.nets.len() == 2 && (self.ohm().is_some_and(|ohm| ohm <= 0.01) || is_tie())
    }

    /// Whether a signal goes on behind it.
    pub(crate) fn is_series_resistor(&self) -> bool {
        self.nets.len() == 2 && self.ohm().is_some_and(|ohm| ohm <= SERIES_OHM_MAX)
    }

    pub(super) fn is_crystal(&self) -> bool {
        const BEGINNINGS: &[&str] = &[
            "CRYSTAL",
            "XTAL",
            "OSCILLATOR",
            "RESONATOR",
            "QUARTZ",
            "HC49",
        ];
        const WORDS: &[&str] = &["XO", "TCXO", "VCXO", "OCXO", "MEMS"];
        let says_so = |word: &String| {
            BEGINNINGS
                .iter()
                .any(|beginning| word.starts_with(beginning))
                || WORDS.contains(&word.as_str())
        };
        // A connector has no frequency.
        let has_frequency = || {
            words::of_text(&self.value)
                .iter()
                .any(|word| is_frequency(word))
        };
        self.has_prefix(&["Y", "XTAL"])
            || self.has_prefix(&["X", "Q", "OSC", "U", "QZ"]) && self.words().iter().any(says_so)
            || self.has_prefix(&["X", "OSC", "QZ"]) && has_frequency()
    }

    pub(super) fn is_connector(&self) -> bool {
        self.has_prefix(&["J", "P", "CN", "CON", "X", "USB", "JACK"])
            && self.pads.len() > 1
            && !self.is_crystal()
    }

    /// Whether its pads are for probes.
    pub(super) fn is_test_point(&self) -> bool {
        self.has_prefix(&["TP", "TEST"])
    }

    /// Whether it clamps lines: a known part, whatever its reference.
    pub(super) fn is_clamp(&self) -> bool {
        const PARTS: &[&str] = &[
            "USBLC", "PESD", "SRV05", "SMAJ", "SMBJ", "SMCJ", "SP05", "TPD", "RCLAMP", "PRTR5V",
            "IP4220", "IP4234", "NUP", "CDSOT", "ESD", "TVS", "ESDA", "PRTR", "DVIULC", "ECMF",
            "SM712", "DT1240", "AZ1", "VARISTOR", "UCLAMP", "ESDALC",
        ];
        let is_part = |word: &String| PARTS.iter().any(|part| word.starts_with(part));
        self.is_fitted()
            && (self.words().iter().any(is_part) || self.has_prefix(&["TVS", "RV", "VAR"]))
    }

    pub(super) fn is_mounting_hole(&self) -> bool {
        self.has_prefix(&["H", "MH"])
            || self
                .words()
                .iter()
                .any(|word| word.starts_with("MOUNTINGHOLE"))
    }
}

/// `12MHZ`, `32.768KHZ`.
fn is_frequency(word: &str) -> bool {
    let number = word
        .trim_end_matches("HZ")
        .trim_end_matches(['K', 'M', 'G']);
    word.ends_with("HZ") && number.parse::<f64>().is_ok()
}

/// The resistance that a text says, in ohms.
fn ohm_of(value: &str) -> Option<f64> {
    let first = value.split([' ', '/', ',', '_']).next().unwrap_or_default();
    let end = first.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, rest) = first.split_at(end.unwrap_or(first.len()));
    let whole: f64 = number.parse().ok()?;
    let unit = rest.chars().next();
    let factor = match unit {
        None | Some('R' | 'r' | 'Ω' | '\u{2126}' | 'E' | 'O' | 'o') => 1.0,
        Some('k' | 'K') => 1e3,
        Some('M') => 1e6,
        Some('m') => 1e-3,
        Some(_) => return None,
    };
    // The unit may stand where the point would: `4k7`.
    let behind = rest
        .get(unit.map_or(0, char::len_utf8)..)
        .unwrap_or_default();
    let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
    let part = if digits.is_empty() || number.contains('.') {
        0.0
    } else {
        format!("0.{digits}").parse().ok()?
    };
    Some((whole + part) * factor)
}

impl Context<'_> {
    /// Whether a part is between a net and any ground.
    pub(super) fn joins_ground(&self, part: usize) -> bool {
        self.part(part).nets.iter().any(|net| self.is_ground(*net))
    }

    /// The pads of capacitors to ground on a net, and on those that links make one with it.
    pub(super) fn capacitor_pads(&self, net: NetId) -> impl Iterator<Item = &Pad> {
        let pads = self.rail(net).into_iter();
        let pads = pads.flat_map(move |net| self.pads_of(net));
        pads.filter(move |pad| {
            self.part(pad.footprint).is_capacitor() && self.joins_ground(pad.footprint)
        })
    }

    /// A net, and those that links make one with it.
    pub(super) fn rail(&self, net: NetId) -> Vec<NetId> {
        let mut rail = vec![net];
        let mut at = 0;
        while let Some(net) = rail.get(at).copied().filter(|_| rail.len() < RAIL_NETS_MAX) {
            at += 1;
            for other in self.links.get(&net).into_iter().flatten() {
                if !rail.contains(other) && !self.is_ground(*other) {
                    rail.push(*other);
                }
            }
        }
        rail
    }

    /// The distance from a pad's copper to the outline, if it is no greater than `within`.
    pub(super) fn edge_gap(&self, pad: &Pad, within: f64) -> Option<f64> {
        let sides = self.outline.around(pad.at, within + pad.reach());
        let gaps = sides.into_iter().flat_map(|side| {
            let shapes = pad.all_shapes();
            shapes.map(move |shape| shape.distance_to(&side))
        });
        gaps.min_by(f64::total_cmp)
            .filter(|gap| *gap <= within + ROUNDING_MM)
    }

    /// Whether a part has a pad within `within` mm of the outline; 0 stands for anywhere.
    pub(super) fn is_at_edge(&self, part: usize, within: f64) -> bool {
        let near = |pad: &Pad| self.edge_gap(pad, within).is_some();
        within <= 0.0 || self.pads_of_part(part).any(near)
    }

    /// The distance from a pad's copper to the nearest via or plated hole of its net; 0 if it is plated or in a fill of it.
    pub(super) fn to_joint(&self, pad: &Pad, within: f64) -> Option<f64> {
        if pad.hole == Hole::Plated || self.contacts.is_in_fill(pad.net, pad.layers, pad.at) {
            return Some(0.0);
        }
        // Both have copper: it is looked as far as that of either reaches.
        let near = self
            .joints
            .among(pad.net)
            .within(pad.at, within + pad.reach() + self.joint_mm_max)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resistances_are_read_as_they_are_written() {
        for (value, ohm) in [
            ("0", Some(0.0)),
            ("0R", Some(0.0)),
            ("0 Ohm", Some(0.0)),
            ("0Ω", Some(0.0)),
            ("33", Some(33.0)),
            ("22R", Some(22.0)),
            ("4k7", Some(4700.0)),
            ("4R7", Some(4.7)),
            ("10k/1%", Some(10_000.0)),
            ("1M", Some(1e6)),
            ("0R05", Some(0.05)),
            ("R", None),
            ("", None),
            ("100n", None),
        ] {
            assert_eq!(ohm_of(value), ohm, "{value}");
        }
    }

    #[test]
    fn parts_that_are_left_out_say_so() {
        let fitted = |value: &str| {
            let part = Footprint {
                value: value.to_owned(),
                ..Footprint::default()
            };
            part.is_fitted()
        };
        for value in ["DNP", "100n DNP", "NA(100nF)", "NF", "10k_DNI", "dnp/0R"] {
            assert!(!fitted(value), "{value}");
        }
        for value in ["100n", "NC7SZ125", "NPN", "10uF/NP0", ""] {
            assert!(fitted(value), "{value}");
        }
    }

    #[test]
    fn crystals_say_so_in_value_footprint_or_frequency() {
        let is_crystal = |reference: &str, value: &str, library: &str| {
            let part = Footprint {
                reference: reference.to_owned(),
                value: value.to_owned(),
                library: library.to_owned(),
                ..Footprint::default()
            };
            part.is_crystal()
        };
        assert!(is_crystal("X1", "GSG-XTAL4PIN", ""));
        assert!(is_crystal("X1", "", "GSG-XTAL3.2x2.5mm"));
        assert!(is_crystal("X2", "12MHz", ""));
        assert!(is_crystal("Y1", "", ""));
        assert!(is_crystal("U3", "", "Oscillator:SMD_3225"));
        assert!(!is_crystal("X1", "USB_C", "Connector:USB"));
        assert!(!is_crystal("U1", "Si5351", "QFN"));
        assert!(!is_crystal("U1", "RF2400MHz", ""));
    }
}
