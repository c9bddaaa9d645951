//! TLS to receivers: under the public certificate authorities, and under those that the configuration adds to them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
    TransportAdapter,
};

/// Largest file of certificates, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Why the authorities of the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The file cannot be read.
    #[error("read {}", .0.display())]
    Read(PathBuf, #[source] io::Error),
    /// It is too large, or no PEM.
    #[error("read {}: it must be a PEM file of at most {FILE_BYTES_MAX} bytes", .0.display())]
    Pem(PathBuf),
    /// It has no certificate, or one that is not an authority's.
    #[error("use {}: {why}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// Opens connections under the authorities. Cloning shares them.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
}

/// A connection under TLS.
pub(crate) struct Secured {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Tls {
    /// The public authorities, and those in a file unless its path is empty.
    ///
    /// # Errors
    /// The file is not one of certificates.
    pub(crate) fn open(ca_file: &Path) -> Result<Self, AuthorityError> {
        let mut roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        if !ca_file.as_os_str().is_empty() {
            add(&mut roots, ca_file)?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            config: Arc::new(config),
        })
    }
}

fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), AuthorityError> {
    let failed = |error| AuthorityError::Read(path.to_owned(), error);
    let mut text = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut text)
        .map_err(failed)?;
    let malformed = || AuthorityError::Pem(path.to_owned());
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(malformed());
    }
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = certificates.map_err(|_| malformed())?;
    let unfit = |why: String| AuthorityError::Certificate {
        path: path.to_owned(),
        why,
    };
    if certificates.is_empty() {
        return Err(unfit("there is no certificate in it".to_owned()));
    }
    for (index, certificate) in certificates.into_iter().enumerate() {
        let added = roots.add(certificate);
        added.map_err(|error| unfit(format!("its certificate {}: {error}", index + 1)))?;
    }
    Ok(())
}

impl<In: Transport> Connector<In> for Tls {
    type Out = Either<In, Secured>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(transport) = chained else {
            return Ok(None);
        };
        if !details.needs_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let host = details.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| ureq::Error::Tls("the name is no host's"))?;
        let mut conn = ClientConnection::new(self.config.clone(), name)?;
        let clock = details.current_time.clone();
        let mut sock = TransportAdapter::new(transport.boxed(), clock);
        sock.set_timeout(details.timeout);
        conn.complete_io(&mut sock).map_err(of_handshake)?;
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        let stream = StreamOwned { conn, sock };
        Ok(Some(Either::B(Secured { buffers, stream })))
    }
}

/// What TLS says is wrong comes as the cause of an error of the connection.
fn of_handshake(error: io::Error) -> ureq::Error {
    match error.downcast::<rustls::Error>() {
        Ok(error) => ureq::Error::Rustls(error),
        Err(error) => error.into(),
    }
}

impl Transport for Secured {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let input = self.buffers.input_append_buf();
        let amount = self.stream.read(input)?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    /// Each request has a connection of its own.
    fn is_open(&mut self) -> bool {
        false
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl fmt::Debug for Secured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secured").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Tls::open(file.path()).unwrap_err().to_string()
    }

    #[test]
    fn a_file_that_has_no_authority_is_refused_with_the_reason() {
        Tls::open(Path::new("")).unwrap();
        let missing = Tls::open(Path::new("/nowhere/ca.pem")).unwrap_err();
        assert_eq!(missing.to_string(), "read /nowhere/ca.pem");
        assert!(refused("").ends_with("there is no certificate in it"));
        let pem = |inner: &str| {
            format!("-----BEGIN CERTIFICATE-----\n{inner}\n-----END CERTIFICATE-----\n")
        };
        assert!(refused(&pem("!!!!")).contains("must be a PEM file"));
        assert!(refused(&pem("AAAA")).contains("its certificate 1: "));
        assert!(refused(&" ".repeat((1 << 20) + 1)).contains("must be a PEM file"));
    }
}
