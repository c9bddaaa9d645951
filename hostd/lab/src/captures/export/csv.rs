//! Comma-separated values (RFC 4180): a row for every change of a logic channel and every analog
//! sample, each with the state of all channels.

use std::io::Write;

use super::super::reader::Reader;
use super::ExportError;
use super::cut::Cut;
use super::timeline::{EXPONENT_MAX, Step, Ticks, walk};
use store::captures::ChannelRecord;

pub(super) fn write(reader: &Reader, cut: &Cut, out: &mut dyn Write) -> Result<(), ExportError> {
    let channels = cut.channels();
    let rates: Vec<f64> = channels.iter().map(|c| c.sample_rate_hz).collect();
    let ticks = Ticks::exact(&rates).unwrap_or_else(|| Ticks::new(EXPONENT_MAX, &rates));
    let mut rows = Rows {
        exponent: ticks.exponent,
        logic: channels.iter().filter(|c| c.la.is_some()).count(),
        analog: channels.iter().find(|c| c.la.is_none()).copied(),
        levels: 0,
        count: 0,
    };
    write!(out, "time_s")?;
    for channel in channels.iter().filter(|c| c.la.is_some()) {
        write!(out, ",{}", quoted(&channel.name))?;
    }
    if let Some(channel) = rows.analog {
        let unit = match channel.unit.as_str() {
            "" => String::new(),
            unit => format!(" ({unit})"),
        };
        write!(out, ",{}", quoted(&format!("{}{unit}", channel.name)))?;
    }
    write!(out, "\r\n")?;
    let end = walk(reader, cut, ticks, |step| rows.row(step, out))?;
    // How long the last state lasted.
    let last = Step {
        at: end,
        levels: None,
        count: None,
    };
    rows.row(last, out)
}

struct Rows<'r> {
    /// Digits of a second.
    exponent: u32,
    /// Number of logic channels.
    logic: usize,
    analog: Option<&'r ChannelRecord>,
    levels: u64,
    count: u16,
}

impl Rows<'_> {
    fn row(&mut self, step: Step, out: &mut dyn Write) -> Result<(), ExportError> {
        self.levels = step.levels.unwrap_or(self.levels);
        self.count = step.count.unwrap_or(self.count);
        let second = 10_u64.pow(self.exponent);
        write!(out, "{}", step.at / second)?;
        if self.exponent > 0 {
            let digits = self.exponent as usize;
            write!(out, ".{:0digits$}", step.at % second)?;
        }
        for channel in 0..self.logic {
            write!(out, ",{}", self.levels >> channel & 1)?;
        }
        if let Some(channel) = self.analog {
            write!(out, ",{}", channel.value(self.count))?;
        }
        write!(out, "\r\n")?;
        Ok(())
    }
}

fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_when_they_must_be() {
        assert_eq!(quoted("LA1"), "LA1");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("5\" rail"), "\"5\"\" rail\"");
    }
}
