//! What is asked of a check, from the most general to the most specific: defaults, settings of the project,
//! `emi.rules.yaml` of the board, the run's own. The last one that sets a value wins.

mod argument;
mod cable;
mod clock;
mod file;
mod params;
mod standard;

use std::collections::BTreeMap;

pub use argument::quantity;
pub use cable::Cable;
pub use clock::Clock;
pub(crate) use clock::{ASSUMED_DUTY, ASSUMED_MODULATION_HZ};
pub use file::RulesFile;
pub(crate) use standard::Site;

use crate::board::{Net, NetId, NetKind, Speed};
use crate::finding::Severity;
use crate::pattern::Pattern;
use crate::rules::Rule;

/// The highest frequency that matters where nobody declared one.
pub(crate) const ASSUMED_MAX_FREQUENCY_HZ: f64 = 1e9;

/// The settings of a check.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    max_frequency_hz: Option<f64>,
    epsilon_r: Option<f64>,
    rules: BTreeMap<String, OfRule>,
    groups: Vec<Group>,
    suppressed: Vec<Suppressed>,
    clocks: Vec<Clock>,
    cables: Vec<Cable>,
    site: Site,
}

/// Settings of one rule.
#[derive(Clone, Debug, Default)]
struct OfRule {
    is_off: bool,
    severity: Option<Severity>,
    params: BTreeMap<String, f64>,
}

/// Settings of some nets.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    which: Which,
    kind: Option<NetKind>,
    speed: Option<Speed>,
    params: BTreeMap<String, f64>,
}

/// Which nets a group is of.
#[derive(Clone, Debug)]
enum Which {
    Named(Pattern),
    InClass(Pattern),
}

/// Findings that somebody decided about.
#[derive(Clone, Debug)]
pub(crate) struct Suppressed {
    rule: String,
    net: Option<Pattern>,
    /// Why, which is required.
    reason: String,
}

impl Settings {
    /// Takes in what is more specific than everything so far.
    #[must_use]
    pub fn with(mut self, file: RulesFile) -> Self {
        let more = file.settings;
        self.max_frequency_hz = more.max_frequency_hz.or(self.max_frequency_hz);
        self.epsilon_r = more.epsilon_r.or(self.epsilon_r);
        for (id, rule) in more.rules {
            let own = self.rules.entry(id).or_default();
            own.is_off = rule.is_off;
            own.severity = rule.severity.or(own.severity);
            own.params.extend(rule.params);
        }
        self.groups.extend(more.groups);
        self.suppressed.extend(more.suppressed);
        // What is said again about a net or a connector replaces what was said before.
        self.clocks
            .retain(|clock| more.clocks.iter().all(|new| new.net != clock.net));
        self.clocks.extend(more.clocks);
        self.cables.retain(|cable| {
            more.cables
                .iter()
                .all(|new| new.connector != cable.connector)
        });
        self.cables.extend(more.cables);
        self.site = self.site.with(more.site);
        self
    }

    /// The highest frequency that matters, in Hz, and whether somebody said so.
    pub(crate) fn max_frequency_hz(&self) -> (f64, bool) {
        let of_clocks = self.clocks.iter().map(|clock| knee_hz(clock.rise_s));
        let declared = self
            .max_frequency_hz
            .or_else(|| of_clocks.max_by(f64::total_cmp));
        (
            declared.unwrap_or(ASSUMED_MAX_FREQUENCY_HZ),
            declared.is_some(),
        )
    }

    /// The declared clocks.
    pub(crate) fn clocks(&self) -> &[Clock] {
        &self.clocks
    }

    /// The declared cables.
    pub(crate) fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// By which limits emission is judged.
    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    pub(crate) fn epsilon_r(&self) -> Option<f64> {
        self.epsilon_r
    }

    /// The rise time of a net in seconds: that of its clock, or what the highest frequency gives.
    pub(crate) fn rise_s(&self, net: &Net) -> f64 {
        let clock = self.clocks.iter().find(|clock| clock.net == net.name);
        clock.map_or_else(
            || 1.0 / (std::f64::consts::PI * self.max_frequency_hz().0),
            |clock| clock.rise_s,
        )
    }

    pub(crate) fn is_off(&self, rule: &Rule) -> bool {
        self.rules.get(rule.id).is_some_and(|rule| rule.is_off)
    }

    pub(crate) fn severity(&self, rule: &str) -> Option<Severity> {
        self.rules.get(rule)?.severity
    }

    /// A parameter of a rule, of a net if it is about one.
    ///
    /// # Panics
    /// If the rule has no such parameter, which is a mistake of the rule.
    pub(crate) fn param(&self, rule: &Rule, key: &str, net: Option<&Net>) -> f64 {
        let of_groups = net.and_then(|net| {
            let matching = self
                .groups
                .iter()
                .rev()
                .filter(|group| group.which.matches(net));
            matching.filter_map(|group| group.params.get(key)).next()
        });
        let of_rule = || self.rules.get(rule.id).and_then(|own| own.params.get(key));
        let default = || {
            rule.params
                .iter()
                .find(|param| param.key == key)
                .map(|param| &param.default)
        };
        *of_groups
            .or_else(of_rule)
            .or_else(default)
            .expect("a rule asks only for parameters that it declares")
    }

    pub(crate) fn kind(&self, net: &Net) -> Option<NetKind> {
        let matching = self
            .groups
            .iter()
            .rev()
            .filter(|group| group.which.matches(net));
        matching.filter_map(|group| group.kind).next()
    }

    /// The nets of every group that sets `key`, with its value.
    pub(crate) fn groups_with(&self, key: &str, nets: &[Net]) -> Vec<(Vec<NetId>, f64)> {
        let setting = self
            .groups
            .iter()
            .filter_map(|group| Some((group, *group.params.get(key)?)));
        let members = |group: &Group| {
            let members = nets
                .iter()
                .enumerate()
                .filter(|(_, net)| group.which.matches(net));
            members.map(|(id, _)| id).collect()
        };
        setting
            .map(|(group, value)| (members(group), value))
            .collect()
    }

    /// Whether the net of that name is a declared clock.
    pub(crate) fn is_clock(&self, net: &str) -> bool {
        self.clocks.iter().any(|clock| clock.net == net)
    }

    /// A declared speed; clocks are fast.
    pub(crate) fn speed(&self, net: &Net) -> Option<Speed> {
        let is_clock = self.is_clock(&net.name);
        let matching = self
            .groups
            .iter()
            .rev()
            .filter(|group| group.which.matches(net));
        matching
            .filter_map(|group| group.speed)
            .next()
            .or(is_clock.then_some(Speed::Fast))
    }

    /// Why findings of a rule on a net are not shown.
    pub(crate) fn suppressed(&self, rule: &str, net: &str) -> Option<&str> {
        let fits = |s: &&Suppressed| {
            s.rule == rule && s.net.as_ref().is_none_or(|pattern| pattern.matches(net))
        };
        self.suppressed
            .iter()
            .find(fits)
            .map(|suppressed| suppressed.reason.as_str())
    }
}

/// Up to where an edge has most of its energy: 1/(π·t_r).
fn knee_hz(rise_s: f64) -> f64 {
    1.0 / (std::f64::consts::PI * rise_s)
}

impl Which {
    fn matches(&self, net: &Net) -> bool {
        match self {
            Self::Named(pattern) => pattern.matches(&net.name),
            Self::InClass(pattern) => net.classes.iter().any(|class| pattern.matches(class)),
        }
    }
}
