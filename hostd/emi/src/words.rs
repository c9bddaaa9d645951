//! The words of a name. What a net carries is told by whole words, never by a part of one: `+10V` contains `0V`.

/// The last part of a hierarchical name, in capitals: `+3V3` of `/power/+3v3`. Names that KiCad made up for nets without a
/// name, such as `Net-(U1-VCC)`, say what a pin is called and not what the net carries: they have no words.
fn own_name(name: &str) -> Option<String> {
    let is_made_up =
        name.starts_with("Net-(") || name.starts_with("unconnected-(") || name.starts_with("N$");
    if is_made_up {
        return None;
    }
    name.rsplit('/')
        .find(|part| !part.is_empty())
        .map(str::to_ascii_uppercase)
}

/// The words of a net's name, in capitals.
pub(crate) fn of_net(name: &str) -> Vec<String> {
    own_name(name).map_or_else(Vec::new, |name| split(&name))
}

/// The words of any text, in capitals.
pub(crate) fn of_text(text: &str) -> Vec<String> {
    split(&text.to_ascii_uppercase())
}

fn split(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.');
    let words = text
        .split(|c: char| !is_part(c))
        .filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Whether the word names a ground. Digits behind it count rooms: `GND2`.
pub(crate) fn is_ground(word: &str) -> bool {
    const GROUNDS: &[&str] = &[
        "GND", "AGND", "DGND", "PGND", "SGND", "GNDA", "GNDD", "GNDP", "GNDPWR", "GNDREF", "GNDS",
        "VSS", "VSSA", "VSSD", "EARTH", "CHASSIS", "CHGND", "GROUND", "COM0V",
    ];
    word == "0V" || GROUNDS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Whether the word names the enclosure.
pub(crate) fn is_chassis(word: &str) -> bool {
    const CHASSIS: &[&str] = &[
        "CHASSIS", "CHGND", "SHIELD", "SHLD", "EARTH", "PE", "GNDCH", "FGND",
    ];
    CHASSIS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Whether the word names a supply: `VCC`, `VDD_IO`'s first word, `+5F`, `3V3`, `1.8V`.
pub(crate) fn is_supply(word: &str) -> bool {
    const SUPPLIES: &[&str] = &[
        "VCC", "VDD", "VEE", "VBUS", "VIN", "VBAT", "VBATT", "VDDA", "VCCA", "AVDD", "AVCC",
        "DVDD", "DVCC", "VDDIO", "VCCIO", "VCCINT", "VCCAUX", "VCORE", "VDDCORE", "VPP", "VAA",
        "VSYS", "VREG", "VMOT", "VUSB", "VSUPPLY", "VMAIN", "VOUT", "VDDQ", "VTT", "VCCD", "VDDD",
    ];
    SUPPLIES.contains(&without_digits(word)) || is_voltage(word)
}

/// Whether the word may name a supply, which its pins, a pour or capacitors have to confirm: `P1.1V`, `P3V3`, `+3.3VLAN`, `VIOA`,
/// `PWR`.
pub(crate) fn may_be_supply(word: &str) -> bool {
    const SUPPLIES: &[&str] = &["PWR", "POWER", "SUPPLY", "RAIL"];
    const SIGNALS: &[&str] = &[
        "VSYNC", "VALID", "VSENSE", "VSNS", "VMON", "VIDEO", "VCO", "VOL", "VOLUME",
    ];
    let is_short_v = || {
        let letters = without_digits(word);
        let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric());
        word.starts_with('V')
            && is_plain
            && (2..=6).contains(&word.len())
            && !SIGNALS.contains(&letters)
    };
    SUPPLIES.contains(&without_digits(word)) || has_voltage(word) || is_short_v()
}

/// `P1.1V`, `P3V3`, `+3.3VLAN`, `ADC3V3`: a voltage within a word.
fn has_voltage(word: &str) -> bool {
    let number = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let before = word.len() - number.len();
    let volts = digits.strip_prefix('V');
    before <= 4 && digits.len() < number.len() && volts.is_some_and(|rest| !rest.contains('V'))
}

fn without_digits(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// `+5V`, `3V3`, `1.8V`, `+5F`, `-12V` (whose sign is no part of the word), `5V0A`.
fn is_voltage(word: &str) -> bool {
    let has_sign = word.starts_with('+');
    let number = word.trim_start_matches('+');
    let starts = number.starts_with(|c: char| c.is_ascii_digit());
    let is_plain = number
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, 'V' | '.' | 'A' | 'D' | 'F' | 'P'));
    let volts = number.matches('V').count();
    starts
        && is_plain
        && (volts == 1 || has_sign && volts == 0 && number.len() <= 4)
        && number != "0V"
}

/// Whether the word says that the net only tells of a supply, or switches it: `VBUS_DET`, `EN_3V3`, `GPIO12_PHY_PWR`.
pub(crate) fn is_about_supply(word: &str) -> bool {
    const ABOUT: &[&str] = &[
        "ADC", "ALERT", "BTN", "CONTROL", "CS", "CTL", "CTRL", "DET", "DETECT", "DIM", "DIV", "EN",
        "ENA", "ENABLE", "ENB", "FAULT", "FB", "FLT", "GATE", "GOOD", "GPI", "GPIO", "GPO", "INH",
        "INT", "IRQ", "ISENSE", "KEY", "LED", "MCLR", "MEAS", "MON", "OC", "OFF", "OK", "ON",
        "ONOFF", "PG", "PGOOD", "PWM", "PWRDN", "PWREN", "PWRGD", "PWROK", "PWRON", "RDY", "READY",
        "REQ", "RESET", "RST", "SEL", "SENSE", "SHDN", "SNS", "STAT", "SW", "TEST", "LX", "PHASE",
        "BOOT", "BST", "VMON", "VSENSE", "VSNS", "WAKE",
    ];
    ABOUT.contains(&without_digits(word))
}

/// Whether the word of a net class says that its nets are fast.
pub(crate) fn is_fast_class(word: &str) -> bool {
    const FAST: &[&str] = &[
        "FAST",
        "HS",
        "HIGHSPEED",
        "CLK",
        "CLOCK",
        "CLOCKS",
        "DDR",
        "DDR2",
        "DDR3",
        "DDR4",
        "LPDDR",
        "USB",
        "USB2",
        "USB3",
        "LVDS",
        "PCIE",
        "SATA",
        "HDMI",
        "DP",
        "MIPI",
        "CSI",
        "DSI",
        "ETH",
        "ETHERNET",
        "RGMII",
        "RMII",
        "SGMII",
        "QSPI",
        "SDIO",
        "RF",
        "SERDES",
        "DIFF",
        "DIFFPAIR",
        "50OHM",
        "90OHM",
        "100OHM",
    ];
    FAST.contains(&word)
}

/// Whether the word of a net class says that its nets are slow.
pub(crate) fn is_slow_class(word: &str) -> bool {
    matches!(word, "SLOW" | "LOWSPEED" | "LS" | "GPIO" | "DC")
}

/// Whether the word of a net class says that its nets are pairs.
pub(crate) fn is_pair_class(word: &str) -> bool {
    const PAIRS: &[&str] = &[
        "DIFF",
        "DIFFPAIR",
        "DIFFPAIRS",
        "DIFFERENTIAL",
        "PAIR",
        "PAIRS",
        "85OHM",
        "90OHM",
        "100OHM",
        "120OHM",
    ];
    PAIRS.contains(&word) || PAIRS.contains(&without_digits(word))
}

/// In how many places at the end of a name, at most, a sign or letter may tell the two nets of a pair.
const PLACES_MAX: usize = 16;

/// The mate of a net whose class is for pairs: any name with the other sign or letter in its place, whatever else it says.
pub(crate) fn mates_of_class(name: &str) -> Vec<String> {
    const SIGNS: [(char, char); 6] = [
        ('+', '-'),
        ('P', 'N'),
        ('p', 'n'),
        ('H', 'L'),
        ('h', 'l'),
        ('P', 'M'),
    ];
    let mut mates = Vec::new();
    for (index, sign) in name.char_indices().rev().take(PLACES_MAX) {
        for (_, negative) in SIGNS.iter().filter(|(positive, _)| *positive == sign) {
            let (start, end) = (&name[..index], &name[index + sign.len_utf8()..]);
            mates.push(format!("{start}{negative}{end}"));
        }
    }
    mates
}

/// The mate of a net of a pair, by name: `/USB_D-` of `/USB_D+`, `TX_N` of `TX_P`, `DM` of `DP`, and in the positions that
/// KiCad knows, `D_N1` of `D_P1` and `TX0N` of `TX0P`. Several names are possible; which of them is a net decides.
pub(crate) fn mates(name: &str) -> Vec<String> {
    let Some(own) = own_name(name) else {
        return Vec::new();
    };
    // `X+` alone is a supply: a pair has letters before its sign.
    if !own.starts_with(|c: char| c.is_ascii_alphabetic()) || split(&own).iter().any(|w| feeds(w)) {
        return Vec::new();
    }
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let behind = &name[end.len()..];
    let mut mates = Vec::new();
    let mut add = |positive: &str, negative: &str| {
        if let Some(start) = end.strip_suffix(positive) {
            let is_named = start.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            mates.extend(is_named.then(|| format!("{start}{negative}{behind}")));
        }
    };
    add("+", "-");
    add("DP", "DM");
    add("dp", "dm");
    add("P", "N");
    add("p", "n");
    // `H` and `L` end too many names of other things.
    if split(&own).iter().any(|word| word.starts_with("CAN")) {
        add("H", "L");
        add("h", "l");
    }
    // `USB_D+_R`: what is behind the sign says where along the line.
    if let Some((start, rest)) = name.rsplit_once("+_") {
        mates.push(format!("{start}-_{rest}"));
    }
    mates
}

/// Whether the word says that a sign or a `P` is one of a supply: `DCDC_HV+`.
fn feeds(word: &str) -> bool {
    const FEEDS: &[&str] = &[
        "BAT", "BATT", "BATTERY", "DC", "DCDC", "FUSE", "HV", "LV", "MAINS", "MOT", "MOTOR",
        "PACK", "POWER", "PSU", "PV", "PWR", "RAIL", "SOLAR", "SUPPLY", "V",
    ];
    let plain = without_digits(word.trim_end_matches(['+', '-']));
    FEEDS.contains(&plain) || is_supply(plain) && !plain.is_empty()
}

/// What a pair of nets is for, as far as the words of its name say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interface {
    /// Gigabits a second on one pair.
    Serial,
    /// Hundreds of megabits, or a gigabit on several pairs: USB 2.0, Ethernet.
    Fast,
    /// So slow that lengths do not matter: CAN, RS-485, audio, voltages that are measured.
    Slow,
    /// Nothing says.
    Unknown,
}

/// The interface of a net of a pair.
pub(crate) fn interface(name: &str) -> Interface {
    const SERIAL: &[&str] = &[
        "PCIE",
        "PCI",
        "SATA",
        "SSTX",
        "SSRX",
        "SS",
        "USB3",
        "HDMI",
        "TMDS",
        "EDP",
        "DISPLAYPORT",
        "MIPI",
        "CSI",
        "DSI",
        "SERDES",
        "SGMII",
        "XAUI",
        "DQS",
        "DDR",
        "JESD",
        "GTX",
        "GTP",
    ];
    const FAST: &[&str] = &[
        "USB", "USB2", "USBD", "HSD", "ETH", "MDI", "TRD", "TD", "RD", "LAN", "PHY", "LVDS",
    ];
    const SLOW: &[&str] = &[
        "RS", "RS485", "RS422", "485", "422", "MODBUS", "DMX", "LIN", "AUDIO", "AUD", "SPK",
        "SPKR", "SPEAKER", "MIC", "LINE", "LINEIN", "LINEOUT", "HP", "HPOUT", "OUTL", "OUTR",
        "BTL", "AIN", "SENSE", "SNS", "ISENSE", "SHUNT", "THERM", "TEMP", "RTD", "NTC", "STRAIN",
        "LOADCELL", "ENC", "HALL", "COIL", "LED", "VREF",
    ];
    let words = of_net(name);
    let has = |known: &[&str]| {
        let mut words = words.iter();
        words.any(|word| {
            let word = word.trim_end_matches(['+', '-']);
            known.contains(&word) || known.contains(&without_digits(word))
        })
    };
    if has(SLOW) || words.iter().any(|word| word.starts_with("CAN")) {
        Interface::Slow
    } else if has(SERIAL) {
        Interface::Serial
    } else if has(FAST) {
        Interface::Fast
    } else {
        Interface::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(name: &str, is: fn(&str) -> bool) -> bool {
        of_net(name).iter().any(|word| is(word))
    }

    #[test]
    fn grounds_are_whole_words() {
        for name in ["GND", "/io/GND", "AGND", "gnd2", "GND_USB", "0V", "VSS"] {
            assert!(any(name, is_ground), "{name}");
        }
        for name in [
            "+10V",
            "BACKGROUND",
            "GNDSENSE_X",
            "Net-(U1-GND)",
            "LEGEND",
            "/GND/SCK",
        ] {
            assert!(!any(name, is_ground), "{name}");
        }
    }

    #[test]
    fn supplies_are_whole_words() {
        for name in [
            "+3V3",
            "/video/+5F",
            "VCC",
            "VDD_IO",
            "1.8V",
            "+12V",
            "3V3A",
            "5V",
            "-12V",
        ] {
            assert!(any(name, is_supply), "{name}");
        }
        for name in [
            "D5",
            "V",
            "A10",
            "VOLUME",
            "0V",
            "IO12V5V",
            "Net-(U1-VCC)",
            "R12",
        ] {
            assert!(!any(name, is_supply), "{name}");
        }
        assert!(any("VBUS_DET", is_about_supply));
    }

    #[test]
    fn pairs_are_found_by_their_ends() {
        for (positive, negative) in [
            ("/USB_D+", "/USB_D-"),
            ("TX_P", "TX_N"),
            ("/U2DP", "/U2DM"),
            ("/USB_DP", "/USB_DN"),
            ("usb_dp", "usb_dm"),
            ("TX0P", "TX0N"),
            ("D_P1", "D_N1"),
            ("LVDS_P_0", "LVDS_N_0"),
            ("/CAN_H", "/CAN_L"),
            ("CAN1H", "CAN1L"),
            ("USB_D+_R", "USB_D-_R"),
            ("D+2", "D-2"),
        ] {
            let mates = mates(positive);
            assert!(
                mates.iter().any(|mate| mate == negative),
                "{positive}: {mates:?}"
            );
        }
        for name in [
            "3+", "+", "LED", "TX_N", "DCDC_HV+", "VBAT+", "BATT_P", "ADDR_H", "V+", "+5VP",
        ] {
            assert_eq!(mates(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn mates_of_a_class_are_looked_for_at_the_end_of_names_alone() {
        assert!(mates_of_class("DCDC_HV+").contains(&"DCDC_HV-".to_owned()));
        assert!(mates_of_class("D_P_OUT").contains(&"D_N_OUT".to_owned()));
        assert_eq!(mates_of_class(&"P".repeat(100_000)).len(), 2 * PLACES_MAX);
    }

    #[test]
    fn interfaces_are_told_by_words() {
        for (name, interface_of) in [
            ("/USB_D+", Interface::Fast),
            ("PCIE_TX0_P", Interface::Serial),
            ("HDMI_CLK+", Interface::Serial),
            ("CAN_H", Interface::Slow),
            ("RS485_P", Interface::Slow),
            ("SPK+", Interface::Slow),
            ("A_P", Interface::Unknown),
        ] {
            assert_eq!(interface(name), interface_of, "{name}");
        }
    }

    #[test]
    fn names_that_others_have_to_confirm_are_told_apart() {
        for name in [
            "P1.1V", "VIOA", "+3.3VLAN", "P3V3", "/PHY_PWR", "VAMP", "ADC3V3",
        ] {
            let words = of_net(name);
            assert!(words.iter().any(|word| may_be_supply(word)), "{name}");
            assert!(!words.iter().any(|word| is_supply(word)), "{name}");
        }
        for name in ["VSYNC", "VOLUME", "D5", "SDA", "V", "IO12V5V"] {
            assert!(!any(name, may_be_supply), "{name}");
        }
        for name in [
            "!RX_AMP_EN",
            "/CPU/VBUS_ENA",
            "/GPIO12_PHY_PWR",
            "VIN_SENSE",
            "5V_PWREN",
        ] {
            assert!(any(name, is_about_supply), "{name}");
        }
    }
}
