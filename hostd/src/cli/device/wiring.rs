//! `hostd device wiring`: show and change the wiring profile of a device, through a running server.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::{Map, Value, json};
use ureq::SendBody;

use super::super::server::{self, Failed, KEY, Server, URL_DEFAULT};

/// What a device's target is wired to: which channels, which chip.
#[derive(Debug, Args)]
pub struct Wiring {
    /// Name or id of the device
    device: String,
    /// Members to change, such as uart_rx=3 swd_target=STM32F030R8, or spi_cs=null for what is not wired
    #[arg(value_name = "NAME=VALUE", value_parser = member)]
    members: Vec<(String, Value)>,
    /// Address of the server, such as `https://bench.example`
    #[arg(long, env = "HOSTD_URL", value_name = "URL", default_value = URL_DEFAULT)]
    url: String,
    /// PEM file of the certificate authorities to trust, in place of the public ones
    #[arg(long, env = "HOSTD_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Wiring {
    /// Change what is named, and print the whole profile.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        lab::devices::check_name(&self.device).context("find the device")?;
        let key = std::env::var(KEY).with_context(|| format!("find the key: set {KEY}"))?;
        let server = Server::new(&self.url, &key, self.ca.as_deref())?;
        let device = format!("/bench/devices/{}", self.device);
        if !self.members.is_empty() {
            let body = json!({"wiring": self.changes()?}).to_string();
            let headers = [("content-type", "application/json")];
            let sent = server.send("PATCH", &device, &headers, body);
            sent.map_err(failed)?;
        }
        let path = format!("{device}/wiring/profile");
        let answer = server.send("GET", &path, &[], SendBody::none());
        let told = answer.and_then(server::json).map_err(failed)?;
        let warnings = told["warnings"].as_array().into_iter().flatten();
        for warning in warnings.filter_map(Value::as_str) {
            // Nobody is left to tell whom standard error does not reach.
            let _ = writeln!(std::io::stderr(), "hostd: {warning}");
        }
        let profile = serde_json::to_string_pretty(&told["profile"])?;
        writeln!(out, "{profile}").context("print the wiring")
    }

    fn changes(&self) -> anyhow::Result<Map<String, Value>> {
        let mut changes = Map::new();
        for (name, value) in &self.members {
            if changes.insert(name.clone(), value.clone()).is_some() {
                bail!("change the wiring: {name} is given twice");
            }
        }
        Ok(changes)
    }
}

fn failed(failed: Failed) -> anyhow::Error {
    anyhow!("{failed}")
}

/// A member of a profile: JSON, or a text that needs no quotes.
fn member(text: &str) -> Result<(String, Value), String> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err("must be a name, = and a value, such as uart_rx=3".to_owned());
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_json_or_plain_texts() {
        for (text, name, value) in [
            ("uart_rx=3", "uart_rx", json!(3)),
            ("spi_cs=null", "spi_cs", json!(null)),
            ("swd_nreset=true", "swd_nreset", json!(true)),
            ("swd_target=STM32F030R8", "swd_target", json!("STM32F030R8")),
            ("i2c_addr=0x76", "i2c_addr", json!("0x76")),
            ("swd_target=", "swd_target", json!("")),
            (
                "signals=[{\"name\":\"led\",\"la\":9}]",
                "signals",
                json!([{"name": "led", "la": 9}]),
            ),
        ] {
            assert_eq!(member(text), Ok((name.to_owned(), value)), "{text}");
        }
        for odd in ["", "uart_rx", "=3"] {
            assert!(member(odd).is_err(), "{odd}");
        }
    }
}
