//! One `hostd pod-sim` process: a pod that outlives the server under test, or vanishes before it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::port::own_port;
use crate::server::binary;

/// A running simulated pod. Killed when dropped.
#[derive(Debug)]
pub struct PodSim {
    child: Child,
    pub address: String,
    /// Its TLS address, if it has one.
    pub tls: Option<String>,
}

impl PodSim {
    /// Start on a free port, with these arguments.
    ///
    /// # Errors
    /// The binary is missing or does not start.
    pub fn start(args: &[&str]) -> Result<Self> {
        Self::start_at("127.0.0.1:0", args)
    }

    /// Start on an address that it can have again after its end, by [`Self::start_at`].
    ///
    /// # Errors
    /// The binary is missing or does not start.
    pub fn start_to_return(args: &[&str]) -> Result<Self> {
        Self::start_at(&format!("127.0.0.1:{}", own_port()), args)
    }

    /// Start on a given address: `127.0.0.1:8080`.
    ///
    /// # Errors
    /// The binary is missing or does not start.
    pub fn start_at(address: &str, args: &[&str]) -> Result<Self> {
        let mut child = Command::new(binary()?)
            .args(["pod-sim", "--listen", address])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("start hostd pod-sim")?;
        let mut printed = BufReader::new(child.stdout.take().context("its output is piped")?);
        let mut told = |prefix: &str| {
            let mut line = String::new();
            printed.read_line(&mut line)?;
            let rest = line.strip_prefix(prefix).context("it says where it is")?;
            Ok::<_, anyhow::Error>(rest.trim().to_owned())
        };
        let address = told("listening on ")?;
        let tls = args.contains(&"--tls").then(|| told("TLS on "));
        Ok(Self {
            address,
            tls: tls.transpose()?,
            child,
        })
    }

    /// Ask the process to stop.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn terminate(&self) -> Result<()> {
        self.signal("-TERM")
    }

    /// Make the pod hang: its connections stay open, and nothing is answered.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn hang(&self) -> Result<()> {
        self.signal("-STOP")
    }

    /// Let a pod that hangs continue where it was.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn go_on(&self) -> Result<()> {
        self.signal("-CONT")
    }

    /// The pod's own answer to a command, without any server in between.
    ///
    /// # Errors
    /// It cannot be reached, or its answer is not JSON.
    pub fn ask(&self, command: &Value) -> Result<Value> {
        let mut stream = TcpStream::connect(&self.address)?;
        writeln!(stream, "{command}")?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        serde_json::from_str(&line).context("read the pod's answer")
    }

    /// Whether the pod feeds its target from rail 1.
    ///
    /// # Panics
    /// The pod does not say.
    #[must_use]
    pub fn is_powered(&self) -> bool {
        let status = self.ask(&serde_json::json!({"cmd": "target_status"}));
        let status = status.expect("the pod answers");
        let enabled = &status["data"]["efuse1"]["enabled"];
        enabled.as_u64().expect("it tells its rails") == 1
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status()?;
        ensure!(status.success(), "kill {signal} failed");
        Ok(())
    }

    /// Wait for the process to end; true if it ended with success.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn wait(&mut self) -> Result<bool> {
        Ok(self.child.wait()?.success())
    }

    /// End the process at once, as if the pod were unplugged.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for PodSim {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
