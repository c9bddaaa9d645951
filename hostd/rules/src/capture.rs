//! A stored capture as rules look at it.

use std::collections::BTreeMap;

use decode::analog::AnalogSegment;
use decode::find_channel;
use decode::gaps::Gaps;
use decode::segment::Segment;

/// The digital channels of a capture.
#[derive(Clone, Debug)]
pub struct Logic<'a> {
    pub(crate) segment: Segment<'a>,
    pub(crate) names: Vec<String>,
}

impl<'a> Logic<'a> {
    /// Channels by their names, in the order of the segment's.
    #[must_use]
    pub fn new(segment: Segment<'a>, names: Vec<String>) -> Self {
        Self { segment, names }
    }
}

/// An analog channel of a capture.
#[derive(Clone, Debug)]
pub struct Analog<'a> {
    /// Its samples.
    pub segment: AnalogSegment<'a>,
    /// What it is called.
    pub name: String,
    /// `V` or `A`.
    pub unit: String,
    /// The value of count 0, in that unit.
    pub offset: f64,
    /// The value of one count, in that unit.
    pub step: f64,
}

impl Analog<'_> {
    pub(crate) fn value(&self, count: u16) -> f64 {
        self.offset + f64::from(count) * self.step
    }
}

/// A capture with the names that rules may use.
#[derive(Clone, Debug)]
pub struct Capture<'a> {
    pub(crate) logic: Option<Logic<'a>>,
    pub(crate) analog: Vec<Analog<'a>>,
    /// Where the trigger lies, in seconds from the first sample.
    pub(crate) trigger_s: f64,
    /// Digital samples that were lost.
    pub(crate) gaps: Gaps,
    /// Names of channels by what rules call them.
    aliases: BTreeMap<String, String>,
}

/// A channel that was looked up.
pub(crate) enum Found {
    Logic(usize),
    Analog(usize),
}

impl<'a> Capture<'a> {
    /// Digital channels, analog ones, or both.
    #[must_use]
    pub fn new(logic: Option<Logic<'a>>, analog: Vec<Analog<'a>>) -> Self {
        Self {
            logic,
            analog,
            trigger_s: 0.0,
            gaps: Gaps::default(),
            aliases: BTreeMap::new(),
        }
    }

    /// Digital channels alone.
    #[must_use]
    pub fn of_logic(logic: Logic<'a>) -> Self {
        Self::new(Some(logic), Vec::new())
    }

    /// With the trigger so many seconds behind the first sample; without it, the first sample is the trigger.
    #[must_use]
    pub fn with_trigger(mut self, seconds: f64) -> Self {
        self.trigger_s = seconds;
        self
    }

    /// With digital samples that were lost: nothing is said of a rule that looks at some of them, and so it fails.
    #[must_use]
    pub fn with_gaps(mut self, gaps: Gaps) -> Self {
        self.gaps = gaps;
        self
    }

    /// With more names for channels: what rules call them, and what the capture does.
    #[must_use]
    pub fn with_names<'n>(mut self, names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Self {
        let names = names.into_iter();
        let owned = names.map(|(own, of)| (own.to_owned(), of.to_owned()));
        self.aliases.extend(owned);
        self
    }

    /// The channel that a rule means.
    pub(crate) fn find(&self, text: &str) -> Result<Found, String> {
        let meant = self.aliases.get(text).map_or(text, String::as_str);
        if let Some(at) = self.analog.iter().position(|analog| analog.name == meant) {
            return Ok(Found::Analog(at));
        }
        let names = self.logic.as_ref().map_or(&[][..], |logic| &logic.names);
        let found = find_channel(meant, names).map(Found::Logic);
        found.map_err(|error| {
            let analog = self.analog.iter().map(|analog| analog.name.as_str());
            let analog: Vec<&str> = analog.collect();
            match analog.is_empty() {
                true => error.to_string(),
                false => format!("{error}, and analog {}", analog.join(", ")),
            }
        })
    }

    /// The channel that has exactly this name, or that a rule means by it.
    pub(crate) fn find_exact(&self, name: &str) -> Result<Found, String> {
        let logic = self.logic.iter().flat_map(|logic| &logic.names);
        let found = logic.into_iter().position(|own| own == name);
        let found = found.filter(|_| !self.aliases.contains_key(name));
        found.map_or_else(|| self.find(name), |channel| Ok(Found::Logic(channel)))
    }

    /// Whether a rule may name a digital channel so.
    pub(crate) fn has_logic(&self, text: &str) -> bool {
        matches!(self.find(text), Ok(Found::Logic(_)))
    }
}
