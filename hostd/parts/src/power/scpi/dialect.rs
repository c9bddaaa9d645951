//! What supplies of different makers call the same things: how an output is named, switched, set, measured and read back.

use base::config::ScpiDialect;

use super::super::answer;

/// Outputs of a Siglent SPD whose switches its status has.
const SIGLENT_CHANNELS: u8 = 2;

/// The bit of a Siglent SPD's status that says that output 1 is on. That of the next is the next.
const SIGLENT_ON_BIT: u32 = 4;

/// The dialect of who introduces itself so with `*IDN?`: maker, model, serial number, version.
pub(super) fn of(identity: &str) -> ScpiDialect {
    let mut fields = identity
        .split(',')
        .map(|field| field.trim().to_ascii_lowercase());
    let (maker, model) = (
        fields.next().unwrap_or_default(),
        fields.next().unwrap_or_default(),
    );
    let is_by = |makers: &[&str]| makers.iter().any(|known| maker.starts_with(known));
    if is_by(&["siglent"]) && model.starts_with("spd") {
        ScpiDialect::Siglent
    } else if is_by(&["rigol"]) && model.starts_with("dp") {
        ScpiDialect::Rigol
    } else if is_by(&["keysight", "agilent", "hewlett-packard"]) && model.starts_with("e36") {
        ScpiDialect::Keysight
    } else {
        ScpiDialect::Scpi
    }
}

/// The name of a dialect in the configuration.
pub(super) fn name(dialect: ScpiDialect) -> &'static str {
    match dialect {
        ScpiDialect::Scpi => "scpi",
        ScpiDialect::Siglent => "siglent",
        ScpiDialect::Rigol => "rigol",
        ScpiDialect::Keysight => "keysight",
    }
}

/// The commands for one output of a supply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words {
    dialect: ScpiDialect,
    /// The output, where its commands name it.
    named: Option<u8>,
    /// The output, where it is selected before.
    selected: Option<u8>,
}

impl Words {
    /// # Errors
    /// The output cannot be told apart, as a sentence.
    pub(super) fn new(dialect: ScpiDialect, channel: Option<u8>) -> Result<Self, String> {
        let (named, selected) = match dialect {
            ScpiDialect::Siglent | ScpiDialect::Rigol => (Some(channel.unwrap_or(1)), None),
            ScpiDialect::Scpi | ScpiDialect::Keysight => (None, channel),
        };
        if dialect == ScpiDialect::Siglent && named > Some(SIGLENT_CHANNELS) {
            return Err(format!(
                "a Siglent SPD does not say whether an output beyond CH{SIGLENT_CHANNELS} is on: set `channel` to 1 or 2"
            ));
        }
        Ok(Self {
            dialect,
            named,
            selected,
        })
    }

    /// What selects the output before each use.
    pub(super) fn select(self) -> Option<String> {
        let channel = self.selected?;
        Some(format!("INST:NSEL {channel}"))
    }

    /// What forgets the errors of others; a Siglent SPD has nothing for it.
    pub(super) fn clear(self) -> Option<&'static str> {
        match self.dialect {
            ScpiDialect::Siglent => None,
            ScpiDialect::Scpi | ScpiDialect::Rigol | ScpiDialect::Keysight => Some("*CLS"),
        }
    }

    pub(super) fn volts(self, volts: &str) -> String {
        format!("{}VOLT {volts}", self.source())
    }

    pub(super) fn amps(self, amps: &str) -> String {
        format!("{}CURR {amps}", self.source())
    }

    /// What begins a setting.
    fn source(self) -> String {
        match (self.dialect, self.named) {
            (ScpiDialect::Siglent, Some(channel)) => format!("CH{channel}:"),
            (ScpiDialect::Rigol, Some(channel)) => format!("SOUR{channel}:"),
            _ => String::new(),
        }
    }

    pub(super) fn switch(self, on: bool) -> String {
        let state = if on { "ON" } else { "OFF" };
        match self.named {
            Some(channel) => format!("OUTP CH{channel},{state}"),
            None => format!("OUTP {state}"),
        }
    }

    /// Asks whether the output is on.
    pub(super) fn ask_switch(self) -> String {
        match (self.dialect, self.named) {
            (ScpiDialect::Siglent, _) => "SYST:STAT?".to_owned(),
            (_, Some(channel)) => format!("OUTP? CH{channel}"),
            (_, None) => "OUTP?".to_owned(),
        }
    }

    /// What the answer to that says; `None` if it makes no sense.
    pub(super) fn is_on(self, answer: &str) -> Option<bool> {
        match (self.dialect, self.named) {
            (ScpiDialect::Siglent, Some(channel)) => {
                let place = SIGLENT_ON_BIT + u32::from(channel) - 1;
                answer::bits(answer).map(|bits| bits >> place & 1 == 1)
            }
            _ => answer::switch(answer),
        }
    }

    pub(super) fn ask_volts(self) -> String {
        self.measure("VOLT")
    }

    pub(super) fn ask_amps(self) -> String {
        self.measure("CURR")
    }

    fn measure(self, what: &str) -> String {
        match self.named {
            Some(channel) => format!("MEAS:{what}? CH{channel}"),
            None => format!("MEAS:{what}?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_and_models_choose_a_dialect() {
        for (identity, dialect) in [
            (
                "Siglent Technologies,SPD3303X-E,SPD3XID1R0001,1.01.01.02.05,V3.0",
                ScpiDialect::Siglent,
            ),
            ("SIGLENT,SPD1168X,SPD1X,2.1.1.9,V3.0", ScpiDialect::Siglent),
            (
                "Siglent Technologies,SDL1020X-E,SDL1X,1.1",
                ScpiDialect::Scpi,
            ),
            (
                "RIGOL TECHNOLOGIES,DP832,DP8C1,00.01.14",
                ScpiDialect::Rigol,
            ),
            ("RIGOL TECHNOLOGIES,DL3021,DL3A1,00.01", ScpiDialect::Scpi),
            (
                "Agilent Technologies,E3631A,0,2.1-5.0-1.0",
                ScpiDialect::Keysight,
            ),
            (
                "HEWLETT-PACKARD,E3632A,0,1.1-5.0-1.0",
                ScpiDialect::Keysight,
            ),
            (
                "Keysight Technologies,E36312A,MY1,1.0",
                ScpiDialect::Keysight,
            ),
            ("ACME,PSU,0,1.0", ScpiDialect::Scpi),
            ("", ScpiDialect::Scpi),
        ] {
            assert_eq!(of(identity), dialect, "{identity}");
        }
    }

    #[test]
    fn outputs_are_named_or_selected() {
        let words = |dialect, channel| Words::new(dialect, channel).unwrap();
        let siglent = words(ScpiDialect::Siglent, None);
        assert_eq!(siglent.switch(true), "OUTP CH1,ON");
        assert_eq!(siglent.volts("3.300"), "CH1:VOLT 3.300");
        assert_eq!((siglent.select(), siglent.clear()), (None, None));
        let second = words(ScpiDialect::Siglent, Some(2));
        for (answer, first, other) in [
            ("0x10", true, false),
            ("0x0024", false, true),
            ("0X30", true, true),
            ("5", false, false),
        ] {
            assert_eq!(siglent.is_on(answer), Some(first), "{answer}");
            assert_eq!(second.is_on(answer), Some(other), "{answer}");
        }
        assert_eq!(siglent.is_on("ON"), None);
        assert!(Words::new(ScpiDialect::Siglent, Some(3)).is_err());
        let rigol = words(ScpiDialect::Rigol, Some(3));
        assert_eq!(rigol.switch(false), "OUTP CH3,OFF");
        assert_eq!(rigol.amps("0.500"), "SOUR3:CURR 0.500");
        assert_eq!(rigol.ask_switch(), "OUTP? CH3");
        assert_eq!(rigol.ask_volts(), "MEAS:VOLT? CH3");
        for dialect in [ScpiDialect::Scpi, ScpiDialect::Keysight] {
            let plain = words(dialect, None);
            assert_eq!(
                (plain.select(), plain.switch(true)),
                (None, "OUTP ON".into())
            );
            let second = words(dialect, Some(2));
            assert_eq!(second.select().as_deref(), Some("INST:NSEL 2"));
            assert_eq!(second.ask_amps(), "MEAS:CURR?");
        }
    }
}
