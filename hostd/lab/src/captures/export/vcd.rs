//! Value change dumps (IEEE 1364-2005, clause 18): a wire for each logic channel, a real for the
//! analog one. How time is counted is [`scale`]'s.

use std::io::Write;

use super::super::reader::Reader;
use super::ExportError;
use super::cut::Cut;
use super::timeline::{Step, walk};
pub(super) use scale::Scale;
use store::captures::ChannelRecord;

mod scale;

/// The first of the characters that identifiers are made of. There are more of them than a capture
/// has channels, so each identifier is a single character.
const FIRST_IDENTIFIER: u8 = b'!';

pub(super) fn write(reader: &Reader, cut: &Cut, out: &mut dyn Write) -> Result<(), ExportError> {
    let channels = cut.channels();
    let rates: Vec<f64> = channels.iter().map(|c| c.sample_rate_hz).collect();
    let scale = Scale::for_rates(&rates);
    header(&channels, scale, out)?;
    trigger(cut.trigger(reader.record()), out)?;
    variables(&channels, scale, out)?;
    let mut dump = Dump {
        analog: channels.iter().find(|c| c.la.is_none()).copied(),
        logic: channels.iter().filter(|c| c.la.is_some()).count(),
        levels: None,
        count: None,
        text: Vec::new(),
    };
    let end = walk(reader, cut, scale.ticks, |step| dump.step(step, out))?;
    writeln!(out, "#{end}")?;
    Ok(())
}

fn header(channels: &[&ChannelRecord], scale: Scale, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "$version hostd {} $end", env!("CARGO_PKG_VERSION"))?;
    for is_logic in [true, false] {
        let channel = channels.iter().find(|c| c.la.is_some() == is_logic);
        if let Some(channel) = channel {
            let kind = if is_logic { "logic" } else { "analog" };
            let rate = scale.described(channel.sample_rate_hz);
            let (count, exact) = (channel.samples, scale.exact(channel.sample_rate_hz));
            writeln!(
                out,
                "$comment {kind} samples: {rate}, {count} of them at {exact} Hz $end"
            )?;
        }
    }
    if !scale.is_exact {
        let text = "samples are at no whole ticks: each time is the nearest";
        writeln!(out, "$comment {text} $end")?;
    }
    Ok(())
}

/// Where the trigger lies, which the format has no other place for.
fn trigger(at: Option<(u64, f64)>, out: &mut dyn Write) -> std::io::Result<()> {
    match at {
        Some((sample, seconds)) => {
            writeln!(
                out,
                "$comment trigger: at sample {sample}, {seconds} s $end"
            )
        }
        None => Ok(()),
    }
}

fn variables(
    channels: &[&ChannelRecord],
    scale: Scale,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "$timescale {} $end", scale.timescale())?;
    writeln!(out, "$scope module capture $end")?;
    // Logic channels first, in the order of the dump.
    let logic = channels.iter().filter(|c| c.la.is_some());
    let analog = channels.iter().filter(|c| c.la.is_none());
    for (channel, id) in logic.chain(analog).zip(FIRST_IDENTIFIER..) {
        let (kind, bits) = if channel.la.is_some() {
            ("wire", 1)
        } else {
            ("real", 64)
        };
        let name = identifier_name(&channel.name);
        writeln!(out, "$var {kind} {bits} {} {name} $end", char::from(id))?;
    }
    writeln!(out, "$upscope $end\n$enddefinitions $end")
}

/// The name of a channel as one word.
pub(super) fn identifier_name(name: &str) -> String {
    let one = |c: char| if c.is_whitespace() { '_' } else { c };
    name.chars().map(one).collect()
}

/// The values written last.
struct Dump<'r> {
    analog: Option<&'r ChannelRecord>,
    /// Number of logic channels.
    logic: usize,
    levels: Option<u64>,
    count: Option<u16>,
    /// Memory for the lines of a step.
    text: Vec<u8>,
}

impl Dump<'_> {
    fn step(&mut self, step: Step, out: &mut dyn Write) -> Result<(), ExportError> {
        let count = step.count.filter(|count| self.count != Some(*count));
        let moved = step.levels.map_or(0, |levels| match self.levels {
            Some(before) => levels ^ before,
            None => u64::MAX,
        });
        if moved == 0 && count.is_none() {
            return Ok(());
        }
        let text = &mut self.text;
        text.clear();
        text.push(b'#');
        push_decimal(text, step.at);
        text.push(b'\n');
        let ids = (0..self.logic).zip(FIRST_IDENTIFIER..);
        for (channel, id) in ids.filter(|(channel, _)| moved >> channel & 1 == 1) {
            let is_high = step.levels.unwrap_or(0) >> channel & 1 != 0;
            text.extend([if is_high { b'1' } else { b'0' }, id, b'\n']);
        }
        out.write_all(text)?;
        if let (Some(count), Some(channel)) = (count, self.analog) {
            let id = (FIRST_IDENTIFIER..).nth(self.logic);
            let id = char::from(id.expect("there are fewer channels than identifiers"));
            writeln!(out, "r{} {id}", channel.value(count))?;
            self.count = Some(count);
        }
        self.levels = step.levels.or(self.levels);
        Ok(())
    }
}

/// Appends a number. Formatting it takes several times as long, and dumps are little else.
fn push_decimal(text: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let (mut first, mut rest) = (digits.len(), number);
    loop {
        first -= 1;
        let [digit, ..] = (rest % 10).to_le_bytes();
        digits[first] = b'0' + digit;
        rest /= 10;
        if rest == 0 {
            return text.extend_from_slice(&digits[first..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_formatted() {
        for number in [0, 9, 10, 99, 100, 1_234_567_890, u64::MAX] {
            let mut text = vec![b'#'];
            push_decimal(&mut text, number);
            assert_eq!(text, format!("#{number}").into_bytes());
        }
    }
}
