//! URLs of requests that a plugin makes, in one normal form. What is compared with the grant is what is sent: whoever
//! sends takes the text of a [`Target`], never the text that the plugin gave.
//!
//! What different servers read differently has no normal form and is refused: users in the authority, odd spellings of
//! IPv4 addresses, `%2f` and `%5c`, dots above the root, dots with parameters (`..;`), doubly encoded dots and slashes.

use std::fmt::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Longest URL, in bytes.
pub const URL_BYTES_MAX: usize = 4000;

/// Longest host name and longest label of it, in bytes.
const HOST_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

/// Who is spoken to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name, in lower case.
    Name(String),
    /// An address; never one of IPv4 in IPv6.
    Address(IpAddr),
}

/// A URL in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// How.
    pub scheme: Scheme,
    /// Who.
    pub host: Host,
    /// Where, even if the URL named none.
    pub port: u16,
    /// What, from the first `/`.
    pub path: String,
    /// What follows `?`.
    pub query: Option<String>,
}

/// What is wrong with a URL, as a fragment that follows a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Over [`URL_BYTES_MAX`].
    #[error("must have at most {URL_BYTES_MAX} bytes")]
    TooLong,
    /// Spaces, controls, other alphabets, `\`, `#`.
    #[error("must be a URL of ASCII characters without spaces, backslashes and fragment")]
    Characters,
    /// Neither of the two.
    #[error("must begin with https:// or http://")]
    Scheme,
    /// A user or password.
    #[error("must name no user and no password")]
    User,
    /// No host, or one with two readings.
    #[error(
        "must name a host: a name without a dot at its end, an IPv4 address of four numbers, or an IPv6 address in brackets"
    )]
    Host,
    /// No port.
    #[error("must name a port from 1 to 65535, or none")]
    Port,
    /// `%` and no two digits after it.
    #[error("must have two hexadecimal digits after each %")]
    Percent,
    /// A path with two readings.
    #[error(
        "must have a path that every server reads alike: no encoded slash, backslash, NUL or dots, and no .. above the root"
    )]
    Path,
}

impl Scheme {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    pub(crate) fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Target {
    /// The URL that a redirect from here leads to, which may be relative (RFC 3986, section 5.2).
    ///
    /// # Errors
    /// It is no URL that is taken.
    pub fn join(&self, location: &str) -> Result<Self, UrlError> {
        let location = location.split('#').next().unwrap_or_default();
        let origin = self.origin();
        if has_scheme(location) {
            return location.parse();
        }
        let whole = if location.starts_with("//") {
            format!("{}:{location}", self.scheme.as_str())
        } else if location.starts_with('/') {
            format!("{origin}{location}")
        } else if location.is_empty() || location.starts_with('?') {
            let query = self.query.as_ref().filter(|_| location.is_empty());
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            format!("{origin}{}{query}{location}", self.path)
        } else {
            let folder = self.path.rfind('/').map_or("/", |at| &self.path[..=at]);
            format!("{origin}{folder}{location}")
        };
        whole.parse()
    }

    /// Whether both are the same server, which may see the same credentials.
    #[must_use]
    pub fn is_same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    fn origin(&self) -> String {
        format!("{}://{}:{}", self.scheme.as_str(), self.host, self.port)
    }
}

fn has_scheme(location: &str) -> bool {
    let before = location.split(['/', '?']).next().unwrap_or_default();
    before.contains(':')
}

impl FromStr for Target {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        let (scheme, host, port, rest) = split(url)?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let target = Self {
            scheme,
            host: host.parse()?,
            port,
            path: normal_path(path)?,
            query: query.map(normal_query).transpose()?,
        };
        Ok(target)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = Some(self.port).filter(|port| *port != self.scheme.port());
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        port.map_or(Ok(()), |port| write!(f, ":{port}"))?;
        f.write_str(&self.path)?;
        let query = self.query.as_ref();
        query.map_or(Ok(()), |query| write!(f, "?{query}"))
    }
}

/// Scheme, host, port, and all from the path on.
pub(crate) fn split(url: &str) -> Result<(Scheme, &str, u16, &str), UrlError> {
    if url.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong);
    }
    if !url
        .bytes()
        .all(|b| b.is_ascii_graphic() && !matches!(b, b'\\' | b'#'))
    {
        return Err(UrlError::Characters);
    }
    let (scheme, rest) = url.split_once("://").ok_or(UrlError::Scheme)?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return Err(UrlError::Scheme),
    };
    let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err(UrlError::User);
    }
    let host_end = if authority.starts_with('[') {
        authority.find(']').ok_or(UrlError::Host)? + 1
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, port) = authority.split_at(host_end);
    let port = match port.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            let port = digits.parse().ok().filter(|port| *port != 0);
            port.ok_or(UrlError::Port)?
        }
        None if port.is_empty() => scheme.port(),
        _ => return Err(UrlError::Port),
    };
    Ok((scheme, host, port, rest))
}

impl FromStr for Host {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(UrlError::Host)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| UrlError::Host)?;
            return Ok(Self::Address(IpAddr::from(address).to_canonical()));
        }
        let name = text.to_ascii_lowercase();
        let is_label = |label: &str| {
            let mut bytes = label.bytes();
            (1..=LABEL_BYTES_MAX).contains(&label.len())
                && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        if name.len() > HOST_BYTES_MAX || !name.split('.').all(is_label) {
            return Err(UrlError::Host);
        }
        // What resolvers take for a number is an address, in one spelling.
        let last = name.rsplit('.').next().unwrap_or_default();
        if last.starts_with(|c: char| c.is_ascii_digit()) {
            let address: Ipv4Addr = name.parse().map_err(|_| UrlError::Host)?;
            return Ok(Self::Address(address.into()));
        }
        Ok(Self::Name(name))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// A path without dots to resolve, in which only what must be encoded is.
pub(crate) fn normal_path(path: &str) -> Result<String, UrlError> {
    let plain = recoded(path, is_path)?;
    let mut segments: Vec<&str> = Vec::new();
    let mut parts = plain
        .strip_prefix('/')
        .unwrap_or(&plain)
        .split('/')
        .peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            "." => {}
            ".." => drop(segments.pop().ok_or(UrlError::Path)?),
            _ if has_odd_dots(part) => return Err(UrlError::Path),
            part => {
                segments.push(part);
                continue;
            }
        }
        if is_last {
            segments.push("");
        }
    }
    Ok(format!("/{}", segments.join("/")))
}

/// Dots that some servers take for a way up, with what they call a parameter.
fn has_odd_dots(segment: &str) -> bool {
    let rest = segment.strip_prefix('.').unwrap_or(segment);
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    rest.len() < segment.len() && (rest.starts_with(';') || rest.starts_with("%3B"))
}

fn normal_query(query: &str) -> Result<String, UrlError> {
    recoded(query, |b| is_path(b) || matches!(b, b'/' | b'?'))
}

fn is_unreserved(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~')
}

/// What stands in a path as it is (RFC 3986, `pchar`), and `/`.
fn is_path(b: u8) -> bool {
    is_unreserved(b) || b"/!$&'()*+,;=:@".contains(&b)
}

/// Encodes all but what `is_plain`, decodes what needs no encoding, and refuses what servers read differently.
fn recoded(text: &str, is_plain: impl Fn(u8) -> bool) -> Result<String, UrlError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            push(&mut out, *first, is_plain(*first));
            continue;
        }
        let (byte, after) = encoded(rest).ok_or(UrlError::Percent)?;
        rest = after;
        let is_double = byte == b'%' && is_risky_digits(rest);
        if is_double || matches!(byte, b'/' | b'\\' | 0) {
            return Err(UrlError::Path);
        }
        push(&mut out, byte, is_unreserved(byte));
    }
    Ok(out)
}

fn push(out: &mut String, byte: u8, is_plain: bool) {
    if is_plain {
        out.push(char::from(byte));
    } else {
        write!(out, "%{byte:02X}").expect("a string takes all");
    }
}

/// The byte of two digits, and what follows.
fn encoded(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, rest) = text.split_first_chunk::<2>()?;
    let mut byte = [0];
    hex::decode_to_slice(digits, &mut byte).ok()?;
    Some((byte[0], rest))
}

/// Whether the digits after an encoded `%` make a dot, a slash, a backslash or another `%`.
fn is_risky_digits(text: &[u8]) -> bool {
    encoded(text).is_some_and(|(byte, _)| matches!(byte, b'.' | b'/' | b'\\' | b'%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(url: &str) -> Result<String, UrlError> {
        url.parse::<Target>().map(|target| target.to_string())
    }

    #[test]
    fn one_form_for_all_spellings() {
        for (url, form) in [
            ("https://a.example", "https://a.example/"),
            ("HTTPS://A.Example:443/x", "https://a.example/x"),
            ("http://a:8080?q=1", "http://a:8080/?q=1"),
            ("https://a/%7euser/%41", "https://a/~user/A"),
            ("https://a/b/./c/../d", "https://a/b/d"),
            ("https://a/b/%2e%2E/d", "https://a/d"),
            ("https://a/b/..", "https://a/"),
            ("https://a/b/.", "https://a/b/"),
            ("https://a//b", "https://a//b"),
            ("https://a/\"{x}|^", "https://a/%22%7Bx%7D%7C%5E"),
            ("https://a/?x[]=1&y=/?", "https://a/?x%5B%5D=1&y=/?"),
            ("https://a/%c3%a4", "https://a/%C3%A4"),
            ("https://127.0.0.1/", "https://127.0.0.1/"),
            ("https://[::FFFF:7f00:1]/", "https://127.0.0.1/"),
            ("https://[2001:DB8::1]:1/", "https://[2001:db8::1]:1/"),
        ] {
            assert_eq!(normal(url).as_deref(), Ok(form), "{url}");
            assert_eq!(normal(form).as_deref(), Ok(form), "{form}");
        }
    }

    #[test]
    fn what_has_two_readings_is_refused() {
        for (url, error) in [
            ("https://a/b c", UrlError::Characters),
            ("https://a\\@b/", UrlError::Characters),
            ("https://a/\u{2025}/", UrlError::Characters),
            ("https://a/#x", UrlError::Characters),
            ("https://a/\r\nX: y", UrlError::Characters),
            ("ftp://a/", UrlError::Scheme),
            ("//a/", UrlError::Scheme),
            ("https:a/", UrlError::Scheme),
            ("https://u@a/", UrlError::User),
            ("https://good.example@evil.example/", UrlError::User),
            ("https:///x", UrlError::Host),
            ("https://a./", UrlError::Host),
            ("https://.a/", UrlError::Host),
            ("https://a%2eb/", UrlError::Host),
            ("https://0x7f.1/", UrlError::Host),
            ("https://2130706433/", UrlError::Host),
            ("https://127.1/", UrlError::Host),
            ("https://0177.0.0.1/", UrlError::Host),
            ("https://1.2.3.0x4/", UrlError::Host),
            ("https://[::1/", UrlError::Host),
            ("https://[fe80::1%25eth0]/", UrlError::Host),
            ("https://[127.0.0.1]/", UrlError::Host),
            ("https://a:0/", UrlError::Port),
            ("https://a:/", UrlError::Port),
            ("https://a:65536/", UrlError::Port),
            ("https://a:+1/", UrlError::Port),
            ("https://[::1]x/", UrlError::Port),
            ("https://a/%", UrlError::Percent),
            ("https://a/%+1", UrlError::Percent),
            ("https://a/..", UrlError::Path),
            ("https://a/b/../../c", UrlError::Path),
            ("https://a/b/..%2fc", UrlError::Path),
            ("https://a/b%5Cc", UrlError::Path),
            ("https://a/b%00", UrlError::Path),
            ("https://a/b/..;/c", UrlError::Path),
            ("https://a/b/.;x/c", UrlError::Path),
            ("https://a/b/%2e%2e%3bx/c", UrlError::Path),
            ("https://a/b/%252e%252e/c", UrlError::Path),
            ("https://a/b%252fc", UrlError::Path),
            ("https://a/b%25252fc", UrlError::Path),
        ] {
            assert_eq!(normal(url), Err(error), "{url}");
        }
        assert_eq!(
            normal(&format!("https://a/{}", "x".repeat(URL_BYTES_MAX))),
            Err(UrlError::TooLong)
        );
    }

    #[test]
    fn redirects_are_resolved() {
        let from: Target = "https://a.example/b/c?q".parse().unwrap();
        for (location, to) in [
            ("d", "https://a.example/b/d"),
            ("../d", "https://a.example/d"),
            ("/d#x", "https://a.example/d"),
            ("?r", "https://a.example/b/c?r"),
            ("", "https://a.example/b/c?q"),
            ("//b.example/d", "https://b.example/d"),
            ("http://a.example/", "http://a.example/"),
        ] {
            assert_eq!(from.join(location).unwrap().to_string(), to, "{location}");
        }
        for bad in ["javascript:x", "../../d", "https:/x", "http://u@b/"] {
            assert!(from.join(bad).is_err(), "{bad}");
        }
        assert!(from.is_same_origin(&from.join("/x").unwrap()));
        assert!(!from.is_same_origin(&from.join("http://a.example/").unwrap()));
    }
}
