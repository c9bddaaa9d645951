//! What the pod reports about a certificate: its subject, names, key and expiry. Nothing is
//! verified here.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};
use x509_cert::der::Decode as _;
use x509_cert::der::asn1::Uint;
use x509_cert::der::oid::db::rfc5912::{
    ID_EC_PUBLIC_KEY, RSA_ENCRYPTION, SECP_256_R_1, SECP_384_R_1,
};
use x509_cert::der::oid::db::rfc8410::ID_ED_25519;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::spki::SubjectPublicKeyInfoOwned as SubjectPublicKeyInfo;
use x509_cert::{Certificate, TbsCertificate};

/// The contents of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// For example `CN=benchpod-a1b2c3`.
    pub(crate) subject: String,
    /// DNS names and addresses.
    pub(crate) names: Vec<String>,
    /// For example `EC P-256`.
    pub(crate) key: String,
    /// The last day of validity, for example `2031-12-31`.
    pub(crate) not_after: String,
    /// SHA-256 of the whole certificate, in hex: clients pin this.
    pub(crate) sha256: String,
}

/// Reads a certificate. `None` if it is invalid.
pub(crate) fn read(der: &[u8]) -> Option<Facts> {
    let certificate = Certificate::from_der(der).ok()?;
    let body = certificate.tbs_certificate();
    let attributes = body.subject().iter().map(ToString::to_string);
    let not_after = body.validity().not_after.to_date_time();
    let (year, month, day) = (not_after.year(), not_after.month(), not_after.day());
    Some(Facts {
        subject: attributes.collect::<Vec<_>>().join(","),
        names: alternative_names(body)?,
        key: key(body.subject_public_key_info())?,
        not_after: format!("{year:04}-{month:02}-{day:02}"),
        sha256: hex::encode(Sha256::digest(der)),
    })
}

/// Reads the certificates in a PEM text. The error is a sentence fragment.
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

/// For example `EC P-256`. `None` if the key does not match its algorithm.
fn key(info: &SubjectPublicKeyInfo) -> Option<String> {
    let curve = || info.algorithm.parameters.as_ref()?.decode_as().ok();
    Some(match info.algorithm.oid {
        ID_ED_25519 => "Ed25519".to_owned(),
        ID_EC_PUBLIC_KEY if curve() == Some(SECP_256_R_1) => "EC P-256".to_owned(),
        ID_EC_PUBLIC_KEY if curve() == Some(SECP_384_R_1) => "EC P-384".to_owned(),
        RSA_ENCRYPTION => {
            // Modulus and exponent.
            let numbers = Vec::<Uint>::from_der(info.subject_public_key.as_bytes()?).ok()?;
            format!("RSA {}", numbers.first()?.as_bytes().len() * 8)
        }
        _ => "other".to_owned(),
    })
}

fn alternative_names(body: &TbsCertificate) -> Option<Vec<String>> {
    let extension = body.get_extension::<SubjectAltName>().ok()?;
    let names = extension.map_or(Vec::new(), |(_, names)| names.0);
    let shown = names.into_iter().filter_map(|name| match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        GeneralName::IpAddress(bytes) => address(bytes.as_bytes()),
        _ => None,
    });
    Some(shown.collect())
}

fn address(bytes: &[u8]) -> Option<String> {
    let v4 = <[u8; 4]>::try_from(bytes).map(std::net::IpAddr::from);
    let v6 = <[u8; 16]>::try_from(bytes).map(std::net::IpAddr::from);
    v4.or(v6).ok().map(|address| address.to_string())
}

#[cfg(test)]
pub(crate) mod tests;
