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

impl Query {
    /// Fits the query to the digital channels of a capture, by their names in the segment's order. `i2c` are the names of the
    /// clock and the data line, if the capture knows them.
    ///
    /// A role of a decoder that `with` does not name has the channel of its name, in letters of any case.
    ///
    /// # Errors
    /// The capture has no such channel, or the decoder does not take the settings.
    pub fn bind(&self, names: &[String], i2c: Option<(&str, &str)>) -> Result<Search, SearchError> {
        let plan = match &self.kind {
            Kind::Bus(bus) => Plan::Bus(Bus::new(bus, &self.settings, names, i2c)?),
            _ if !self.settings.is_empty() => return Err(SearchError::NoDecoder),
            Kind::Pulse(pulse) => Plan::Pulses(Pulses {
                channel: channel(&pulse.channel, names)?,
                level: pulse.level,
                is_longer: pulse.is_longer,
                length: pulse.length,
            }),
            Kind::Gap(gap) => {
                let only = gap.channel.as_deref().map(|text| channel(text, names));
                let only = only.transpose()?;
                Plan::Gaps(Gaps {
                    name: only.as_ref().map(|only| only.name.clone()),
                    channels: only.map_or_else(|| all(names), |only| vec![only]),
                    edge: gap.edge,
                    length: gap.length,
                })
            }
            Kind::Edge(edge) => Plan::Edges(edges(edge, names)?),
            Kind::Near(near) => Plan::Near(Nears {
                edge: edges(&near.edge, names)?,
                other: edges(&near.other, names)?,
                side: near.side,
                is_not: near.is_not,
                length: near.length,
            }),
            Kind::Level(level) => Plan::Levels(Levels {
                channel: channel(&level.channel, names)?,
                level: level.level,
                length: level.length,
            }),
        };
        Ok(Search(plan))
    }
}

fn channel(text: &str, names: &[String]) -> Result<Channel, SearchError> {
    let number = find_channel(text, names).map_err(SearchError::Channel)?;
    let name = names.get(number).cloned().unwrap_or_default();
    Ok(Channel { number, name })
}

fn all(names: &[String]) -> Vec<Channel> {
    let numbered = names.iter().enumerate();
    let channels = numbered.map(|(number, name)| Channel {
        number,
        name: name.clone(),
    });
    channels.collect()
}

fn edges(of: &EdgeOf, names: &[String]) -> Result<Edges, SearchError> {
    Ok(Edges {
        channel: channel(&of.channel, names)?,
        edge: of.edge,
    })
}

/// Channels for a decoder's roles, in the notation of `find_channel`: those that are named, and those that have the name
/// of a role.
pub(crate) fn roles(
    decoder: &decode::Decoder,
    settings: &[(String, String)],
    names: &[String],
    i2c: Option<(&str, &str)>,
) -> Vec<(String, String)> {
    let is_role = |name: &str| decoder.channels.iter().any(|role| role.id == name);
    let named = settings.iter().filter(|(name, _)| is_role(name)).cloned();
    let mut roles: Vec<(String, String)> = named.collect();
    for role in &decoder.channels {
        if roles.iter().any(|(name, _)| *name == role.id) {
            continue;
        }
        let of_capture = i2c.and_then(|(scl, sda)| match (decoder.id.as_str(), role.id.as_str()) {
            ("i2c", "scl") => Some(scl),
            ("i2c", "sda") => Some(sda),
            _ => None,
        });
        let same = names
            .iter()
            .find(|name| name.eq_ignore_ascii_case(&role.id));
        if let Some(name) = of_capture.or(same.map(String::as_str)) {
            roles.push((role.id.clone(), format!("\"{name}\"")));
        }
    }
    roles
}

/// What an error of a decoder's settings comes to.
pub(crate) fn of_decoder(error: SpecError, example: &'static str) -> SearchError {
    match error {
        SpecError::UnknownChannel { .. } | SpecError::AmbiguousChannel { .. } => {
            SearchError::Channel(error)
        }
        other => SearchError::Decoder(other, example),
    }
}
