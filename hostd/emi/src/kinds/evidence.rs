//! What a board says about a net besides its name: the pins on it, its pours, the capacitors between it and a ground.

use crate::board::{Board, Hole, NetKind, Pin};
use crate::words;

/// A fill is a plane, and its net a supply, if it covers this part of the board.
const PLANE_PART: f64 = 0.25;

/// A net has a pour from this area on, in mm².
const POUR_MM2: f64 = 4.0;

/// So many capacitors to ground say that a net whose name fits is a supply.
const CAPACITORS_MIN: usize = 2;

/// So many, beside a pour, say it of any net.
const MANY_CAPACITORS: usize = 3;

/// What is on a net.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// Pins of parts that take a supply.
    taking: usize,
    /// Of those, the ones whose function is called a ground.
    taking_ground: usize,
    /// Pins of parts that make a supply.
    making: usize,
    /// Pins of parts that drive or take a signal.
    signals: usize,
    /// Capacitors between it and a ground.
    capacitors: usize,
    has_pour: bool,
    has_plane: bool,
}

/// Whether some words name a ground.
pub(super) fn names_ground(words: &[String]) -> bool {
    let any = |is: fn(&str) -> bool| words.iter().any(|word| is(word));
    any(words::is_ground) && !any(words::is_about_supply)
}

/// What is on each net.
pub(super) fn evidence(board: &Board, grounds: &[bool]) -> Vec<Evidence> {
    let mut seen = vec![Evidence::default(); board.nets.len()];
    let area = board.area();
    for fill in &board.fills {
        let of_net = &mut seen[fill.net];
        of_net.has_pour |= POUR_MM2 < fill.area;
        of_net.has_plane |= PLANE_PART * area < fill.area;
    }
    // Connectors have pins of all kinds, and no need of a capacitor at each.
    let parts = board.footprints.iter();
    for part in parts.filter(|part| part.is_circuit() || part.is_switch()) {
        for pad in part.pads.iter().map(|pad| &board.pads[*pad]) {
            let of_net = &mut seen[pad.net];
            match pad.pin {
                Pin::PowerIn => {
                    of_net.taking += 1;
                    let function = words::of_text(&pad.function);
                    of_net.taking_ground += usize::from(names_ground(&function));
                }
                Pin::PowerOut => of_net.making += 1,
                Pin::Signal => of_net.signals += usize::from(pad.hole != Hole::Bare),
                Pin::Unknown => {}
            }
        }
    }
    for part in board.footprints.iter().filter(|part| part.is_capacitor()) {
        let [first, second] = part.nets[..] else {
            continue;
        };
        match (grounds[first], grounds[second]) {
            (true, false) => seen[second].capacitors += 1,
            (false, true) => seen[first].capacitors += 1,
            _ => {}
        }
    }
    seen
}

impl Evidence {
    /// What a net with a name of these words carries, and why; `None` if it is a signal.
    pub(super) fn kind(&self, words: &[String]) -> Option<(NetKind, String)> {
        let any = |is: fn(&str) -> bool| words.iter().any(|word| is(word));
        if names_ground(words) {
            return Some((NetKind::Ground, "its name".to_owned()));
        }
        if 1 < self.taking_ground && self.taking < 2 * self.taking_ground {
            return Some((NetKind::Ground, "the functions of its pins".to_owned()));
        }
        let is_about = any(words::is_about_supply);
        let is_named = any(words::is_supply) && !is_about;
        let may_be = any(words::may_be_supply) && !is_about;
        let is_stored = self.has_pour || CAPACITORS_MIN <= self.capacitors;
        // Inputs that are tied to a supply are on it, too.
        let is_fed = 0 < self.taking
            && if self.signals == 0 {
                !is_about || self.has_pour || 0 < self.capacitors
            } else {
                !is_about && (is_named || may_be || is_stored || self.signals < self.taking)
            };
        let is_made = 0 < self.making && !is_about && (is_named || may_be || 0 < self.capacitors);
        // What nothing but signals is on is called after a supply.
        let is_only_named =
            0 < self.signals && self.making == 0 && !is_stored && self.capacitors == 0;
        let because = if is_fed || is_made {
            "its pins"
        } else if is_named && !is_only_named {
            "its name"
        } else if may_be && is_stored {
            "its name, beside a pour or capacitors"
        } else if self.has_plane {
            "a plane of its own"
        } else if self.has_pour && MANY_CAPACITORS <= self.capacitors && !is_about {
            "a pour and capacitors"
        } else {
            return None;
        };
        Some((NetKind::Power, because.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, seen: &Evidence) -> Option<NetKind> {
        seen.kind(&words::of_net(name)).map(|(kind, _)| kind)
    }

    #[test]
    fn pins_say_more_than_names() {
        let taking = Evidence {
            taking: 1,
            ..Evidence::default()
        };
        let listening = Evidence {
            signals: 2,
            ..Evidence::default()
        };
        for name in ["P1.1V", "VIOA", "Net-(U1-VCAP)", "SUPPLY_A"] {
            assert_eq!(kind(name, &taking), Some(NetKind::Power), "{name}");
            assert_eq!(kind(name, &listening), None, "{name}");
        }
        for name in [
            "!RX_AMP_PWR",
            "/CPU/VBUS_ENA",
            "/GPIO12_PHY_PWR",
            "VIN_SENSE",
        ] {
            assert_eq!(kind(name, &listening), None, "{name}");
            assert_eq!(kind(name, &Evidence::default()), None, "{name}");
        }
        let tied = Evidence {
            taking: 1,
            signals: 3,
            ..Evidence::default()
        };
        assert_eq!(kind("+3V3", &tied), Some(NetKind::Power));
        assert_eq!(kind("STRAP", &tied), None);
        assert_eq!(kind("+3V3", &listening), None);
        assert_eq!(kind("+3V3", &Evidence::default()), Some(NetKind::Power));
    }

    #[test]
    fn names_that_may_be_supplies_need_a_pour_or_capacitors() {
        let stored = Evidence {
            capacitors: 2,
            ..Evidence::default()
        };
        let poured = Evidence {
            has_pour: true,
            ..Evidence::default()
        };
        for name in ["P1.1V", "VIOA", "+3.3VLAN", "P3V3", "PHY_PWR"] {
            assert_eq!(kind(name, &Evidence::default()), None, "{name}");
            assert_eq!(kind(name, &stored), Some(NetKind::Power), "{name}");
            assert_eq!(kind(name, &poured), Some(NetKind::Power), "{name}");
        }
        assert_eq!(kind("SDA", &stored), None);
        assert_eq!(kind("GND", &stored), Some(NetKind::Ground));
    }

    #[test]
    fn grounds_without_a_name_are_told_by_the_functions_of_their_pins() {
        let grounded = Evidence {
            taking: 3,
            taking_ground: 3,
            ..Evidence::default()
        };
        assert_eq!(kind("Net-(U1-VSS)", &grounded), Some(NetKind::Ground));
    }
}
