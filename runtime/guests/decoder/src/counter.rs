//! Counts the edges of a line, once from changes and once from samples.

use hostd_plugin::decoder::{
    Channel, Class, Decoder, Description, Found, Input, Options, Row, Setup, option,
};

use crate::crimes;

const EDGE: u32 = 0;
const TOTAL: u32 = 1;

const CHANNELS: &[Channel] = &[
    Channel::required("line", "The line"),
    Channel::optional("more", "Another"),
];

const OPTIONS: &[Options] = &[
    Options::any("crime", "What to do that must not be", "none"),
    Options::one_of(
        "when",
        "When to do it",
        "late",
        &["begin", "late", "finish"],
    ),
];

const CLASSES: &[Class] = &[
    Class::new("edge", "Edge"),
    Class::new("total", "Edges in all").decimal(),
];

const ROWS: &[Row] = &[Row::new("totals", "Totals", &["total"])];

/// From changes.
pub(crate) struct Changes(Counter);

/// From samples.
pub(crate) struct Samples(Counter);

struct Counter {
    crime: String,
    when: String,
    edges: u64,
    is_done: bool,
    last: Option<u8>,
}

impl Counter {
    fn new(setup: &Setup) -> Result<Self, String> {
        let counter = Self {
            crime: option(setup, "crime").to_owned(),
            when: option(setup, "when").to_owned(),
            edges: 0,
            is_done: false,
            last: None,
        };
        if counter.crime == "refuse" {
            return Err("this\ncrime is refused".to_owned());
        }
        if counter.when == "begin" {
            crimes::commit(&counter.crime, &mut Found::default());
        }
        Ok(counter)
    }

    fn level(&mut self, at: u64, levels: u8, found: &mut Found) {
        if self.when == "late" && self.edges == 2 && !self.is_done {
            self.is_done = true;
            crimes::commit(&self.crime, found);
        }
        let level = levels & 1;
        if self.last.is_some_and(|last| last != level) {
            self.edges += 1;
            found.mark(at, at, EDGE);
        }
        self.last = Some(level);
    }

    fn finish(&self, end: u64, found: &mut Found) {
        if self.when == "finish" {
            crimes::commit(&self.crime, found);
        }
        found.number(0, end, TOTAL, self.edges);
    }
}

impl Decoder for Changes {
    const DESCRIPTION: Description = Description {
        channels: CHANNELS,
        options: OPTIONS,
        classes: CLASSES,
        rows: ROWS,
        ..Description::of("edges", "Edges")
    };

    fn new(setup: &Setup) -> Result<Self, String> {
        Counter::new(setup).map(Self)
    }

    fn change(&mut self, at: u64, levels: u8, found: &mut Found) {
        self.0.level(at, levels, found);
    }

    fn finish(&mut self, end: u64, found: &mut Found) {
        self.0.finish(end, found);
    }
}

impl Decoder for Samples {
    const DESCRIPTION: Description = Description {
        input: Input::Samples,
        id: "samples",
        ..Changes::DESCRIPTION
    };

    fn new(setup: &Setup) -> Result<Self, String> {
        Counter::new(setup).map(Self)
    }

    fn change(&mut self, _: u64, _: u8, _: &mut Found) {}

    fn samples(&mut self, start: u64, levels: &[u8], found: &mut Found) {
        // In each call, unlike what is done once.
        if self.0.crime == "slow" {
            crimes::commit(&self.0.crime, found);
        }
        for (at, levels) in (start..).zip(levels) {
            self.0.level(at, *levels, found);
        }
    }

    fn finish(&mut self, end: u64, found: &mut Found) {
        self.0.finish(end, found);
    }
}
