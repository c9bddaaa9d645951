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
        "VSYS", "VREG", "VMOT", "VUSB", "PWR", "POWER", "VSUPPLY", "VMAIN", "VOUT", "VDDQ", "VTT",
        "VCCD", "VDDD",
    ];
    SUPPLIES.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit())) || is_voltage(word)
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

/// Whether the word says that the net only tells of a supply, or switches it: `VBUS_DET`, `EN_3V3`.
pub(crate) fn is_about_supply(word: &str) -> bool {
    const ABOUT: &[&str] = &[
        "ADC", "BTN", "CS", "CTRL", "DET", "DETECT", "DIM", "DIV", "EN", "ENABLE", "FAULT", "FB",
        "FLT", "GOOD", "INT", "IRQ", "KEY", "LED", "MEAS", "MON", "OC", "OK", "ON", "PG", "PGOOD",
        "SEL", "SENSE", "SNS", "STAT", "SW", "TEST", "LX", "PHASE", "BOOT", "BST",
    ];
    ABOUT.contains(&word)
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

/// The mate of a net of a pair, by name: `/USB_D-` of `/USB_D+`, `TX_N` of `TX_P`, `DM` of `DP`.
pub(crate) fn mate(name: &str) -> Option<String> {
    const ENDS: &[(&str, &str)] = &[
        ("+", "-"),
        ("_P", "_N"),
        ("_p", "_n"),
        ("DP", "DM"),
        ("_DP", "_DN"),
    ];
    let positive = ENDS
        .iter()
        .find_map(|(p, n)| Some(format!("{}{n}", name.strip_suffix(p)?)));
    // `X+` alone is a supply: a pair has letters before its sign.
    positive.filter(|_| {
        own_name(name).is_some_and(|own| own.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
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
        assert_eq!(mate("/USB_D+").as_deref(), Some("/USB_D-"));
        assert_eq!(mate("TX_P").as_deref(), Some("TX_N"));
        assert_eq!(mate("/U2DP").as_deref(), Some("/U2DM"));
        assert_eq!((mate("3+"), mate("LED"), mate("TX_N")), (None, None, None));
    }
}
