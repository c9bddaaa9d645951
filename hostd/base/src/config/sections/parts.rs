//! Benches of plain parts: what a `[[devices]]` entry with the address `parts` is made of. The page about benches of
//! parts says what each key is for.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::DeviceConfig;

/// The address of an entry that is made of parts.
const ADDRESS: &str = "parts";

/// Voltage that a supply may be set to, in millivolts.
const VOLTAGE_MV_MAX: u32 = 60_000;

/// Current that a supply may be limited to, in milliamperes.
const LIMIT_MA_MAX: u32 = 20_000;

/// Outputs of a supply.
const CHANNELS: RangeInclusive<u8> = 1..=4;

/// Words of a program and its arguments.
const WORDS_MAX: usize = 32;

/// A debug probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbePart {
    /// `usb:VID:PID[:SERIAL]` for CMSIS-DAP, J-Link and ST-Link, `tcp:host[:port]` for CMSIS-DAP over TCP.
    pub address: String,
}

/// A serial port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UartPart {
    /// Its device file, best the one below `/dev/serial/by-id`.
    pub path: String,
    #[serde(default)]
    pub parity: Parity,
}

/// The parity bit of a serial port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    #[default]
    None,
    Even,
    Odd,
}

/// What gives the target its power.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum PowerPart {
    /// A bench supply that is told in SCPI.
    Scpi {
        /// `tcp:host[:port]` or `usb:VID:PID[:SERIAL]` (USBTMC).
        address: String,
        /// Set before each time that it is switched on. None = as the supply has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        voltage_mv: Option<u32>,
        /// The same for the current limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_ma: Option<u32>,
        /// A command that selects the output, sent before each use: `INST:NSEL 1`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        select: Option<String>,
        /// What its commands are called. None = as its maker, which it names, has them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dialect: Option<ScpiDialect>,
        /// The output, from 1. None = the first where commands name it, otherwise the one that the supply has selected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        channel: Option<u8>,
    },
    /// A port of a USB hub that switches its ports.
    Hub {
        /// The hub, as the kernel names it: `1-1`.
        hub: String,
        /// Its port, from 1.
        port: u8,
    },
    /// A relay behind a serial port.
    Relay {
        /// Its device file.
        path: String,
        #[serde(default = "relay_baud")]
        baud: u32,
        /// What switches it on, as hexadecimal digits.
        on: String,
        /// What switches it off.
        off: String,
    },
    /// A line of a GPIO chip.
    Gpio {
        /// The chip: its path, its name, its label, or the USB device that it is part of.
        chip: String,
        line: GpioLine,
        /// Whether the power is on while the line is low.
        #[serde(default)]
        active_low: bool,
        /// Whether the line is only pulled low, and let go otherwise.
        #[serde(default)]
        open_drain: bool,
    },
    /// Programs that are run.
    Command {
        /// The program and its arguments.
        on: Vec<String>,
        off: Vec<String>,
    },
}

/// What supplies call their commands. The page about benches of parts has a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScpiDialect {
    /// As SCPI has them: `OUTP ON`.
    Scpi,
    /// Siglent SPD: `OUTP CH1,ON`.
    Siglent,
    /// Rigol DP: `OUTP CH1,ON`.
    Rigol,
    /// Keysight, Agilent and Hewlett-Packard E36xx: `OUTP ON`.
    Keysight,
}

/// A line of a GPIO chip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a line is a number or a name")]
pub enum GpioLine {
    /// Its number on the chip, from 0.
    Number(u32),
    /// Its name, if it has one.
    Name(String),
}

/// What samples logic channels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum LogicPart {
    /// Whatever libsigrok supports, through the program `sigrok-cli`.
    Sigrok {
        /// libsigrok's driver with its options: `demo`, `fx2lafw:conn=1.5`.
        driver: String,
        /// The instrument's names of LA1, LA2 and so on. Empty = its first ones.
        #[serde(default)]
        channels: Vec<String>,
        /// The program, where it is not `sigrok-cli` on the search path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
    },
    /// An analyzer with the firmware fx2lafw, or one that takes it.
    Fx2lafw {
        /// The USB port that it is plugged into: `1-2.3`. None = the first analyzer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<String>,
        /// 8 or 16. None = all that it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        channels: Option<u8>,
        /// The file of its firmware or its folder. None = where Debian's package puts it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        firmware: Option<PathBuf>,
    },
}

/// What samples analog inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AnalogPart {
    /// As for logic channels.
    Sigrok {
        driver: String,
        /// The instrument's name of the input that is captured. None = its first one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
        /// Millivolts from zero to either end of the input. None = 32768.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range_mv: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
    },
}

fn relay_baud() -> u32 {
    9600
}

impl DeviceConfig {
    /// Gives a device of parts an address of its own: records of devices are found by it.
    pub(in crate::config) fn name_parts(&mut self) {
        if self.address == ADDRESS {
            self.address = format!("{ADDRESS}:{}", self.name);
        }
    }

    /// The first invalid key, and its rule.
    pub(in crate::config) fn check(&self) -> Result<(), (&'static str, String)> {
        let scheme = self.address.split(':').next();
        let given = [
            ("probe", self.probe.is_some()),
            ("uart", self.uart.is_some()),
            ("power", self.power.is_some()),
            ("logic", self.logic.is_some()),
            ("analog", self.analog.is_some()),
        ];
        let mut tables = given.iter().filter(|(_, is_given)| *is_given);
        match (scheme == Some(ADDRESS), tables.next()) {
            (true, None) => Err((
                "address",
                "needs a table of its parts, such as [devices.uart]".to_owned(),
            )),
            (false, Some((table, _))) => {
                let rule = format!("is a part: it needs address = \"{ADDRESS}\"");
                Err((table, rule))
            }
            _ => self.power.as_ref().map_or(Ok(()), PowerPart::check),
        }
    }
}

impl PowerPart {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let bad = |key, rule: &str| Err((key, rule.to_owned()));
        match self {
            Self::Scpi {
                voltage_mv,
                limit_ma,
                select,
                channel,
                ..
            } => {
                if voltage_mv.is_some_and(|mv| mv > VOLTAGE_MV_MAX) {
                    let rule = format!("must be at most {VOLTAGE_MV_MAX}");
                    return Err(("power.voltage_mv", rule));
                }
                if channel.is_some_and(|channel| !CHANNELS.contains(&channel)) {
                    let rule = format!("must be {} to {}", CHANNELS.start(), CHANNELS.end());
                    return Err(("power.channel", rule));
                }
                if select.is_some() && channel.is_some() {
                    return bad(
                        "power.select",
                        "selects what `channel` does: leave out one of them",
                    );
                }
                if limit_ma.is_some_and(|ma| ma > LIMIT_MA_MAX) {
                    let rule = format!("must be at most {LIMIT_MA_MAX}");
                    return Err(("power.limit_ma", rule));
                }
                let is_command = |text: &String| {
                    (1..=80).contains(&text.len())
                        && text.bytes().all(|b| (0x20..0x7f).contains(&b))
                };
                if !select.as_ref().is_none_or(is_command) {
                    return bad("power.select", "must be 1 to 80 printable characters");
                }
            }
            Self::Hub { port: 0, .. } => return bad("power.port", "must be at least 1"),
            Self::Command { on, off } => {
                for (key, words) in [("power.on", on), ("power.off", off)] {
                    let is_program = words.first().is_some_and(|program| !program.is_empty());
                    if !is_program || words.len() > WORDS_MAX {
                        let rule =
                            format!("must be a program and its arguments, 1 to {WORDS_MAX} words");
                        return Err((key, rule));
                    }
                }
            }
            Self::Hub { .. } | Self::Relay { .. } | Self::Gpio { .. } => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::{Config, GpioLine, PowerPart, ScpiDialect};

    fn load(text: &str) -> Result<Config, String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("hostd.toml");
        std::fs::write(&file, text).unwrap();
        let loaded = Config::load(Some(Path::new(&file)), std::iter::empty(), &[]);
        loaded.map_err(|error| error.to_string())
    }

    #[test]
    fn a_bench_of_parts_has_an_address_of_its_own() {
        let config = load(
            "[[devices]]\nname = \"bench-2\"\naddress = \"parts\"\n\
             [devices.uart]\npath = \"/dev/ttyUSB0\"\n\
             [devices.power]\nkind = \"scpi\"\naddress = \"tcp:supply\"\nvoltage_mv = 3300\n\
             dialect = \"siglent\"\nchannel = 2\n\
             [devices.probe]\naddress = \"usb:0d28:0204\"\n\
             [[devices]]\nname = \"bench-3\"\naddress = \"parts\"\n\
             [devices.power]\nkind = \"command\"\non = [\"uhubctl\", \"-a\", \"1\"]\noff = [\"uhubctl\", \"-a\", \"0\"]\n",
        )
        .unwrap();
        let addresses: Vec<_> = config.devices.iter().map(|d| d.address.as_str()).collect();
        assert_eq!(addresses, ["parts:bench-2", "parts:bench-3"]);
        assert!(matches!(
            config.devices[0].power,
            Some(PowerPart::Scpi {
                voltage_mv: Some(3300),
                limit_ma: None,
                dialect: Some(ScpiDialect::Siglent),
                channel: Some(2),
                ..
            })
        ));
    }

    #[test]
    fn a_line_is_a_number_or_a_name() {
        for (text, line) in [
            ("17", GpioLine::Number(17)),
            ("\"RELAY\"", GpioLine::Name("RELAY".to_owned())),
        ] {
            let config = load(&format!(
                "[[devices]]\nname = \"b\"\naddress = \"parts\"\n[devices.power]\nkind = \"gpio\"\n\
                 chip = \"/dev/gpiochip0\"\nline = {text}\nactive_low = true\n"
            ));
            let wanted = PowerPart::Gpio {
                chip: "/dev/gpiochip0".to_owned(),
                line,
                active_low: true,
                open_drain: false,
            };
            assert_eq!(config.unwrap().devices[0].power, Some(wanted));
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let parts = "[[devices]]\nname = \"b\"\naddress = \"parts\"\n";
        for (text, place, what) in [
            (String::new(), "devices[0].address", "a table of its parts"),
            (
                "[devices.uart]\npath = \"x\"\nbaudrate = 9\n".into(),
                "at line ",
                "baudrate",
            ),
            (
                "[devices.uart]\npath = \"x\"\nparity = \"mark\"\n".into(),
                "at line ",
                "mark",
            ),
            (
                "[devices.power]\nkind = \"magic\"\n".into(),
                "at line ",
                "magic",
            ),
            (
                "[devices.power]\nkind = \"hub\"\nhub = \"1-1\"\nport = 1\nvolts = 3\n".into(),
                "at line ",
                "volts",
            ),
            (
                "[devices.power]\nkind = \"hub\"\nhub = \"1-1\"\nport = 0\n".into(),
                "devices[0].power.port",
                "at least 1",
            ),
            (
                "[devices.power]\nkind = \"gpio\"\nchip = \"gpiochip0\"\nline = -1\n".into(),
                "at line ",
                "a number or a name",
            ),
            (
                "[devices.power]\nkind = \"scpi\"\naddress = \"tcp:s\"\nvoltage_mv = 60001\n"
                    .into(),
                "devices[0].power.voltage_mv",
                "60000",
            ),
            (
                "[devices.power]\nkind = \"scpi\"\naddress = \"tcp:s\"\nchannel = 5\n".into(),
                "devices[0].power.channel",
                "1 to 4",
            ),
            (
                "[devices.power]\nkind = \"scpi\"\naddress = \"tcp:s\"\nchannel = 2\nselect = \"INST:NSEL 2\"\n"
                    .into(),
                "devices[0].power.select",
                "leave out one",
            ),
            (
                "[devices.power]\nkind = \"scpi\"\naddress = \"tcp:s\"\ndialect = \"korad\"\n".into(),
                "at line ",
                "korad",
            ),
            (
                "[devices.power]\nkind = \"command\"\non = []\noff = [\"x\"]\n".into(),
                "devices[0].power.on",
                "a program",
            ),
        ] {
            let error = load(&format!("{parts}{text}")).unwrap_err();
            assert!(
                error.contains(place) && error.contains(what),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn only_benches_of_parts_have_parts() {
        let error =
            load("[[devices]]\nname = \"b\"\naddress = \"usb\"\n[devices.uart]\npath = \"x\"\n");
        let error = error.unwrap_err();
        assert!(
            error.contains("devices[0].uart") && error.contains("parts"),
            "{error}"
        );
    }
}
