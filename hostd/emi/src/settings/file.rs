//! `emi.rules.yaml`: what it may hold, and refusals that say where.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_saphyr::{Budget, DuplicateKeyPolicy, MergeKeyPolicy, Options};

use super::standard::{Class, Distance, Site, Standard};
use super::{Cable, Clock, Group, OfRule, Settings, Suppressed, Which};
use crate::board::{NetKind, Speed};
use crate::finding::Severity;
use crate::pattern::Pattern;
use crate::refusal::{Position, Refusal};
use crate::rules::RULES;

/// The version that is read.
pub(super) const VERSION: u32 = 1;

/// Most bytes of a rules file.
pub(super) const BYTES_MAX: usize = 1 << 20;

/// Most groups, clocks or decisions: each is compared with every net.
const ENTRIES_MAX: usize = 1000;

/// Most cables: what each may carry takes up to half a second.
const CABLES_MAX: usize = 50;

/// Rules that are set, with notes about what is unknown in them.
#[derive(Debug, Default)]
pub struct RulesFile {
    pub(super) settings: Settings,
    /// What was not understood and therefore does nothing.
    pub notes: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    pub(super) version: u32,
    #[serde(default)]
    pub(super) board: BoardText,
    #[serde(default)]
    pub(super) rules: BTreeMap<String, RuleText>,
    #[serde(default)]
    pub(super) groups: Vec<GroupText>,
    #[serde(default)]
    pub(super) suppress: Vec<SuppressText>,
    #[serde(default)]
    pub(super) clocks: Vec<Clock>,
    #[serde(default)]
    pub(super) cables: Vec<Cable>,
    pub(super) standard: Option<Standard>,
    pub(super) class: Option<Class>,
    pub(super) distance_m: Option<Distance>,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoardText {
    pub(super) max_frequency_hz: Option<f64>,
    pub(super) epsilon_r: Option<f64>,
    /// At which frequency that is; read for the sake of files that have it.
    pub(super) epsilon_r_at_hz: Option<f64>,
}

/// `false`, `true`, or what is different.
#[derive(Default)]
pub(super) struct RuleText {
    is_off: bool,
    settings: RuleSettings,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleSettings {
    severity: Option<Severity>,
    #[serde(default)]
    params: BTreeMap<String, f64>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupText {
    r#match: Option<String>,
    netclass: Option<String>,
    kind: Option<KindText>,
    speed: Option<SpeedText>,
    #[serde(default)]
    params: BTreeMap<String, f64>,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindText {
    Ground,
    Power,
    Signal,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum SpeedText {
    Fast,
    Slow,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SuppressText {
    rule: String,
    net: Option<String>,
    reason: String,
}

impl<'de> Deserialize<'de> for RuleText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

struct RuleVisitor;

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = RuleText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`false`, or `severity` and `params`")
    }

    fn visit_bool<E: de::Error>(self, is_on: bool) -> Result<RuleText, E> {
        Ok(RuleText {
            is_off: !is_on,
            settings: RuleSettings::default(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RuleText, A::Error> {
        let settings = RuleSettings::deserialize(MapAccessDeserializer::new(map))?;
        Ok(RuleText {
            is_off: false,
            settings,
        })
    }
}

impl RulesFile {
    /// Reads a rules file.
    ///
    /// # Errors
    /// What is no YAML, no rules file, or a value that cannot be, with line and column where they are known.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > BYTES_MAX {
            return Err(Refusal::whole(format!(
                "the rules file has more than {BYTES_MAX} bytes"
            )));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| Refusal {
            at: Some(Position::of(bytes, error.valid_up_to())),
            message: "the rules file is not UTF-8".to_owned(),
        })?;
        let text: Text = serde_saphyr::from_str_with_options(text, options())
            .map_err(|error| refusal(&error))?;
        settings(text)
    }
}

fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_anchors = 0;
    budget.max_aliases = 0;
    budget.max_documents = 1;
    budget.max_depth = 16;
    budget.flow_nesting_limit = 16;
    budget.max_nodes = 50_000;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.merge_keys = MergeKeyPolicy::Error;
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.strict_booleans = true;
    options.with_snippet = false;
    options
}

fn refusal(error: &serde_saphyr::Error) -> Refusal {
    let at = error.location().map(|location| Position {
        line: usize::try_from(location.line()).unwrap_or(usize::MAX),
        column: usize::try_from(location.column()).unwrap_or(usize::MAX),
    });
    // Values of strangers are not repeated at length.
    let message: String = error
        .without_snippet()
        .to_string()
        .chars()
        .take(300)
        .collect();
    Refusal { at, message }
}

/// Settings of what was read, if they can be.
pub(super) fn settings(text: Text) -> Result<RulesFile, Refusal> {
    if text.version != VERSION {
        return Err(Refusal::whole(format!(
            "the rules file is of version {}; this reads version {VERSION}",
            text.version
        )));
    }
    check_lists(&text)?;
    let mut file = RulesFile::default();
    file.board(&text.board)?;
    for (id, rule) in text.rules {
        file.rule(id, rule)?;
    }
    for group in text.groups {
        file.group(group)?;
    }
    for entry in text.suppress {
        if entry.reason.trim().is_empty() {
            return Err(Refusal::whole(format!(
                "`suppress` of {} needs a reason that says why",
                entry.rule
            )));
        }
        file.note_unknown_rule(&entry.rule);
        let net = entry.net.as_deref().map(Pattern::new);
        file.settings.suppressed.push(Suppressed {
            rule: entry.rule,
            net,
            reason: entry.reason,
        });
    }
    file.settings.cables = text.cables;
    file.settings.site = Site {
        standard: text.standard,
        class: text.class,
        distance: text.distance_m,
    };
    file.settings.clocks = text.clocks;
    Ok(file)
}

/// Refuses lists that are too long or say two things about one net or connector.
fn check_lists(text: &Text) -> Result<(), Refusal> {
    let longest = text
        .groups
        .len()
        .max(text.suppress.len())
        .max(text.clocks.len());
    if longest > ENTRIES_MAX {
        return Err(Refusal::whole(format!(
            "the rules file has a list of more than {ENTRIES_MAX} entries"
        )));
    }
    if text.cables.len() > CABLES_MAX {
        return Err(Refusal::whole(format!(
            "the rules file has more than {CABLES_MAX} cables"
        )));
    }
    once(text.clocks.iter().map(|clock| &clock.net), "clock")?;
    let connectors = text.cables.iter().map(|cable| &cable.connector);
    once(connectors, "cable at")
}

impl RulesFile {
    fn board(&mut self, text: &BoardText) -> Result<(), Refusal> {
        let declared = |value: Option<f64>, least, name| {
            value.map(|value| above(value, least, name)).transpose()
        };
        declared(text.epsilon_r_at_hz, 0.0, "epsilon_r_at_hz")?;
        self.settings.max_frequency_hz = declared(text.max_frequency_hz, 0.0, "max_frequency_hz")?;
        self.settings.epsilon_r = declared(text.epsilon_r, 0.999_999, "epsilon_r")?;
        Ok(())
    }

    fn rule(&mut self, id: String, text: RuleText) -> Result<(), Refusal> {
        self.note_unknown_rule(&id);
        self.check_params(&text.settings.params, Some(&id))?;
        let of_rule = OfRule {
            is_off: text.is_off,
            severity: text.settings.severity,
            params: text.settings.params,
        };
        self.settings.rules.insert(id, of_rule);
        Ok(())
    }

    fn group(&mut self, text: GroupText) -> Result<(), Refusal> {
        let which = match (&text.r#match, &text.netclass) {
            (Some(name), None) => Which::Named(Pattern::new(name)),
            (None, Some(class)) => Which::InClass(Pattern::new(class)),
            _ => return Err(Refusal::whole("a group has either `match` or `netclass`")),
        };
        self.check_params(&text.params, None)?;
        let kind = text.kind.map(|kind| match kind {
            KindText::Ground => NetKind::Ground,
            KindText::Power => NetKind::Power,
            KindText::Signal => NetKind::Signal,
        });
        let speed = text.speed.map(|speed| match speed {
            SpeedText::Fast => Speed::Fast,
            SpeedText::Slow => Speed::Slow,
        });
        self.settings.groups.push(Group {
            which,
            kind,
            speed,
            params: text.params,
        });
        Ok(())
    }

    fn note_unknown_rule(&mut self, id: &str) {
        if RULES.iter().all(|rule| rule.id != id) {
            self.notes.push(format!(
                "the rules file names a rule `{id}`, which there is not"
            ));
        }
    }

    fn check_params(
        &mut self,
        params: &BTreeMap<String, f64>,
        rule: Option<&str>,
    ) -> Result<(), Refusal> {
        for (key, value) in params {
            above(*value, -1e-300, key)?;
            let mut rules = RULES
                .iter()
                .filter(|known| rule.is_none_or(|id| id == known.id));
            if !rules.any(|known| known.params.iter().any(|param| param.key == key)) {
                self.notes.push(format!(
                    "the rules file sets `{key}`, which no rule there uses"
                ));
            }
        }
        Ok(())
    }
}

/// Refuses a list that says two things about one net or connector.
fn once<'a>(names: impl Iterator<Item = &'a String>, what: &str) -> Result<(), Refusal> {
    let mut known = BTreeSet::new();
    let mut names = names.filter(|name| !known.insert(name.as_str()));
    names.next().map_or(Ok(()), |name| {
        let name: String = name.chars().take(100).collect();
        Err(Refusal::whole(format!(
            "the rules file has the {what} `{name}` twice"
        )))
    })
}

fn above(value: f64, least: f64, name: &str) -> Result<f64, Refusal> {
    if value.is_finite() && least < value {
        Ok(value)
    } else {
        Err(Refusal::whole(format!(
            "`{name}` of the rules file cannot be {value}"
        )))
    }
}
