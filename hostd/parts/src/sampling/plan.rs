//! The instruments that the tables of a bench mean. A program of sigrok that both tables name is one instrument.

use std::sync::Arc;

use acquire::{Fx2lafw, Fx2lafwSettings, Instrument, Sigrok, SigrokSettings};
use base::config::{AnalogPart, LogicPart};

/// The instrument for logic channels, and the one for analog inputs.
#[derive(Clone, Default)]
pub(crate) struct Instruments {
    pub(crate) logic: Option<Arc<dyn Instrument>>,
    pub(crate) analog: Option<Arc<dyn Instrument>>,
}

impl std::fmt::Debug for Instruments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instruments")
            .field("logic", &self.logic.is_some())
            .field("analog", &self.analog.is_some())
            .finish()
    }
}

impl Instruments {
    /// # Errors
    /// What is wrong with a table.
    pub(crate) fn of(
        logic: Option<&LogicPart>,
        analog: Option<&AnalogPart>,
    ) -> Result<Self, String> {
        if let Some(both) = logic.zip(analog).and_then(of_both) {
            let both = sigrok("logic", both)?;
            return Ok(Self {
                logic: Some(both.clone()),
                analog: Some(both),
            });
        }
        let analog = analog.map(|part| sigrok("analog", of_analog(part)));
        Ok(Self {
            logic: logic.map(of_logic).transpose()?,
            analog: analog.transpose()?,
        })
    }
}

/// The settings of one instrument that both tables mean.
fn of_both((logic, analog): (&LogicPart, &AnalogPart)) -> Option<SigrokSettings> {
    let LogicPart::Sigrok { channels, .. } = logic else {
        return None;
    };
    let both = SigrokSettings {
        channels: channels.clone(),
        ..of_analog(analog)
    };
    let is_one = matches!(logic, LogicPart::Sigrok { driver, tool, .. }
        if *driver == both.driver && *tool == both.tool);
    is_one.then_some(both)
}

fn of_logic(part: &LogicPart) -> Result<Arc<dyn Instrument>, String> {
    match part {
        LogicPart::Sigrok {
            driver,
            channels,
            tool,
        } => {
            let settings = SigrokSettings {
                driver: driver.clone(),
                channels: channels.clone(),
                tool: tool.clone(),
                ..SigrokSettings::default()
            };
            sigrok("logic", settings)
        }
        LogicPart::Fx2lafw {
            port,
            channels,
            firmware,
        } => {
            let made = Fx2lafw::new(Fx2lafwSettings {
                port: port.clone(),
                channels: *channels,
                firmware: firmware.clone(),
            });
            Ok(Arc::new(made.map_err(|error| format!("logic: {error}"))?))
        }
    }
}

fn of_analog(part: &AnalogPart) -> SigrokSettings {
    let AnalogPart::Sigrok {
        driver,
        input,
        range_mv,
        tool,
    } = part;
    SigrokSettings {
        driver: driver.clone(),
        inputs: input.iter().cloned().collect(),
        range_v: range_mv.map(|mv| f64::from(mv) / 1e3),
        tool: tool.clone(),
        ..SigrokSettings::default()
    }
}

fn sigrok(table: &str, settings: SigrokSettings) -> Result<Arc<dyn Instrument>, String> {
    let made = Sigrok::new(settings);
    Ok(Arc::new(made.map_err(|error| format!("{table}: {error}"))?))
}
