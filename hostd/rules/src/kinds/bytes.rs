//! `bytes`: a sequence is seen on a bus, or is not.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use decode::{Annotation, Decoding, Spec, Value};
use pipeline::Decoder;
use pipeline::rules::{BytePattern, Bytes};

use super::count::count_margin;
use crate::capture::Found;
use crate::evaluate::{Fault, Scene};
use crate::lane::Range;
use crate::report::{Place, Sight, Wrong};
use crate::words::{counted, hex, quantity};

/// Where on a bus something is.
#[derive(Clone)]
pub(super) struct Bus {
    channel: String,
    range: Range,
}

impl Bus {
    pub(super) fn new(channel: &str, range: Range) -> Self {
        Self {
            channel: channel.to_owned(),
            range,
        }
    }

    pub(super) fn has(&self, sample: u64) -> bool {
        (self.range.from..self.range.to).contains(&sample)
    }

    pub(super) fn place(&self, from: u64, to: u64) -> Place {
        // The end of a bit is known by its neighbours, and may lie behind the range.
        let to = to.min(self.range.to - 1).max(from);
        self.range.place(&self.channel, from, to)
    }

    pub(super) fn whole(&self) -> Place {
        self.place(self.range.from, self.range.to - 1)
    }
}

/// Decodes the capture and gives each annotation with the id of its class, until `take` says that it has enough.
pub(super) fn decode(
    scene: &Scene<'_>,
    decoder: &str,
    channels: &[(&str, &str)],
    options: &[(&str, &str)],
    take: &mut (dyn FnMut(&str, &Annotation) -> bool + Send),
) -> Result<(), Fault> {
    let Some(logic) = &scene.capture.logic else {
        return Err(Fault::Unfit(
            "the capture has no digital channels, and decoders take them".to_owned(),
        ));
    };
    // A name that looks like a number is still a name.
    let quoted: Vec<(&str, String)> = channels
        .iter()
        .map(|(role, name)| (*role, format!("\"{name}\"")))
        .collect();
    let map: Vec<(&str, &str)> = quoted
        .iter()
        .map(|(role, name)| (*role, name.as_str()))
        .collect();
    let spec = Spec::parse(decoder, &map, options, None, &logic.names);
    let spec = spec
        .map_err(|error| Fault::Unfit(format!("the decoder cannot be set up: {error}")))?
        .without_bits();
    let mut is_late = false;
    let decoding = Decoding::of_segment(&logic.segment, &spec)?;
    decoding.run(&mut |notes| {
        if (scene.stop)() {
            is_late = true;
            return ControlFlow::Break(());
        }
        for note in notes {
            let class = spec.decoder().classes.get(usize::from(note.class));
            let class = class.map_or("", |class| class.id.as_str());
            if !take(class, note) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    match is_late {
        true => Err(Fault::Late),
        false => Ok(()),
    }
}

/// A word of a bus.
#[derive(Debug, Clone, Copy)]
struct Word {
    value: u64,
    from: u64,
    to: u64,
}

/// The last words of a line.
struct Line {
    bus: Bus,
    words: VecDeque<Word>,
}

/// Sequences that nearly are the wanted one.
struct Near {
    right: usize,
    words: Vec<u64>,
    place: Place,
}

/// Looks for a sequence on the lines of a bus.
struct Search<'r> {
    pattern: &'r BytePattern,
    /// With I²C: the address to which words are taken, and whether those that come now are.
    address: Option<u64>,
    is_meant: bool,
    lines: Vec<(&'static str, Line)>,
    words: u64,
    found: u64,
    max: Option<u64>,
    first: Option<Place>,
    near: Option<Near>,
    wrong: Wrong,
}

impl Search<'_> {
    fn take(&mut self, class: &str, note: &Annotation) {
        let line = |class: &str| match class {
            "data-read" | "data-write" => "sda",
            "rx-data" => "rx",
            "tx-data" => "tx",
            "miso-data" | "miso-transfer" => "miso",
            "mosi-data" | "mosi-transfer" => "mosi",
            _ => "",
        };
        match (class, &note.value) {
            ("start" | "stop", _) => self.clear("sda"),
            ("miso-transfer" | "mosi-transfer", _) => self.clear(line(class)),
            ("address-read" | "address-write", Value::Number(address)) => {
                self.is_meant = self.address.is_none_or(|wanted| wanted == *address);
            }
            (_, Value::Number(value)) if !line(class).is_empty() && self.is_meant => {
                let word = Word {
                    value: *value,
                    from: note.start,
                    to: note.end,
                };
                self.word(line(class), word);
            }
            _ => {}
        }
    }

    fn clear(&mut self, role: &str) {
        let lines = self.lines.iter_mut().filter(|(own, _)| *own == role);
        lines.for_each(|(_, line)| line.words.clear());
    }

    fn word(&mut self, role: &str, word: Word) {
        let Some((_, line)) = self.lines.iter_mut().find(|(own, _)| *own == role) else {
            return;
        };
        if !line.bus.has(word.from) {
            return;
        }
        self.words += 1;
        let pattern = self.pattern.bytes();
        if line.words.len() == pattern.len() {
            line.words.pop_front();
        }
        line.words.push_back(word);
        if line.words.len() < pattern.len() {
            return;
        }
        let is_right = |(wanted, word): &(&Option<u8>, &Word)| {
            wanted.is_none_or(|wanted| u64::from(wanted) == word.value)
        };
        let right = pattern.iter().zip(&line.words).filter(is_right).count();
        let first = line.words.front().map_or(word.from, |word| word.from);
        let place = || line.bus.place(first, word.to);
        if right == pattern.len() {
            self.found += 1;
            self.first.get_or_insert_with(place);
            if self.max.is_some_and(|max| max < self.found) {
                self.wrong.add(place);
            }
        } else if self.near.as_ref().is_none_or(|near| near.right < right) {
            self.near = Some(Near {
                right,
                words: line.words.iter().map(|word| word.value).collect(),
                place: place(),
            });
        }
    }

    fn told(mut self, rule: &Bytes, lanes: Vec<String>) -> Sight {
        let min = rule.min();
        let passed = min <= self.found && self.max.is_none_or(|max| self.found <= max);
        let words = counted(self.words, "byte", "bytes");
        let first = self.wrong.places.first().cloned().or(self.first);
        let mut seen = match (self.found, &first) {
            (0, _) => format!("not seen in {words}"),
            (found, first) => {
                let times = counted(found, "time", "times");
                let at = first.as_ref().map_or(0.0, |place| place.from_s);
                format!("seen {times} in {words}, at {}", quantity(at, "s"))
            }
        };
        let mut place = first;
        if let Some(near) = self.near.filter(|near| self.found < min && near.right > 0) {
            let at = quantity(near.place.from_s, "s");
            let all = self.pattern.bytes().len();
            seen += &format!(
                "; nearest {} at {at}, {} of {all} right",
                hex(&near.words),
                near.right
            );
            place = Some(near.place);
        }
        if self.found < min {
            self.wrong.found = 1;
        }
        let whole = || self.lines.first().map(|(_, line)| line.bus.whole());
        Sight {
            passed,
            seen,
            place: place.or_else(whole),
            margin: Some(count_margin(self.found, min, self.max)),
            wrong: self.wrong,
            lanes,
            ..Sight::default()
        }
    }
}

pub(super) fn sight(scene: &Scene<'_>, rule: &Bytes) -> Result<Sight, Fault> {
    let decoder = match rule.decoder() {
        "i2c" => Decoder::I2c,
        "spi" => Decoder::Spi,
        _ => Decoder::Uart,
    };
    let named = decoder.channels(rule.channels(), |role| scene.capture.has_logic(role));
    let mut channels = Vec::new();
    for (role, name) in &named {
        let found = scene.capture.find(name).map_err(Fault::Unfit)?;
        let logic = scene.capture.logic.as_ref();
        let (Found::Logic(channel), Some(logic)) = (found, logic) else {
            return Err(Fault::Unfit(format!(
                "`{name}` is analog, and decoders take digital channels: name another one"
            )));
        };
        channels.push((role.as_str(), logic.names[channel].as_str()));
    }
    let Some(logic) = &scene.capture.logic else {
        return Err(Fault::Unfit(
            "the capture has no digital channels, and decoders take them".to_owned(),
        ));
    };
    let range = scene.range(logic.segment.samples(), logic.segment.sample_rate_hz())?;
    let lines = ["sda", "rx", "tx", "miso", "mosi"].into_iter();
    let lines = lines.filter_map(|role| {
        let (_, name) = channels.iter().find(|(own, _)| *own == role)?;
        let bus = Bus::new(name, range);
        let words = VecDeque::new();
        Some((role, Line { bus, words }))
    });
    let mut search = Search {
        pattern: &rule.bytes,
        address: rule.address().map(u64::from),
        is_meant: rule.address().is_none(),
        lines: lines.collect(),
        words: 0,
        found: 0,
        max: rule.max(),
        first: None,
        near: None,
        wrong: Wrong::default(),
    };
    let options: Vec<(&str, &str)> = rule.options().collect();
    decode(
        scene,
        rule.decoder(),
        &channels,
        &options,
        &mut |class, note| {
            search.take(class, note);
            true
        },
    )?;
    let lanes = channels.iter().map(|(_, name)| (*name).to_owned());
    Ok(search.told(rule, lanes.collect()))
}
