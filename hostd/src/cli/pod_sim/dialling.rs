//! Whom a simulated pod dials from the start, and whose certificates it trusts.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use pod_sim::Dial;
use pod_sim::dial::Trust;

/// The options.
#[derive(Debug, Args)]
pub(super) struct Dialling {
    /// Dial in to this server, http://bench.example:8080 or https://…, as the command cloud_set makes a pod do
    #[arg(long, value_name = "URL", requires = "dial_device")]
    dial: Option<String>,
    /// Id of the device that the pod is there, from its registration
    #[arg(long, value_name = "ID", requires = "dial")]
    dial_device: Option<String>,
    /// Trust servers whose certificate is by an authority of this file as well, as PEM
    #[arg(long, value_name = "FILE")]
    dial_ca: Option<PathBuf>,
}

impl Dialling {
    /// Whose certificates are trusted.
    pub(super) fn trust(&self) -> anyhow::Result<Trust> {
        let trust = Trust::with(self.dial_ca.as_deref());
        trust.context("read the certificates to trust")
    }

    /// Whom to dial, if that is given.
    pub(super) fn dial(&self) -> anyhow::Result<Option<Dial>> {
        let (Some(url), Some(device_id)) = (&self.dial, &self.dial_device) else {
            return Ok(None);
        };
        let uri: http::Uri = url
            .parse()
            .with_context(|| format!("read the address {url}"))?;
        let (tls, port) = match uri.scheme_str() {
            Some("http") => (false, 80),
            Some("https") => (true, 443),
            _ => bail!("read the address {url}: it begins with http:// or https://"),
        };
        let host = uri
            .host()
            .with_context(|| format!("read the address {url}: it has no host"))?;
        Ok(Some(Dial {
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(port),
            tls,
            device_id: device_id.clone(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dial(url: &str) -> anyhow::Result<Option<Dial>> {
        let dialling = Dialling {
            dial: Some(url.to_owned()),
            dial_device: Some("01D".to_owned()),
            dial_ca: None,
        };
        dialling.dial()
    }

    #[test]
    fn an_address_says_how_to_dial() {
        let plain = dial("http://bench.example").unwrap().unwrap();
        assert_eq!(
            (plain.tls, plain.port, plain.host.as_str()),
            (false, 80, "bench.example")
        );
        let secure = dial("https://bench.example:8443/").unwrap().unwrap();
        assert_eq!(
            (secure.tls, secure.port, secure.device_id.as_str()),
            (true, 8443, "01D")
        );
        for bad in ["", "bench.example", "ftp://bench.example", "http://"] {
            assert!(dial(bad).is_err(), "{bad}");
        }
    }
}
