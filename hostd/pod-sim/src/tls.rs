//! The simulated pod's side of TLS: its certificate, what it reports about it, and the handshake.
//!
//! The certificate that a pod makes for itself is derived from its seed, bit for bit, so that a
//! client that has pinned it recognises the pod after a restart of the simulator.

use std::sync::Arc;

use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::certificate::{Facts, read};
use super::identity::{secret, short_id};

/// The PKCS #8 prefix of an Ed25519 secret key.
const PKCS8_ED25519: [u8; 16] = [
    0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// First of the purposes for which TLS keys are derived, one for each new certificate.
const KEY_PURPOSE: u64 = 0x544C_5300;

/// A certificate with its key, ready to serve.
#[derive(Debug, Clone)]
pub(crate) struct LanCertificate {
    pub(crate) origin: &'static str,
    pub(crate) facts: Facts,
    server: Arc<ServerConfig>,
}

/// The LAN certificate, made when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Lan {
    /// How often a new one was requested.
    generation: u64,
    current: Option<LanCertificate>,
}

impl LanCertificate {
    /// Makes the certificate of the pod with this seed.
    fn generate(seed: u64, generation: u64) -> Self {
        let secret = secret(seed, KEY_PURPOSE + generation);
        let key = [&PKCS8_ED25519[..], &secret].concat();
        let key = PrivatePkcs8KeyDer::from(key);
        let pair = KeyPair::try_from(&key).expect("any 32 bytes are an Ed25519 key");
        let name = format!("benchpod-{}", short_id(seed));
        let params = CertificateParams::new([format!("{name}.local")]);
        let mut params = params.expect("hexadecimal digits make a DNS name");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_after = rcgen::date_time_ymd(9999, 12, 31);
        let made = params.self_signed(&pair);
        let made = made.expect("a certificate of plain names can be signed");
        let chain = vec![made.der().clone()];
        let made = Self::new("generated", chain, PrivateKeyDer::Pkcs8(key));
        made.expect("a certificate and the key that signed it belong together")
    }

    /// Reads a certificate, its chain and its key. The error is a sentence fragment.
    pub(crate) fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let chain: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(pem).collect();
        let chain = chain.map_err(|error| format!("this is no PEM: {error:?}"))?;
        let key = PrivateKeyDer::from_pem_slice(pem);
        let key = key.map_err(|_| "there is no private key in it".to_owned())?;
        Self::new("user", chain, key)
    }

    fn new(
        origin: &'static str,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, String> {
        let first = chain.first().ok_or("there is no certificate in it")?;
        let facts = read(first).ok_or("the certificate cannot be read")?;
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has what these versions need")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| format!("certificate and key do not go together: {error}"))?;
        Ok(Self {
            origin,
            facts,
            server: Arc::new(server),
        })
    }
}

impl Lan {
    /// Installs a certificate that the user has chosen.
    pub(crate) fn install(&mut self, certificate: LanCertificate) {
        self.current = Some(certificate);
    }

    pub(crate) fn current(&mut self, seed: u64) -> &LanCertificate {
        let generation = self.generation;
        self.current
            .get_or_insert_with(|| LanCertificate::generate(seed, generation))
    }

    /// The configuration for a handshake.
    pub(crate) fn server(&mut self, seed: u64) -> Arc<ServerConfig> {
        self.current(seed).server.clone()
    }

    pub(crate) fn regenerate(&mut self) {
        self.generation += 1;
        self.current = None;
    }
}

#[cfg(test)]
mod tests;
