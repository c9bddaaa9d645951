//! The head of a table: comments, names of the columns, and which of them says the time.

use super::super::decimal::Decimal;
use super::super::source::AnalogName;
use super::super::{ImportError, Limits};
use super::Rows;

/// What the column of times counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Time {
    /// So many of them in a second.
    PerSecond(u128),
    /// sigrok does not say.
    Unknown,
}

/// What was read.
pub(super) struct Head {
    pub(super) names: Vec<AnalogName>,
    pub(super) time: Option<Time>,
    pub(super) time_column: Option<usize>,
    /// A second column of times.
    pub(super) skipped: Option<usize>,
    pub(super) rate_hz: Option<f64>,
    /// Whether numbers have a comma for the point.
    pub(super) has_comma: bool,
    delimiter: u8,
}

impl Head {
    pub(super) fn read(rows: &mut Rows<'_>, limits: &Limits) -> Result<Self, ImportError> {
        let (mut rate_hz, mut channels, mut is_sigrok) = (None, None, false);
        let (before, line) = loop {
            let before = rows.clone();
            let Some(line) = rows.next()? else {
                return Err(ImportError::Empty);
            };
            let Some(comment) = line.strip_prefix(b";").or(line.strip_prefix(b"#")) else {
                break (before, line);
            };
            let comment = String::from_utf8_lossy(comment);
            let comment = comment.trim();
            is_sigrok |= comment.contains("libsigrok");
            if let Some(rate) = comment.strip_prefix("Samplerate: ") {
                rate_hz = crate::sr::spoken_rate(rate);
            } else if let Some((_, names)) = comment
                .split_once("): ")
                .filter(|(word, _)| word.starts_with("Channels ("))
            {
                channels = Some(names.split(", ").map(str::to_owned).collect::<Vec<_>>());
            }
        };
        let delimiter = [b'\t', b';', b',']
            .into_iter()
            .find(|byte| line.contains(byte))
            .unwrap_or(b',');
        let mut head = Self {
            names: Vec::new(),
            time: None,
            time_column: None,
            skipped: None,
            rate_hz,
            has_comma: delimiter != b',',
            delimiter,
        };
        let fields = split_quoted(line, delimiter);
        let max = limits.channels_max;
        if fields.len() > max {
            return Err(ImportError::TooManyChannels {
                channels: fields.len(),
                max,
            });
        }
        let is_value = |field: &String| {
            let is_level = matches!(field.as_str(), "" | "x" | "X" | "z" | "Z");
            is_level || Decimal::parse(field.as_bytes(), head.has_comma).is_some()
        };
        // sigrok names channels by numbers, too.
        let has_names = is_sigrok && fields.first().is_some_and(|first| first == "Time")
            || !fields.iter().all(is_value);
        head.names = fields.iter().map(|field| named(field)).collect();
        if has_names {
            head.find_time(&fields, is_sigrok);
        } else {
            *rows = before;
            head.names = (0..fields.len())
                .map(|number| named(&number.to_string()))
                .collect();
        }
        let first = usize::from(head.time_column.is_some());
        if let Some(channels) =
            channels.filter(|channels| is_sigrok && channels.len() + first == fields.len())
        {
            for (name, known) in head.names[first..].iter_mut().zip(channels) {
                name.name = known;
            }
        }
        Ok(head)
    }

    fn find_time(&mut self, fields: &[String], is_sigrok: bool) {
        let kinds: Vec<Option<Time>> = fields
            .iter()
            .take(2)
            .map(|field| time_of(field, is_sigrok))
            .collect();
        match kinds.as_slice() {
            // Saleae's waveforms have a column of times from the trigger in front.
            [_, Some(time)] if fields[0].starts_with("Trigger") => {
                (self.time, self.time_column, self.skipped) = (Some(*time), Some(1), Some(0));
            }
            [Some(time), ..] => (self.time, self.time_column) = (Some(*time), Some(0)),
            _ => {}
        }
    }

    /// The fields of a row.
    pub(super) fn fields<'r>(&self, row: &'r [u8]) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        let delimiter = self.delimiter;
        row.split(move |byte| *byte == delimiter).map(|field| {
            let field = field.trim_ascii();
            field
                .strip_prefix(b"\"")
                .and_then(|field| field.strip_suffix(b"\""))
                .unwrap_or(field)
        })
    }
}

/// What a column of this name counts, if it is times.
fn time_of(name: &str, is_sigrok: bool) -> Option<Time> {
    let plain = name.to_ascii_lowercase();
    let unit = match plain.strip_prefix("time") {
        Some("") if is_sigrok => return Some(Time::Unknown),
        Some("") => "s",
        Some(rest) => rest.trim_matches([' ', '_', '[', ']', '(', ')']),
        None => plain.as_str(),
    };
    let per_second = match unit {
        "s" | "sec" | "seconds" => 1,
        "ms" | "milliseconds" => 1_000,
        "us" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => 1_000_000,
        "ns" | "nanoseconds" => 1_000_000_000,
        "ps" | "picoseconds" => 1_000_000_000_000,
        _ => return None,
    };
    Some(Time::PerSecond(per_second))
}

/// `ADC (V)`: the name and the unit.
fn named(text: &str) -> AnalogName {
    let parts = text
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("));
    let (name, unit) = parts
        .filter(|(name, _)| !name.is_empty())
        .unwrap_or((text, ""));
    AnalogName {
        name: name.to_owned(),
        unit: unit.to_owned(),
    }
}

/// The fields of a line, of which some may be quoted (RFC 4180).
fn split_quoted(line: &[u8], delimiter: u8) -> Vec<String> {
    let text = String::from_utf8_lossy(line);
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut().expect("there is one from the beginning");
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            _ if character == char::from(delimiter) && !is_quoted => fields.push(String::new()),
            _ => field.push(character),
        }
    }
    fields.iter().map(|field| field.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Time, named, split_quoted, time_of};

    #[test]
    fn names_have_units_and_quotes() {
        let adc = named("ADC (V)");
        assert_eq!((adc.name.as_str(), adc.unit.as_str()), ("ADC", "V"));
        assert_eq!(named("Channel 0 :)").name, "Channel 0 :)");
        let fields = split_quoted(b"time_s, \"a,b\",\"5\"\" rail\"", b',');
        assert_eq!(fields, ["time_s", "a,b", "5\" rail"]);
    }

    #[test]
    fn times_are_known_by_name() {
        for (name, per_second) in [
            ("time_s", Some(1)),
            ("Time [s]", Some(1)),
            ("Time(ms)", Some(1_000)),
            ("microseconds", Some(1_000_000)),
            ("Time", Some(1)),
            ("timer", None),
            ("D0", None),
        ] {
            assert_eq!(
                time_of(name, false),
                per_second.map(Time::PerSecond),
                "{name}"
            );
        }
        assert_eq!(time_of("Time", true), Some(Time::Unknown));
    }
}
