//! The route table: built from what the handlers declare, matched segment by segment.

use std::collections::HashMap;

use super::{people, percent};
use identity::Credential;
use runtime::{Credentials, Route};

/// Path prefix of every handler route.
pub(crate) const API_BASE: &str = "/api";

/// `/api/benchpod/…` is `/api/bench/…` for published clients.
const ALIAS: (&str, &str) = ("benchpod", "bench");

/// How patterns begin whose first parameter is a device's id.
const OF_DEVICE: &str = "/bench/devices/{id}";

/// Method of routes that take WebSocket upgrades.
pub const SOCKET: &str = "WS";

/// Longest accepted path in bytes.
pub(crate) const PATH_BYTES_MAX: usize = 2048;

#[derive(Debug, PartialEq, Eq)]
enum Segment {
    Literal(String),
    /// `{name}`: one segment.
    Param,
    /// `{name...}`: the rest of the path.
    Rest,
    /// The same, or nothing, whatever it looks like: see [`RouteTable::mount`].
    Everything,
}

/// One route of one handler group.
#[derive(Debug)]
pub struct Entry {
    /// Index into the list of loaded groups.
    pub group: usize,
    /// Index into that group's routes.
    pub route: u32,
    pub declared: Route,
    segments: Vec<Segment>,
}

/// Why routes cannot form a table.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    #[error("route {name}: pattern {pattern} is malformed: {reason}")]
    Pattern {
        name: String,
        pattern: String,
        reason: &'static str,
    },
    #[error("routes {first} and {second} both answer {method} {pattern}")]
    Twice {
        first: String,
        second: String,
        method: String,
        pattern: String,
    },
    #[error("route {name}: {method} is not a method hostd serves")]
    Method { name: String, method: String },
}

/// The result of a look-up by path and method.
#[derive(Debug)]
pub enum Match<'t> {
    Found {
        entry: &'t Entry,
        params: Vec<String>,
    },
    /// The path exists for other methods: the `Allow` value.
    OtherMethod(String),
    None,
}

/// All routes, by number of segments for a short linear search.
#[derive(Debug, Default)]
pub struct RouteTable {
    by_length: HashMap<usize, Vec<Entry>>,
    open_ended: Vec<Entry>,
}

impl RouteTable {
    /// Add every route of group number `group`.
    ///
    /// # Errors
    /// A pattern is malformed, a method is unknown, or one route hides another.
    pub fn add(&mut self, group: usize, routes: &[Route]) -> Result<(), RouteError> {
        self.extend(group, routes, |segments| segments)
    }

    /// Add routes whose patterns end with `{name...}`, which take every path below, also one that ends with a slash, has empty
    /// segments or is not text once it is decoded, and the path without anything below it. They have no parameters.
    ///
    /// # Errors
    /// As [`RouteTable::add`].
    pub fn mount(&mut self, group: usize, routes: &[Route]) -> Result<(), RouteError> {
        self.extend(group, routes, |mut segments| {
            if segments.last() == Some(&Segment::Rest) {
                segments.pop();
                segments.push(Segment::Everything);
            }
            segments
        })
    }

    fn extend(
        &mut self,
        group: usize,
        routes: &[Route],
        as_meant: fn(Vec<Segment>) -> Vec<Segment>,
    ) -> Result<(), RouteError> {
        for (index, declared) in (0u32..).zip(routes) {
            if !matches!(
                declared.method.as_str(),
                "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | SOCKET
            ) {
                return Err(RouteError::Method {
                    name: declared.name.clone(),
                    method: declared.method.clone(),
                });
            }
            let segments = as_meant(parse(declared)?);
            let open = matches!(segments.last(), Some(Segment::Rest | Segment::Everything));
            let list = if open {
                &mut self.open_ended
            } else {
                self.by_length.entry(segments.len()).or_default()
            };
            if let Some(twin) = list
                .iter()
                .find(|e| e.method() == http_method(declared) && e.segments == segments)
            {
                return Err(RouteError::Twice {
                    first: twin.declared.name.clone(),
                    second: declared.name.clone(),
                    method: declared.method.clone(),
                    pattern: declared.pattern.clone(),
                });
            }
            list.push(Entry {
                group,
                route: index,
                declared: declared.clone(),
                segments,
            });
            // Literals before placeholders, so that the first hit is the most specific one.
            list.sort_by_key(|e| {
                e.segments
                    .iter()
                    .map(|s| !matches!(s, Segment::Literal(_)))
                    .collect::<Vec<_>>()
            });
        }
        Ok(())
    }

    /// Every route, in no promised order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.by_length.values().flatten().chain(&self.open_ended)
    }

    /// Find the route for a request, at its own path or at its short one for people. `HEAD` is answered by `GET`.
    #[must_use]
    pub fn find(&self, method: &str, path: &str) -> Match<'_> {
        let path = people::endpoint(path);
        let Some(below) = path
            .strip_prefix(API_BASE)
            .and_then(|rest| rest.strip_prefix('/'))
        else {
            return Match::None;
        };
        let mut parts: Vec<&str> = below.split('/').collect();
        if parts[0] == ALIAS.0 {
            parts[0] = ALIAS.1;
        }
        let method = if method == "HEAD" { "GET" } else { method };
        let same_length = self.by_length.get(&parts.len()).into_iter().flatten();
        let candidates: Vec<&Entry> = same_length.chain(&self.open_ended).collect();
        let Some(first) = candidates.iter().find(|e| e.matches(&parts).is_some()) else {
            return Match::None;
        };
        // A path has the methods of its most specific pattern: `/waveforms/recording` is not a
        // waveform.
        let siblings = candidates.iter().filter(|e| e.segments == first.segments);
        let mut allow: Vec<&str> = Vec::new();
        for entry in siblings {
            if entry.method() == method
                && let Some(params) = entry.matches(&parts)
            {
                return Match::Found { entry, params };
            }
            allow.push(entry.method());
        }
        if allow.contains(&"GET") {
            allow.push("HEAD");
        }
        allow.sort_unstable();
        allow.dedup();
        Match::OtherMethod(allow.join(", "))
    }
}

impl Entry {
    fn matches(&self, parts: &[&str]) -> Option<Vec<String>> {
        let mut params = Vec::new();
        for (i, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Literal(text) => {
                    if parts.get(i)? != text {
                        return None;
                    }
                }
                Segment::Param => params.push(decoded(parts.get(i)?)?),
                Segment::Rest => {
                    let rest = parts.get(i..).filter(|r| !r.is_empty())?.join("/");
                    params.push(decoded(&rest)?);
                    return Some(params);
                }
                Segment::Everything => return (parts.len() >= i).then_some(params),
            }
        }
        (parts.len() == self.segments.len()).then_some(params)
    }

    /// Whether its first parameter is a device's id.
    #[must_use]
    pub fn is_of_device(&self) -> bool {
        self.declared.pattern.starts_with(OF_DEVICE)
    }

    /// The method that requests come with.
    #[must_use]
    pub fn method(&self) -> &str {
        http_method(&self.declared)
    }

    /// Whether the route takes WebSocket upgrades.
    #[must_use]
    pub fn is_socket(&self) -> bool {
        self.declared.method == SOCKET
    }

    /// Whether the route takes this kind of credential.
    #[must_use]
    pub fn accepts(&self, credential: Credential) -> bool {
        let bit = match credential {
            Credential::ApiKey => Credentials::API_KEY,
            Credential::UserSession => Credentials::USER_SESSION,
            Credential::CloudSession => Credentials::CLOUD_SESSION,
        };
        self.declared.credentials.contains(bit)
    }

    /// Whether the route needs no credential at all.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.declared.credentials == Credentials::empty()
    }
}

/// The method that requests to a route come with.
#[must_use]
pub(crate) fn http_method(route: &Route) -> &str {
    if route.method == SOCKET {
        "GET"
    } else {
        &route.method
    }
}

fn parse(route: &Route) -> Result<Vec<Segment>, RouteError> {
    let bad = |reason| RouteError::Pattern {
        name: route.name.clone(),
        pattern: route.pattern.clone(),
        reason,
    };
    let below = route
        .pattern
        .strip_prefix('/')
        .ok_or_else(|| bad("it must start with /"))?;
    let mut segments = Vec::new();
    for part in below.split('/') {
        if segments.last() == Some(&Segment::Rest) {
            return Err(bad("nothing may follow {name...}"));
        }
        segments.push(match part.strip_prefix('{') {
            None if part.is_empty() => return Err(bad("a segment is empty")),
            None if part.contains(['{', '}']) => return Err(bad("a brace is misplaced")),
            None => Segment::Literal(part.to_owned()),
            Some(name) => match name.strip_suffix("...}") {
                Some(_) => Segment::Rest,
                None if name.ends_with('}') => Segment::Param,
                None => return Err(bad("a brace is not closed")),
            },
        });
    }
    Ok(segments)
}

/// One segment, decoded; None when it is not UTF-8, malformed, or empty.
fn decoded(text: &str) -> Option<String> {
    percent::decode(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
