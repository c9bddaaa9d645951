//! Rules about signals: what a capture must show. A file of them in, checked rules out, or everything that is wrong with
//! the file and where, as with pipelines. What they come to on a capture the crate `rules` says.
//!
//! ```
//! let text = "
//! version: 1
//! rules:
//!   - name: clock
//!     frequency: { channel: clk, value: 1MHz, tolerance: 1% }
//!   - name: reset is held
//!     pulse: { channel: rst, level: low, min: 10us }
//! ";
//! let file = pipeline::rules::parse(text).expect("it is right");
//! assert_eq!(file.rules()[1].kind_name(), "pulse");
//!
//! let report = pipeline::rules::parse("version: 1\nrules: [{ name: a, plse: {} }]").expect_err("a key is wrong");
//! assert!(report.render("rules.yaml").contains("did you mean `pulse`?"));
//! ```

mod check;
mod kinds;
mod scalars;
mod source;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::definition::Version;
use crate::limits::RULES_MAX;
use crate::path::Path;
use crate::problem::{Finding, Report};
use crate::scalars::{Label, List, Names};
use crate::{reading, yaml};
pub use kinds::{
    Align, Analog, Bytes, Count, Duty, Frequency, Golden, I2c, Kind, Level, Polarity, Pulse,
    Settles, When, Within,
};
pub use scalars::{
    BytePattern, Direction, EdgeOf, Hertz, HertzTolerance, Name, Percent, Quantity,
    QuantityTolerance, Time, Unit,
};

/// Rules about the signals of a capture, format 1.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Rules")]
pub struct RuleFile {
    /// The format, 1.
    #[allow(dead_code, reason = "reading it is its check")]
    pub(crate) version: Version,
    /// What the rules call channels of the capture: `{ scl: LA3 }`. Other channels have their own names.
    #[serde(default)]
    pub(crate) channels: Names<Name, Name>,
    /// What must hold, each by itself.
    pub(crate) rules: List<Rule, RULES_MAX>,
}

/// One rule: exactly one kind, and where it looks.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = one_kind()))]
pub struct Rule {
    /// What it is called in results. No other rule of the list has this name.
    pub(crate) name: Label,
    /// Looks from this time on, counted from the trigger. Without it from the first sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<Time>,
    /// Looks up to this time, counted from the trigger; the capture must reach it. Without it to the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<Time>,
    /// A signal has a frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frequency: Option<Frequency>,
    /// A signal is high for a part of its periods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duty: Option<Duty>,
    /// An edge follows another one in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<Within>,
    /// An I²C address is answered, or is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) i2c: Option<I2c>,
    /// Bytes are seen on a bus, one after the other, or are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<Bytes>,
    /// So many edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<Count>,
    /// No pulse is shorter or longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pulse: Option<Pulse>,
    /// A signal has a level at a time after the trigger or an edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<Level>,
    /// An analog signal stays within bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) analog: Option<Analog>,
    /// An analog signal comes to a value in time, and stays there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settles: Option<Settles>,
    /// Signals are those of a good capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) golden: Option<Golden>,
}

/// The kinds of rules, in the order in which documents list them.
pub const KINDS: [&str; 11] = [
    "frequency",
    "duty",
    "within",
    "i2c",
    "bytes",
    "count",
    "pulse",
    "level",
    "analog",
    "settles",
    "golden",
];

fn one_kind() -> Value {
    KINDS
        .iter()
        .map(|kind| serde_json::json!({"required": [kind]}))
        .collect()
}

/// Reads a file of rules, YAML or JSON, and checks all of it.
///
/// # Errors
/// Everything that is wrong, as far as it can be told at once.
pub fn parse(text: &str) -> Result<RuleFile, Box<Report>> {
    let refuse = |root: Option<&yaml::Node>, findings: Vec<Finding>| {
        Box::new(Report::new(text, root, &crate::with_blank(text, findings)))
    };
    let root = yaml::read(text).map_err(|finding| refuse(None, vec![*finding]))?;
    let reading::Reading {
        value,
        mut findings,
        has_holes,
    } = reading::read::<RuleFile>(&root);
    let Some(file) = value else {
        return Err(refuse(Some(&root), findings));
    };
    if !has_holes {
        let path = Path::default().key("rules");
        let later = check::check(&path, &file.rules).into_iter();
        let later: Vec<Finding> = later
            .filter(|finding| !crate::follows(finding, &findings))
            .collect();
        findings.extend(later);
    }
    match findings.is_empty() {
        true => Ok(file),
        false => Err(refuse(Some(&root), findings)),
    }
}

/// JSON Schema 2020-12 of a file of rules.
#[must_use]
pub fn schema() -> Value {
    crate::schema::of::<RuleFile>()
}

pub(crate) use check::check;
pub(crate) use source::RuleSource;

impl RuleFile {
    /// The rules, in their order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Names of channels of the capture, by the names that the rules have for them.
    pub fn channels(&self) -> impl Iterator<Item = (&str, &str)> {
        let channels = self.channels.iter();
        channels.map(|(own, of)| (own.as_str(), of.as_str()))
    }
}

/// The ids of the captures that rules compare with, each once, with the place of the first rule that names it.
#[must_use]
pub fn golden_captures(rules: &[Rule]) -> Vec<(usize, &str)> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (place, rule) in rules.iter().enumerate() {
        if let Some(id) = rule.golden_capture()
            && found.iter().all(|(_, other)| *other != id)
        {
            found.push((place, id));
        }
    }
    found
}

impl Rule {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The time from which on it looks, counted from the trigger.
    #[must_use]
    pub fn from(&self) -> Option<Time> {
        self.from
    }

    /// The time up to which it looks, counted from the trigger.
    #[must_use]
    pub fn to(&self) -> Option<Time> {
        self.to
    }

    fn kinds(&self) -> [Option<Kind<'_>>; KINDS.len()] {
        [
            self.frequency.as_ref().map(Kind::Frequency),
            self.duty.as_ref().map(Kind::Duty),
            self.within.as_ref().map(Kind::Within),
            self.i2c.as_ref().map(Kind::I2c),
            self.bytes.as_ref().map(Kind::Bytes),
            self.count.as_ref().map(Kind::Count),
            self.pulse.as_ref().map(Kind::Pulse),
            self.level.as_ref().map(Kind::Level),
            self.analog.as_ref().map(Kind::Analog),
            self.settles.as_ref().map(Kind::Settles),
            self.golden.as_ref().map(Kind::Golden),
        ]
    }

    /// The kinds that are given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let kinds = self.kinds();
        let given = KINDS.iter().zip(&kinds).filter(|(_, kind)| kind.is_some());
        given.map(|(name, _)| *name).collect()
    }

    /// What it asks for.
    ///
    /// # Panics
    /// Of a rule that was not checked: [`parse`] gives none with no kind.
    #[must_use]
    pub fn kind(&self) -> Kind<'_> {
        let mut kinds = self.kinds().into_iter().flatten();
        kinds.next().expect("a checked rule has one kind")
    }

    /// The name of its kind, as it is written.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        self.given().first().copied().unwrap_or_default()
    }

    /// Channels that it names, but for those of decoders and of golden files.
    pub(crate) fn named(&self) -> Vec<&Name> {
        match self.kind() {
            Kind::Frequency(rule) => vec![&rule.channel],
            Kind::Duty(rule) => vec![&rule.channel],
            Kind::Within(rule) => vec![&rule.edge.channel, &rule.after.channel],
            Kind::I2c(rule) => vec![&rule.scl, &rule.sda],
            Kind::Count(rule) => vec![&rule.edge.channel],
            Kind::Pulse(rule) => vec![&rule.channel],
            Kind::Level(rule) => {
                let after = rule.after.iter().map(|edge| &edge.channel);
                after.chain([&rule.channel]).collect()
            }
            Kind::Analog(rule) => vec![&rule.channel],
            Kind::Settles(rule) => {
                let after = rule.after.iter().map(|edge| &edge.channel);
                after.chain([&rule.channel]).collect()
            }
            Kind::Bytes(_) | Kind::Golden(_) => Vec::new(),
        }
    }

    /// The golden file that it compares with.
    #[must_use]
    pub fn golden_file(&self) -> Option<&str> {
        self.golden.as_ref().and_then(Golden::file)
    }

    /// The id of the capture that it compares with.
    #[must_use]
    pub fn golden_capture(&self) -> Option<&str> {
        self.golden.as_ref().and_then(Golden::capture)
    }

    /// The channels of what it compares with that alone are compared; none: all.
    #[must_use]
    pub fn golden_channels(&self) -> &[Name] {
        self.golden.as_ref().map_or(&[], Golden::channels)
    }
}
