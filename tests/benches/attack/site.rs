//! A server with its simulated bench, the people who use it, and the addresses they come from.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};
use serde_json::json;
use tempfile::TempDir;
use tests::offline::{offline, owner_of, stranger};
use tests::{Client, Server};

/// Address of honest callers.
pub(crate) const HONEST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Address of an attacker that has only one.
pub(crate) const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// The honest user who signs in with a password.
pub(crate) const LOGIN: &str = "owner";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// What everybody on the site knows.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    /// The first demo device.
    pub(crate) device: String,
    /// The honest owner's key.
    pub(crate) key: String,
    /// Key of a plain member of the same organisation.
    pub(crate) colleague: String,
    /// Key of the owner of another organisation.
    pub(crate) stranger: String,
    /// Key of the owner of a third one.
    pub(crate) rival: String,
}

/// The running server. Ended when dropped.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) site: Site,
    _dir: TempDir,
}

impl Host {
    /// A fresh server with these lines of configuration.
    pub(crate) fn start(settings: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let dir = folder.path();
        let mut first = Server::demo_in(dir)?;
        let key = format!("ApiKey {}", first.api_key);
        set_password(&first)?;
        first.stop()?;
        let stranger = format!("ApiKey {}", stranger(dir));
        let rival = format!("ApiKey {}", owner_of(dir, "rival", "mallory"));
        offline(dir, &["user", "add", "mia", "--org", "default"], "");
        let create = ["key", "create", "--user", "mia", "--scope", "bench:control"];
        let printed = offline(dir, &create, "");
        let colleague = printed.split_whitespace().find(|w| w.starts_with("bk_"));
        let colleague = format!("ApiKey {}", colleague.context("a key is printed")?);
        let config = dir.join("hostd.toml");
        std::fs::write(&config, settings)?;
        let config = config.to_str().context("a UTF-8 path")?;
        let server = Server::demo_in_with(dir, &["--config", config])?;
        let address = server.url.trim_start_matches("http://").parse();
        let site = Site {
            address: address.context("an address in the ready file")?,
            device: server.device().to_owned(),
            key,
            colleague,
            stranger,
            rival,
        };
        Ok(Self {
            server,
            site,
            _dir: folder,
        })
    }

    /// Somebody with this credential.
    pub(crate) fn client(&self, authorization: &str) -> Client {
        self.server.anonymous().with_authorization(authorization)
    }
}

/// Give the owner a password by the code that the first start prints.
fn set_password(server: &Server) -> Result<()> {
    let code = json!({"code": server.code()});
    let session = server.anonymous().post("/api/auth/session", &code)?;
    let session = session.expect(200);
    let token = session["token"].as_str().context("a token")?;
    let owner = server.anonymous();
    let owner = owner.with_authorization(&format!("Bearer {token}"));
    let new = json!({"new": PASSWORD}).to_string();
    owner
        .send("PUT", "/api/auth/password", Some(&new))?
        .expect(200);
    Ok(())
}
