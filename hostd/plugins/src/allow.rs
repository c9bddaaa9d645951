//! Which URLs are granted: patterns such as `https://hooks.example.com:443/bench/*`, compared with URLs in their normal
//! form only.
//!
//! A host is a name, `*.name` for all names below it, or an address. A path that ends with `*` is a prefix, as it is
//! written; any other is the one path. A URL's query is free.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use base::reach::{PRIVATE, Reach, Refused, is_private};
use serde::{Deserialize, Serialize};

use crate::target::{Host, Scheme, Target, UrlError, normal_path, split};

/// Most redirects that a request follows.
pub const REDIRECTS_MAX: usize = 5;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    scheme: Scheme,
    host: Hosts,
    port: u16,
    path: String,
    is_prefix: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Hosts {
    One(Host),
    /// All below a name, not itself.
    Below(String),
}

/// What is wrong with a pattern, as a fragment that follows a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is no URL.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// No path, or a query.
    #[error("must end with a path and no query; all of a server is https://host/*")]
    Path,
    /// The path is written in a way that no URL is.
    #[error(
        "must have its path in normal form: without dots to resolve, and encoded only where it must be"
    )]
    Form,
    /// A star in another place.
    #[error(
        "may have * only at the end of its path and as the first part of its host: https://*.example.com/bench/*"
    )]
    Star,
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// It leads to no URL.
    #[error("the redirect's location {0}")]
    Url(#[from] UrlError),
    /// No pattern matches.
    #[error("the redirect leads to {0}, which is not granted")]
    NotGranted(String),
    /// From TLS to the clear.
    #[error("the redirect leads from https to http")]
    Downgrade,
}

impl Pattern {
    /// Whether a URL is one of these.
    #[must_use]
    pub fn matches(&self, target: &Target) -> bool {
        let has_host = match &self.host {
            Hosts::One(host) => *host == target.host,
            Hosts::Below(name) => matches!(&target.host, Host::Name(host) if is_below(host, name)),
        };
        has_host
            && self.scheme == target.scheme
            && self.port == target.port
            && self.has_path(&target.path)
    }

    /// Whether every URL of `other` is one of these.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let has_hosts = match (&self.host, &other.host) {
            (Hosts::Below(own), Hosts::Below(name)) => own == name || is_below(name, own),
            (Hosts::Below(own), Hosts::One(Host::Name(name))) => is_below(name, own),
            (own, host) => own == host,
        };
        let has_paths = self.has_path(&other.path) && (self.is_prefix || !other.is_prefix);
        has_hosts && has_paths && self.scheme == other.scheme && self.port == other.port
    }

    /// Whether a request that this pattern allows may reach an address. `reach` is the rule for plugins, without private
    /// networks; one that the pattern itself names counts as listed. What only the server reaches never does.
    ///
    /// # Errors
    /// It may not.
    pub fn check_address(&self, address: IpAddr, reach: &Reach) -> Result<(), Refused> {
        let address = address.to_canonical();
        let is_named = self.host == Hosts::One(Host::Address(address));
        match reach.check(address) {
            Err(Refused(PRIVATE)) if is_named && is_private(address) => Ok(()),
            checked => checked,
        }
    }

    /// Whether it names an address of a private network: what is there is not for everybody to grant.
    #[must_use]
    pub fn names_private(&self) -> bool {
        matches!(&self.host, Hosts::One(Host::Address(address)) if is_private(*address))
    }

    fn has_path(&self, path: &str) -> bool {
        if self.is_prefix {
            path.starts_with(&self.path)
        } else {
            path == self.path
        }
    }
}

fn is_below(host: &str, name: &str) -> bool {
    let before = host.strip_suffix(name);
    before.is_some_and(|before| before.len() > 1 && before.ends_with('.'))
}

/// Where a redirect leads, if one of the patterns allows that as well.
///
/// # Errors
/// It is not to be followed.
pub fn redirect(
    patterns: &[Pattern],
    from: &Target,
    location: &str,
) -> Result<Target, RedirectError> {
    let to = from.join(location)?;
    if (from.scheme, to.scheme) == (Scheme::Https, Scheme::Http) {
        return Err(RedirectError::Downgrade);
    }
    if !patterns.iter().any(|pattern| pattern.matches(&to)) {
        let place = Target { query: None, ..to };
        return Err(RedirectError::NotGranted(place.to_string()));
    }
    Ok(to)
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (scheme, host, port, path) = split(text)?;
        if !path.starts_with('/') || path.contains('?') {
            return Err(PatternError::Path);
        }
        let (path, is_prefix) = match path.strip_suffix('*') {
            Some(path) => (path, true),
            None => (path, false),
        };
        let host = match host.strip_prefix("*.") {
            Some(name) => match name.parse()? {
                Host::Name(name) => Hosts::Below(name),
                Host::Address(_) => return Err(PatternError::Star),
            },
            None if host.contains('*') => return Err(PatternError::Star),
            None => Hosts::One(host.parse()?),
        };
        if path.contains('*') {
            return Err(PatternError::Star);
        }
        if normal_path(path)? != path {
            return Err(PatternError::Form);
        }
        Ok(Self {
            scheme,
            host,
            port,
            path: path.to_owned(),
            is_prefix,
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme.as_str())?;
        match &self.host {
            Hosts::One(host) => write!(f, "{host}")?,
            Hosts::Below(name) => write!(f, "*.{name}")?,
        }
        let star = if self.is_prefix { "*" } else { "" };
        write!(f, ":{}{}{star}", self.port, self.path)
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    fn matches(text: &str, url: &str) -> bool {
        url.parse()
            .is_ok_and(|target| pattern(text).matches(&target))
    }

    #[test]
    fn only_what_is_granted_matches() {
        let bench = "https://hooks.example.com:443/bench/*";
        for (own, url, is) in [
            (bench, "https://hooks.example.com/bench/x?y=1", true),
            (bench, "https://HOOKS.example.com:443/bench/", true),
            (bench, "https://hooks.example.com/a/../bench/x", true),
            (bench, "https://hooks.example.com/%62ench/x", true),
            (bench, "http://hooks.example.com:443/bench/x", false),
            (bench, "https://hooks.example.com:8443/bench/x", false),
            (bench, "https://hooks.example.com/bench", false),
            (bench, "https://hooks.example.com/benchmark", false),
            (bench, "https://hooks.example.com/bench/../admin", false),
            (bench, "https://hooks.example.com/bench/%2e%2e/admin", false),
            (bench, "https://hooks.example.com/bench/..%2fadmin", false),
            (bench, "https://hooks.example.com/bench/..;/admin", false),
            (
                bench,
                "https://hooks.example.com/bench/%252e%252e%252fadmin",
                false,
            ),
            (bench, "https://hooks.example.com//bench/x", false),
            (
                bench,
                "https://hooks.example.com.evil.example/bench/x",
                false,
            ),
            (bench, "https://evil-hooks.example.com/bench/x", false),
            (
                bench,
                "https://hooks.example.com@evil.example/bench/x",
                false,
            ),
            (
                bench,
                "https://evil.example/?https://hooks.example.com/bench/x",
                false,
            ),
            ("https://*.example.com/*", "https://a.b.example.com/", true),
            ("https://*.example.com/*", "https://example.com/", false),
            ("https://*.example.com/*", "https://.example.com/", false),
            ("https://*.example.com/*", "https://badexample.com/", false),
            ("https://a/x", "https://a/x?q", true),
            ("https://a/x", "https://a/x/", false),
            (
                "http://127.0.0.1:9/*",
                "http://[::ffff:127.0.0.1]:9/x",
                true,
            ),
            ("http://127.0.0.1:9/*", "http://127.1:9/x", false),
        ] {
            assert_eq!(matches(own, url), is, "{own} {url}");
        }
    }

    #[test]
    fn patterns_have_one_form() {
        assert_eq!(
            pattern("HTTPS://*.Example.com/x*").to_string(),
            "https://*.example.com:443/x*"
        );
        for bad in [
            "https://a",
            "https://a?x",
            "https://*/",
            "https://*.*.a/",
            "https://a.*/",
            "https://*a/x",
            "https://a/*/x",
            "https://a/x?y*",
            "https://*.1.2.3.4/",
            "https://a/b/../c",
            "https://a/%41",
            "*",
            "https://u@a/*",
            "ftp://a/*",
            "https://a:*/x",
        ] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        for (wide, narrow, is) in [
            ("https://a/*", "https://a/b/*", true),
            ("https://a/*", "https://a/b", true),
            ("https://a/b/*", "https://a/*", false),
            ("https://a/b", "https://a/b*", false),
            ("https://*.a/*", "https://b.a/*", true),
            ("https://*.a/*", "https://*.b.a/x", true),
            ("https://*.b.a/*", "https://*.a/x", false),
            ("https://*.a/*", "https://a/x", false),
            ("https://a/*", "http://a:443/*", false),
            ("https://a:1/*", "https://a/*", false),
        ] {
            assert_eq!(
                pattern(wide).covers(&pattern(narrow)),
                is,
                "{wide} {narrow}"
            );
        }
    }

    #[test]
    fn redirects_are_held_to_the_same_patterns() {
        let patterns = [pattern("https://a/x/*"), pattern("http://a/x/*")];
        let from: Target = "https://a/x/1".parse().unwrap();
        assert_eq!(
            redirect(&patterns, &from, "2").unwrap().to_string(),
            "https://a/x/2"
        );
        let elsewhere = redirect(&patterns, &from, "//b/x/?token=1").unwrap_err();
        assert_eq!(elsewhere, RedirectError::NotGranted("https://b/x/".into()));
        assert_eq!(
            redirect(&patterns, &from, "http://a/x/2"),
            Err(RedirectError::Downgrade)
        );
        assert!(matches!(
            redirect(&patterns, &from, "../y"),
            Err(RedirectError::NotGranted(_))
        ));
        assert!(matches!(
            redirect(&patterns, &from, "..%2fy"),
            Err(RedirectError::Url(_))
        ));
    }

    #[test]
    fn private_addresses_must_be_named() {
        let reach = Reach::new("10.9.0.0/16", "10.9.9.0/24", "denied")
            .unwrap()
            .without_private();
        let may = |text: &str, address: &str| {
            pattern(text)
                .check_address(address.parse().unwrap(), &reach)
                .is_ok()
        };
        assert!(may("https://a/*", "198.51.100.1"));
        assert!(!may("https://a/*", "192.168.1.1") && !may("https://a/*", "::ffff:192.168.1.1"));
        assert!(
            may("http://192.168.1.1/*", "192.168.1.1")
                && !may("http://192.168.1.1/*", "192.168.1.2")
        );
        assert!(may("https://a/*", "10.9.1.1") && !may("http://10.9.9.1/*", "10.9.9.1"));
        for own in ["127.0.0.1", "169.254.169.254", "100.100.100.200"] {
            assert!(!may(&format!("http://{own}/*"), own), "{own}");
        }
        assert!(!may("http://[fd00:ec2::254]/*", "fd00:ec2::254"));
    }

    #[test]
    fn mutated_urls_have_one_form_and_lie_where_they_match() {
        for valid in [
            "https://a.example/bench/../bench/%2e/x?y=%20#",
            "https://*.a.example:443/bench/*",
        ] {
            crate::fuzz::seeded(valid.as_bytes(), 20_000, 0x0a11, crate::fuzz::url);
        }
    }
}
