//! Trust in one certificate: its SHA-256 is known beforehand, or taken from the first connection.
//!
//! A pod's certificate is self-signed, so there is no chain to check. The pin establishes what a
//! chain would; that the other side holds the certificate's key is checked as usual.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use hex::FromHex as _;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a certificate's DER form. Shown in lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a certificate.
    pub fn of(certificate: &[u8]) -> Self {
        Self(Sha256::digest(certificate).into())
    }

    /// Reads 64 hexadecimal digits.
    pub(crate) fn from_hex(digits: &str) -> Option<Self> {
        <[u8; 32]>::from_hex(digits).ok().map(Self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

/// The other side has a different certificate from the trusted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it shows a certificate with sha256 {found}, {pinned} is pinned for it: it was replaced, or \
     another machine answers"
)]
pub struct PinMismatch {
    /// What it must be.
    pub pinned: Fingerprint,
    /// What it is.
    pub found: Fingerprint,
}

/// The trusted certificate, known or still to be learned.
#[derive(Debug)]
pub(super) struct Pin {
    known: Mutex<Option<Fingerprint>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pin {
    pub(super) fn new(known: Option<Fingerprint>) -> Self {
        Self {
            known: Mutex::new(known),
            algorithms: ring::default_provider().signature_verification_algorithms,
        }
    }

    pub(super) fn known(&self) -> Option<Fingerprint> {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Trusts the certificate of a finished handshake, if none was trusted before. True if it was
    /// learned now.
    pub(super) fn learn(&self, found: Fingerprint) -> Result<bool, PinMismatch> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some(pinned) if pinned != found => Err(PinMismatch { pinned, found }),
            Some(_) => Ok(false),
            None => {
                *known = Some(found);
                Ok(true)
            }
        }
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found = Fingerprint::of(certificate);
        match self.known() {
            Some(pinned) if pinned != found => {
                let mismatch = OtherError(std::sync::Arc::new(PinMismatch { pinned, found }));
                Err(CertificateError::Other(mismatch).into())
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
