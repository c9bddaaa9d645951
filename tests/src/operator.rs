//! The operator of a running server: commands about plugins over the socket in its data folder, as `hostd plugin …` gives
//! them, without the time that a program takes to start.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// Longest wait for a line; a server at work sends one every few seconds.
const LINE_WAIT: Duration = Duration::from_secs(60);

/// Gives commands to the server on a data folder.
#[derive(Debug, Clone)]
pub struct Operator {
    socket: PathBuf,
}

impl Operator {
    /// On the data folder of a server.
    #[must_use]
    pub fn on(data: &Path) -> Self {
        Self {
            socket: data.join("admin.sock"),
        }
    }

    /// Install a package, a file or a folder.
    ///
    /// # Errors
    /// The server refuses, with its reason, or is gone.
    pub fn install(&self, package: &Path) -> Result<Value> {
        self.command(&json!({"install": {"package": package}}))
    }

    /// Grant all that a plugin wants in the organisation `default`.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub fn approve(&self, id: &str) -> Result<Value> {
        self.command(&json!({"approve": {"id": id, "org": "default"}}))
    }

    /// Go back to the version before.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub fn roll_back(&self, id: &str) -> Result<Value> {
        self.command(&json!({"roll_back": {"id": id}}))
    }

    /// Give a command, and wait until it was carried out.
    ///
    /// # Errors
    /// The server refuses, with its reason, or is gone.
    pub fn command(&self, command: &Value) -> Result<Value> {
        let mut stream = UnixStream::connect(&self.socket).context("find the server")?;
        stream.set_read_timeout(Some(LINE_WAIT))?;
        writeln!(stream, "{}", json!({"plugin": command})).context("command")?;
        for line in BufReader::new(stream).lines() {
            let line: Value = serde_json::from_str(&line.context("wait for the server")?)?;
            if let Some(error) = line["error"].as_str() {
                bail!("{error}");
            }
            if line["told"].is_object() {
                return Ok(line["told"].clone());
            }
        }
        bail!("the server ended before it answered")
    }
}
