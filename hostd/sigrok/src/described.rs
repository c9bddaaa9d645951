//! What `sigrok-cli -P id --show` says of a decoder.

use crate::listed::plain;
use crate::stack::{is_id, is_value};
use decode::{Accepts, Channel, Class, OptionInfo, Row};

/// Most of anything that a decoder has.
const MEMBERS_MAX: usize = 512;

/// A decoder as it describes itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Described {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What it takes: `logic`, or what another one gives.
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) options: Vec<OptionInfo>,
    pub(crate) classes: Vec<Class>,
    pub(crate) rows: Vec<Row>,
}

/// Reads a description; none if it is none.
pub(crate) fn read(text: &str) -> Option<Described> {
    let mut found = Described::default();
    let mut section = "";
    for line in text.lines() {
        if let Some(member) = line.strip_prefix("- ") {
            found.take(section, member);
        } else if let Some((head, rest)) = line.split_once(':') {
            match (head, rest.trim()) {
                ("ID", id) => id.clone_into(&mut found.id),
                ("Name", name) => found.name = plain(name),
                // What follows is for people.
                ("Documentation", _) => break,
                _ => section = head,
            }
        }
    }
    is_id(&found.id).then_some(found)
}

impl Described {
    fn take(&mut self, section: &str, member: &str) {
        match section {
            "Possible decoder input IDs" => push(&mut self.inputs, plain(member)),
            "Possible decoder output IDs" => push(&mut self.outputs, plain(member)),
            "Required channels" | "Optional channels" => {
                let required = section.starts_with('R');
                self.channels.extend(channel(member, required));
                self.channels.truncate(MEMBERS_MAX);
            }
            "Options" => {
                self.options.extend(option(member));
                self.options.truncate(MEMBERS_MAX);
            }
            "Annotation classes" => {
                if let Some((id, text)) = member.split_once(": ") {
                    let class = Class {
                        id: plain(id),
                        text: plain(text),
                        hex_digits: 0,
                    };
                    push(&mut self.classes, class);
                }
            }
            "Annotation rows" => self.rows.extend(row(member)),
            _ => {}
        }
    }
}

fn push<T>(list: &mut Vec<T>, member: T) {
    if list.len() < MEMBERS_MAX {
        list.push(member);
    }
}

/// `scl (SCL): Serial clock line`
fn channel(text: &str, required: bool) -> Option<Channel> {
    let (id, rest) = text.split_once(" (")?;
    let (_, name) = rest.split_once("): ").unwrap_or((rest, rest));
    is_id(id).then(|| Channel {
        id: id.to_owned(),
        name: plain(name),
        required,
    })
}

/// `addr-data (Address/data): start, stop`
fn row(text: &str) -> Option<Row> {
    let (head, classes) = text.rsplit_once("): ")?;
    let (id, name) = head.split_once(" (")?;
    Some(Row {
        id: plain(id),
        text: plain(name),
        classes: classes.split(", ").map(plain).collect(),
    })
}

/// `parity: Parity ('none', 'odd', default 'none')`, or `baudrate: Baud rate (default 115200)`.
fn option(text: &str) -> Option<OptionInfo> {
    let (id, rest) = text.split_once(": ")?;
    let (head, default) = rest.rsplit_once("default ")?;
    let (name, values) = head.rsplit_once(" (")?;
    let default = default.strip_suffix(')').unwrap_or(default);
    let values = values.trim_end_matches(", ");
    let values: Vec<String> = match values {
        "" => Vec::new(),
        values => values.split(", ").map(|value| bare(value).0).collect(),
    };
    let (default, is_text) = bare(default);
    let accepts = if !values.is_empty() {
        Accepts::OneOf(values.into_iter().filter(|value| is_value(value)).collect())
    } else if is_text {
        Accepts::Any
    } else if default.parse::<i64>().is_ok() {
        Accepts::Integer(i64::MIN, i64::MAX)
    } else {
        Accepts::Number(f64::MIN, f64::MAX)
    };
    is_id(id).then(|| OptionInfo {
        id: id.to_owned(),
        text: plain(name),
        default: plain(&default),
        accepts,
    })
}

/// Without its quotes, and whether it had some.
fn bare(text: &str) -> (String, bool) {
    let inner = text.strip_prefix('\'');
    match inner.and_then(|text| text.strip_suffix('\'')) {
        Some(inner) => (inner.to_owned(), true),
        None => (text.to_owned(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "ID: uart\nName: UART\nLong name: Universal\nPossible decoder input IDs:\n- logic\n\
        Possible decoder output IDs:\n- uart\nDecoder tags:\nAnnotation classes:\n- rx-data: RX data\n- tx-data: TX data\n\
        Annotation rows:\n- rx-data (RX): rx-data, rx-start\nBinary classes:\n- rx: RX dump\nRequired channels:\nNone.\n\
        Optional channels:\n- rx (RX): UART receive line\nOptions:\n- baudrate: Baud rate (default 115200)\n\
        - parity: Parity ('none', 'odd', default 'none')\n- stop_bits: Stop bits (0.0, 1.0, default 1.0)\n\
        - sample_point: Sample point (%) (default 50.5)\n- label: Label (default 'a')\nDocumentation:\n- not: a member\n";

    #[test]
    fn everything_that_is_needed_is_read() {
        let uart = read(SHOWN).unwrap();
        assert_eq!((&*uart.id, &*uart.name), ("uart", "UART"));
        assert_eq!(
            (uart.inputs, uart.outputs),
            (vec!["logic".to_owned()], vec!["uart".to_owned()])
        );
        assert_eq!(uart.channels.len(), 1);
        assert_eq!(uart.channels[0].name, "UART receive line");
        let options: Vec<(&str, &str, &Accepts)> = uart
            .options
            .iter()
            .map(|option| (&*option.id, &*option.default, &option.accepts))
            .collect();
        let (parity, stop) = (["none", "odd"], ["0.0", "1.0"]);
        assert_eq!(
            options,
            [
                ("baudrate", "115200", &Accepts::Integer(i64::MIN, i64::MAX)),
                (
                    "parity",
                    "none",
                    &Accepts::OneOf(parity.map(str::to_owned).to_vec())
                ),
                (
                    "stop_bits",
                    "1.0",
                    &Accepts::OneOf(stop.map(str::to_owned).to_vec())
                ),
                ("sample_point", "50.5", &Accepts::Number(f64::MIN, f64::MAX)),
                ("label", "a", &Accepts::Any),
            ]
        );
        assert_eq!(uart.options[3].text, "Sample point (%)");
        assert_eq!(uart.rows[0].classes, ["rx-data", "rx-start"]);
        assert_eq!(uart.classes.len(), 2);
    }

    #[test]
    fn what_is_no_description_is_none() {
        for text in ["", "srd: no such decoder", "ID: -P\nName: x", "ID: a b"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
