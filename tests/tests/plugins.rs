//! Plugins: installed into a running server, granted, called, replaced, put back, removed; and those that mean harm.

mod admin;
mod chat;
mod decoders;
mod dev;
mod events;
mod fixtures;
mod folder;
mod hostile;
mod http_out;
mod kills;
mod languages;
mod lifecycle;
mod load;
mod mail;
mod proxy;
mod reading;
mod reports;
mod rights;
mod store;
mod swap;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::package::{self, ID, MARK};
use tests::server::binary;
use tests::{Client, Operator, Reply, Server, until};

/// All that it may want.
pub(crate) const WANTS: &str = r#"
interfaces = ["captures", "devices", "http-out", "jobs", "notify", "power", "secrets", "store"]
scopes = ["bench:control", "jobs:submit"]
secrets = ["TOKEN"]
http = ["http://127.0.0.1:9/*"]
public = true
"#;

/// A server with a folder for packages.
struct Bench {
    dir: TempDir,
    server: Server,
}

/// What a command came to.
struct Ran {
    success: bool,
    out: String,
    err: String,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::demo_in(dir.path()).unwrap();
        Self { dir, server }
    }

    /// A server that lets a caller ask as often as it can.
    fn unlimited() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("hostd.toml");
        fs::write(&config, "[http]\nrate_per_s = 0\n").unwrap();
        let with = ["--config", config.to_str().unwrap()];
        let server = Server::demo_in_with(dir.path(), &with).unwrap();
        Self { dir, server }
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    fn operator(&self) -> Operator {
        Operator::on(&self.dir.path().join("data"))
    }

    /// A folder with a version of the plugin.
    fn version(&self, version: &str, wants: &str, limits: &str) -> PathBuf {
        let folder = self.dir.path().join(format!("package-{version}"));
        package::write_version(&folder, version, wants, limits).unwrap();
        folder
    }

    /// `hostd plugin …` on the data folder of the server.
    fn plugin(&self, args: &[&str]) -> Ran {
        run(self.dir.path(), args)
    }

    /// Install a version and grant all that it wants.
    fn install(&self, version: &str) -> PathBuf {
        let folder = self.version(version, WANTS, "");
        self.plugin(&["install", &folder.display().to_string()])
            .ok();
        self.plugin(&["approve", ID]).ok();
        folder
    }

    /// Waits until it is loaded after a start; the version with this mark answers then.
    fn comes_back_as(&self, mark: &str) {
        let reply = until(|| self.get("/mark"), |reply| reply.status != 503).unwrap();
        assert_eq!(mark_of(&reply), mark);
    }

    /// Waits until the version with this mark answers in the place of another one, which answers until then.
    fn until_replaced_by(&self, mark: &str) {
        let serving = || mark_of(&self.get("/mark"));
        until(serving, |serving| serving == mark).unwrap();
    }

    /// Waits until the version with this mark answers, whatever is answered until then.
    fn until_serving(&self, mark: &str) {
        let serving = || {
            let reply = self.get("/mark");
            (reply.status == 200).then(|| mark_of(&reply))
        };
        until(serving, |serving| serving.as_deref() == Some(mark)).unwrap();
    }

    fn get(&self, path: &str) -> Reply {
        self.client().get(&format!("/api/x/{ID}{path}")).unwrap()
    }

    /// Have the plugin call a function of the host.
    fn call(&self, asked: &Value) -> Reply {
        call(&self.client(), asked)
    }
}

impl Ran {
    fn ok(self) -> String {
        assert!(self.success, "{}{}", self.out, self.err);
        self.out
    }

    fn refused(self) -> String {
        assert!(!self.success, "{}", self.out);
        self.err
    }
}

fn call(client: &Client, asked: &Value) -> Reply {
    client.post(&format!("/api/x/{ID}/call"), asked).unwrap()
}

fn run(dir: &Path, args: &[&str]) -> Ran {
    let output = Command::new(binary().unwrap())
        .arg("plugin")
        .args(args)
        .arg("--data-dir")
        .arg(dir.join("data"))
        .output()
        .unwrap();
    Ran {
        success: output.status.success(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The component of a guest that was built with the handlers.
fn component(path: &str) -> Vec<u8> {
    package::component(path).unwrap()
}

/// What a request to the plugin's first route tells.
fn mark_of(reply: &Reply) -> String {
    reply.expect(200)["mark"].as_str().unwrap().to_owned()
}

/// A member of an organisation that the operator made while the server was stopped.
fn key(dir: &Path, args: &[&str]) -> String {
    let mut all = vec!["key", "create"];
    all.extend(args);
    let printed = tests::offline::offline(dir, &all, "");
    let key = printed.split_whitespace().find(|w| w.starts_with("bk_"));
    key.unwrap().to_owned()
}

fn with_key(server: &Server, key: &str) -> Client {
    server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"))
}

fn function(name: &str) -> Value {
    json!({"function": name})
}
