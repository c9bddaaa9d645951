//! Fits a query to the channels of a capture.

use decode::{SpecError, find_channel};

use crate::edges::{Channel, Edges};
use crate::error::SearchError;
use crate::gaps::Gaps;
use crate::levels::Levels;
use crate::near::Nears;
use crate::pulses::Pulses;
use crate::query::{EdgeOf, Kind, Query};
use crate::run::{Plan, Search};
use crate::seen::Bus;

/// What a capture knows of its channels besides their names.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// What people call them, each with the name of the channel.
    pub labels: Vec<(&'a str, &'a str)>,
    /// The names of the clock and the data line of an I²C bus.
    pub i2c: Option<(&'a str, &'a str)>,
}

impl Known<'_> {
    /// A text that names a channel, in the notation of `find_channel`: a label stands for the name of its channel.
    fn meant(&self, text: &str) -> String {
        let plain = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        let plain = plain.unwrap_or(text);
        let labelled = self.labels.iter().find(|(label, _)| *label == plain);
        labelled.map_or_else(|| text.to_owned(), |(_, name)| format!("\"{name}\""))
    }

    /// What people call a channel.
    fn shown(&self, name: &str) -> String {
        let labelled = self.labels.iter().find(|(_, own)| *own == name);
        labelled.map_or(name, |(label, _)| label).to_owned()
    }
}

impl Query {
    /// Fits the query to the digital channels of a capture, by their names in the segment's order and by what else is known.
    ///
    /// A role of a decoder that `with` does not name has the channel with its label or name, in letters of any case.
    ///
    /// # Errors
    /// The capture has no such channel, or the decoder does not take the settings.
    pub fn bind(&self, names: &[String], known: &Known<'_>) -> Result<Search, SearchError> {
        let plan = match &self.kind {
            Kind::Bus(bus) => {
                let bus = Bus::new(bus, &self.settings, names, known)?;
                Plan::Bus(Box::new(bus))
            }
            _ if !self.settings.is_empty() => return Err(SearchError::NoDecoder),
            Kind::Pulse(pulse) => Plan::Pulses(Pulses {
                channel: channel(&pulse.channel, names, known)?,
                level: pulse.level,
                is_longer: pulse.is_longer,
                length: pulse.length,
            }),
            Kind::Gap(gap) => {
                let only = gap
                    .channel
                    .as_deref()
                    .map(|text| channel(text, names, known));
                let only = only.transpose()?;
                Plan::Gaps(Gaps {
                    name: only.as_ref().map(|only| only.name.clone()),
                    channels: only.map_or_else(|| all(names, known), |only| vec![only]),
                    edge: gap.edge,
                    length: gap.length,
                })
            }
            Kind::Edge(edge) => Plan::Edges(edges(edge, names, known)?),
            Kind::Near(near) => Plan::Near(Nears {
                edge: edges(&near.edge, names, known)?,
                other: edges(&near.other, names, known)?,
                side: near.side,
                is_not: near.is_not,
                length: near.length,
            }),
            Kind::Level(level) => Plan::Levels(Levels {
                channel: channel(&level.channel, names, known)?,
                level: level.level,
                length: level.length,
            }),
        };
        Ok(Search::new(plan))
    }
}

fn channel(text: &str, names: &[String], known: &Known<'_>) -> Result<Channel, SearchError> {
    let found = find_channel(&known.meant(text), names);
    let number = found.map_err(|error| SearchError::Channel(error.into()))?;
    let name = names.get(number).map_or("", String::as_str);
    Ok(Channel {
        number,
        name: known.shown(name),
    })
}

fn all(names: &[String], known: &Known<'_>) -> Vec<Channel> {
    let numbered = names.iter().enumerate();
    let channels = numbered.map(|(number, name)| Channel {
        number,
        name: known.shown(name),
    });
    channels.collect()
}

fn edges(of: &EdgeOf, names: &[String], known: &Known<'_>) -> Result<Edges, SearchError> {
    Ok(Edges {
        channel: channel(&of.channel, names, known)?,
        edge: of.edge,
    })
}

/// Channels for a decoder's roles, in the notation of `find_channel`: those that are named, and those that have the name
/// of a role.
pub(crate) fn roles(
    decoder: &decode::Decoder,
    settings: &[(String, String)],
    names: &[String],
    known: &Known<'_>,
) -> Vec<(String, String)> {
    let is_role = |name: &str| decoder.channels.iter().any(|role| role.id == name);
    let named = settings.iter().filter(|(name, _)| is_role(name));
    let named = named.map(|(role, channel)| (role.clone(), known.meant(channel)));
    let mut roles: Vec<(String, String)> = named.collect();
    for role in &decoder.channels {
        if roles.iter().any(|(name, _)| *name == role.id) {
            continue;
        }
        let of_bus = |(scl, sda)| match (decoder.id.as_str(), role.id.as_str()) {
            ("i2c", "scl") => Some(scl),
            ("i2c", "sda") => Some(sda),
            _ => None,
        };
        let is_it = |name: &str| name.eq_ignore_ascii_case(&role.id);
        let labelled = known.labels.iter().find(|(label, _)| is_it(label));
        let of_bus = known.i2c.and_then(of_bus);
        let same = names.iter().find(|name| is_it(name));
        let found = labelled.map(|(_, name)| *name).or(of_bus);
        if let Some(name) = found.or(same.map(String::as_str)) {
            roles.push((role.id.clone(), format!("\"{name}\"")));
        }
    }
    roles
}

/// What an error of a decoder's settings comes to.
pub(crate) fn of_decoder(error: SpecError, example: &'static str) -> SearchError {
    match error {
        SpecError::UnknownChannel { .. } | SpecError::AmbiguousChannel { .. } => {
            SearchError::Channel(error.into())
        }
        other => SearchError::Decoder(other.into(), example),
    }
}
