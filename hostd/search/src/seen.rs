//! What decoders say, and who looks for something in it.

use std::ops::{ControlFlow, Range};

use decode::segment::Segment;
use decode::{Annotation, Decoding, Spec, Value};

use crate::answers::Answers;
use crate::bind::{Known, of_decoder, roles};
use crate::bytes::Sequences;
use crate::error::SearchError;
use crate::marks::Marks;
use crate::query::{self, What};
use crate::run::{Done, Out, Scene};

/// A decoder, and what is looked for.
#[derive(Debug)]
pub(crate) struct Bus {
    spec: Spec,
    /// What annotations of each class are.
    classes: Vec<Seen>,
    what: What,
    line: Option<&'static str>,
    decoder: query::Decoder,
}

/// What an annotation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Start,
    RepeatedStart,
    Stop,
    /// The address was taken, or was not; or a byte.
    Ack(bool),
    /// The beginning of a transfer, to read or to write.
    Address {
        is_read: bool,
    },
    /// A word of a line.
    Word(&'static str),
    /// The chip is no longer selected.
    Deselected(&'static str),
    /// Something of a line that is looked for.
    Mark(&'static str),
    Other,
}

/// Takes annotations in their order.
pub(crate) trait Take {
    fn take(&mut self, seen: Seen, note: &Annotation, out: &mut Places<'_, '_>) -> Done;

    /// There is no more.
    fn end(&mut self, _out: &mut Places<'_, '_>) -> Done {
        Ok(())
    }
}

/// Where hits go: cut to the range.
pub(crate) struct Places<'p, 'o> {
    range: &'p Range<u64>,
    out: &'p mut Out<'o>,
}

impl Places<'_, '_> {
    /// The end of a bit is known by its neighbours, and may lie behind the range.
    pub(crate) fn hit(&mut self, from: u64, to: u64, text: String) -> Done {
        let last = self.range.end.saturating_sub(1);
        let from = from.clamp(self.range.start, last);
        self.out
            .hit(from, to.min(self.range.end).max(from + 1), text)
    }
}

impl Bus {
    pub(crate) fn new(
        bus: &query::Bus,
        settings: &[(String, String)],
        names: &[String],
        known: &Known<'_>,
    ) -> Result<Self, SearchError> {
        let id = bus.decoder.id();
        let all = decode::DECODERS.iter();
        let decoder = all.clone().find(|decoder| decoder.id == id);
        let decoder = decoder.expect("the decoders of the language are built in");
        let roles = roles(decoder, settings, names, known);
        let is_role = |name: &str| decoder.channels.iter().any(|role| role.id == name);
        let options = settings.iter().filter(|(name, _)| !is_role(name));
        let options: Vec<(&str, &str)> = options.map(pair).collect();
        // A role that is named twice is refused by the decoder.
        let map: Vec<(&str, &str)> = roles.iter().map(pair).collect();
        let classes: Vec<Seen> = decoder
            .classes
            .iter()
            .map(|class| seen(&class.id, &bus.what))
            .collect();
        let wanted = decoder.classes.iter().zip(&classes);
        let wanted = wanted.filter(|(_, seen)| **seen != Seen::Other);
        let wanted: Vec<&str> = wanted.map(|(class, _)| class.id.as_str()).collect();
        let spec = Spec::parse(id, &map, &options, Some(&wanted.join(",")), names);
        let spec = spec.map_err(|error| of_decoder(error, bus.decoder.example()))?;
        Ok(Self {
            spec,
            classes,
            what: bus.what.clone(),
            line: bus.line,
            decoder: bus.decoder,
        })
    }

    pub(crate) fn check(&self, segment: &Segment<'_>) -> Result<(), SearchError> {
        Decoding::of_segment(segment, &self.spec)?;
        Ok(())
    }

    pub(crate) fn find(&self, scene: &Scene<'_>, out: &mut Out<'_>) -> Done {
        match &self.what {
            What::Address(address) => self.run(scene, &mut Answers::new(*address), out),
            What::Bytes(bytes) => {
                let lines = self.decoder.lines().iter().copied();
                let lines = lines.filter(|line| self.line.is_none_or(|only| only == *line));
                let address = (self.decoder == query::Decoder::I2c).then_some(bytes.to);
                let mut sequences = Sequences::new(&bytes.pattern, lines, address);
                self.run(scene, &mut sequences, out)
            }
            What::Marks(_, text) => self.run(scene, &mut Marks::new(text, self.line), out),
        }
    }

    fn run(&self, scene: &Scene<'_>, taker: &mut (impl Take + Send), out: &mut Out<'_>) -> Done {
        let decoding = Decoding::of_segment(scene.segment, &self.spec)?;
        let decoding = decoding.within(scene.range.clone());
        let decoding = decoding.known_since(scene.since);
        let mut done = Ok(());
        let mut places = Places {
            range: &scene.range,
            out,
        };
        decoding.run(&mut |notes| {
            done = places.out.look().and_then(|()| {
                notes.iter().try_for_each(|note| {
                    let seen = self.classes.get(usize::from(note.class));
                    taker.take(seen.copied().unwrap_or(Seen::Other), note, &mut places)
                })
            });
            match done {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        done?;
        taker.end(&mut places)
    }
}

fn pair((name, value): &(String, String)) -> (&str, &str) {
    (name, value)
}

/// What annotations of a class are to one who looks for something.
fn seen(class: &str, what: &What) -> Seen {
    match what {
        What::Marks(classes, _) if !classes.contains(&class) => Seen::Other,
        What::Marks(..) => Seen::Mark(match class.split_once('-') {
            Some(("rx", _)) => "rx",
            Some(("tx", _)) => "tx",
            _ => "sda",
        }),
        What::Address(_) => match class {
            "start" => Seen::Start,
            "repeat-start" => Seen::RepeatedStart,
            "stop" => Seen::Stop,
            "ack" => Seen::Ack(true),
            "nack" => Seen::Ack(false),
            "address-read" => Seen::Address { is_read: true },
            "address-write" => Seen::Address { is_read: false },
            _ => Seen::Other,
        },
        What::Bytes(_) => match class {
            "start" => Seen::Start,
            "stop" => Seen::Stop,
            "address-read" => Seen::Address { is_read: true },
            "address-write" => Seen::Address { is_read: false },
            "data-read" | "data-write" => Seen::Word("sda"),
            "rx-data" => Seen::Word("rx"),
            "tx-data" => Seen::Word("tx"),
            "miso-data" => Seen::Word("miso"),
            "mosi-data" => Seen::Word("mosi"),
            "miso-transfer" => Seen::Deselected("miso"),
            "mosi-transfer" => Seen::Deselected("mosi"),
            _ => Seen::Other,
        },
    }
}

/// The number of an annotation that has one.
pub(crate) fn number(note: &Annotation) -> Option<u64> {
    match note.value {
        Value::Number(number) => Some(number),
        Value::Mark
        | Value::Direction
        | Value::Bit(_)
        | Value::Words(_)
        | Value::Text(_)
        | Value::Access(_) => None,
    }
}
