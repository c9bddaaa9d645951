//! What can be read from a certificate: its subject, names, key and end, for the pod to report.
//! Nothing is verified here.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};

use super::identity::hex;

/// What a certificate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Such as `CN=benchpod-a1b2c3`.
    pub(crate) subject: String,
    /// DNS names and addresses.
    pub(crate) names: Vec<String>,
    /// Such as `EC P-256`.
    pub(crate) key: String,
    /// The last day, such as `2031-12-31`.
    pub(crate) not_after: String,
    /// Of the whole certificate, in hex: what clients pin.
    pub(crate) sha256: String,
}

const SEQUENCE: u8 = 0x30;
const BOOLEAN: u8 = 0x01;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xA0;
const EXTENSIONS: u8 = 0xA3;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;

/// Object identifiers, in their encoding.
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1D, 0x11];
const ATTRIBUTES: [(&[u8], &str); 6] = [
    (&[0x55, 0x04, 0x03], "CN"),
    (&[0x55, 0x04, 0x06], "C"),
    (&[0x55, 0x04, 0x07], "L"),
    (&[0x55, 0x04, 0x08], "ST"),
    (&[0x55, 0x04, 0x0A], "O"),
    (&[0x55, 0x04, 0x0B], "OU"),
];
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const P256: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2B, 0x81, 0x04, 0x00, 0x22];
const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
const ED25519: &[u8] = &[0x2B, 0x65, 0x70];

/// Reads a certificate. `None` when it is none.
pub(crate) fn read(der: &[u8]) -> Option<Facts> {
    let mut whole = Der(der);
    let mut certificate = whole.enter(SEQUENCE)?;
    if !whole.0.is_empty() {
        return None;
    }
    let mut body = certificate.enter(SEQUENCE)?;
    if body.peek() == Some(VERSION) {
        body.next()?;
    }
    let (_serial, _algorithm, _issuer) = (body.next()?, body.next()?, body.next()?);
    let mut validity = body.enter(SEQUENCE)?;
    validity.next()?;
    let not_after = day(validity.next()?)?;
    let subject = subject(body.enter(SEQUENCE)?)?;
    let key = key(body.enter(SEQUENCE)?)?;
    let mut names = Vec::new();
    while let Some((tag, content)) = body.next() {
        if tag == EXTENSIONS {
            names = alternative_names(Der(content).enter(SEQUENCE)?)?;
        }
    }
    Some(Facts {
        subject,
        names,
        key,
        not_after,
        sha256: hex(&Sha256::digest(der)),
    })
}

/// Reads the certificates of a PEM text. The error is a fragment.
pub(crate) fn bundle(pem: &[u8]) -> Result<Vec<Facts>, String> {
    let certificates: Result<Vec<CertificateDer<'_>>, _> =
        CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.map_err(|error| format!("this is no PEM: {error:?}"))?;
    if certificates.is_empty() {
        return Err("there is no certificate in it".to_owned());
    }
    let facts: Option<Vec<Facts>> = certificates.iter().map(|der| read(der)).collect();
    facts.ok_or_else(|| "a certificate cannot be read".to_owned())
}

/// What is left of an encoding.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next element: its tag and its content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7F => (usize::from(first), rest),
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
                let digits = bytes.iter();
                (
                    digits.fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
                    rest,
                )
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// What is inside the next element, which must be of this kind.
    fn enter(&mut self, tag: u8) -> Option<Self> {
        let (found, content) = self.next()?;
        (found == tag).then_some(Self(content))
    }
}

fn day((tag, text): (u8, &[u8])) -> Option<String> {
    let text = std::str::from_utf8(text)
        .ok()
        .filter(|text| text.is_ascii())?;
    let (year, rest) = match tag {
        GENERALIZED_TIME => (text.get(..4)?.to_owned(), text.get(4..)?),
        UTC_TIME => {
            let short = text.get(..2)?;
            let century = if short < "50" { "20" } else { "19" };
            (format!("{century}{short}"), text.get(2..)?)
        }
        _ => return None,
    };
    Some(format!("{year}-{}-{}", rest.get(..2)?, rest.get(2..4)?))
}

fn subject(mut name: Der<'_>) -> Option<String> {
    let mut parts = Vec::new();
    while let Some((_set, content)) = name.next() {
        let mut attribute = Der(content).enter(SEQUENCE)?;
        let (_, kind) = attribute.next()?;
        let (_, value) = attribute.next()?;
        if let Some((_, word)) = ATTRIBUTES.iter().find(|(id, _)| *id == kind) {
            parts.push(format!("{word}={}", String::from_utf8_lossy(value)));
        }
    }
    Some(parts.join(","))
}

fn key(mut info: Der<'_>) -> Option<String> {
    let mut algorithm = info.enter(SEQUENCE)?;
    let (_, kind) = algorithm.next()?;
    let parameter = algorithm.next().map(|(_, content)| content);
    let (_, bits) = info.next()?;
    let name = match (kind, parameter) {
        (ED25519, _) => "Ed25519".to_owned(),
        (EC, Some(P256)) => "EC P-256".to_owned(),
        (EC, Some(P384)) => "EC P-384".to_owned(),
        (RSA, _) => {
            // One byte says how many bits of the last one are unused.
            let mut pair = Der(bits.get(1..)?).enter(SEQUENCE)?;
            let (_, modulus) = pair.next()?;
            let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
            format!("RSA {}", (modulus.len() - zeros) * 8)
        }
        _ => "other".to_owned(),
    };
    Some(name)
}

fn alternative_names(mut extensions: Der<'_>) -> Option<Vec<String>> {
    let mut names = Vec::new();
    while let Some(mut extension) = extensions.enter(SEQUENCE) {
        let (_, kind) = extension.next()?;
        if extension.peek() == Some(BOOLEAN) {
            extension.next()?;
        }
        let (_, value) = extension.next()?;
        if kind != ALTERNATIVE_NAMES {
            continue;
        }
        let mut list = Der(value).enter(SEQUENCE)?;
        while let Some((tag, content)) = list.next() {
            match tag {
                DNS_NAME => names.push(String::from_utf8_lossy(content).into_owned()),
                IP_ADDRESS => names.extend(address(content)),
                _ => {}
            }
        }
    }
    Some(names)
}

fn address(bytes: &[u8]) -> Option<String> {
    let v4 = <[u8; 4]>::try_from(bytes).map(std::net::IpAddr::from);
    let v6 = <[u8; 16]>::try_from(bytes).map(std::net::IpAddr::from);
    v4.or(v6).ok().map(|address| address.to_string())
}

#[cfg(test)]
mod tests;
