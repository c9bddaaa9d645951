//! The entries that a scan proposes, and what it leaves out and why.

use std::fmt::Write as _;
use std::io::{self, Write};

use base::config::DeviceConfig;
use pods::usb::Plugged;

use super::{Found, bench};

/// What is to be appended to a configuration, and what is not.
#[derive(Debug, Default)]
pub(super) struct Proposal {
    /// Text of a configuration; empty if there is nothing new.
    pub(super) entries: String,
    left_out: Vec<LeftOut>,
}

/// Something that is plugged in and for which nothing is written.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) what: String,
    pub(super) why: String,
    /// What somebody who knows more would write.
    pub(super) table: Option<String>,
}

impl Proposal {
    /// For what is plugged in and is not `configured`.
    pub(super) fn of(found: &Found, configured: &[DeviceConfig]) -> Self {
        let mut proposal = Self::default();
        let mut names: Vec<String> = configured.iter().map(|d| d.name.clone()).collect();
        for pod in &found.pods {
            proposal.pod(pod, configured, &mut names);
        }
        let (bench, left_out) = bench::of(found, configured);
        proposal.left_out.extend(left_out);
        if !bench.is_empty() {
            let name = (1..).map(|number| format!("bench-{number}"));
            let name = free(name, &mut names);
            proposal.entry(&name, "parts");
            for part in bench {
                let _ = write!(proposal.entries, "\n# {}\n{}", part.what, part.table);
            }
        }
        proposal
    }

    fn pod(&mut self, pod: &Plugged, configured: &[DeviceConfig], names: &mut Vec<String>) {
        let what = called(pod.product.as_deref(), "a pod", pod.ids, &pod.port);
        if let Some(entry) = configured
            .iter()
            .find(|device| pod.is_meant_by(&device.address))
        {
            let why = format!("{} means it: {}", quoted(&entry.name), entry.address);
            self.left_out.push(LeftOut::known(what, why));
            return;
        }
        let port = &pod.port;
        let by_port = format!("usb:port={port}");
        let _ = writeln!(self.entries, "# {what}");
        let (address, name) = match (pod.address(), &pod.serial) {
            (Some(address), Some(serial)) => {
                let _ = writeln!(
                    self.entries,
                    "# whatever is on this port: address = \"{by_port}\""
                );
                (address, format!("pod-{serial}"))
            }
            _ => {
                self.entries += "# it has no serial number that could tell it from others\n";
                (by_port, format!("pod-{port}"))
            }
        };
        let others = (2..).map(|number| format!("{name}-{number}"));
        let name = free(std::iter::once(name.clone()).chain(others), names);
        self.entry(&name, &address);
        self.entries.push('\n');
    }

    fn entry(&mut self, name: &str, address: &str) {
        let (name, address) = (quoted(name), quoted(address));
        let _ = write!(
            self.entries,
            "[[devices]]\nname = {name}\naddress = {address}\n"
        );
    }

    /// Prints it. What is left out are comments, so that all of it is configuration.
    pub(super) fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.entries.is_empty() && self.left_out.is_empty() {
            return writeln!(
                out,
                "# no pod is plugged into USB, and no part of a bench: probe, serial port, analyzer, supply, hub, GPIO chip"
            );
        }
        if !self.entries.is_empty() {
            writeln!(out, "{}", self.entries.trim_end())?;
        }
        for left_out in &self.left_out {
            writeln!(
                out,
                "\n# left out: {}:\n#   {}",
                left_out.what, left_out.why
            )?;
            for line in left_out.table.iter().flat_map(|table| table.lines()) {
                writeln!(out, "#     {line}")?;
            }
        }
        Ok(())
    }
}

impl LeftOut {
    /// What nobody needs to write.
    pub(super) fn known(what: String, why: String) -> Self {
        let table = None;
        Self { what, why, table }
    }
}

/// The first of these names that nobody has; it is taken then.
fn free(mut wanted: impl Iterator<Item = String>, names: &mut Vec<String>) -> String {
    let name = wanted.find(|name| !names.contains(name));
    // There are more numbers than names.
    let name = name.unwrap_or_default();
    names.push(name.clone());
    name
}

/// A text as a configuration has it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// What people recognise a device by, in one line.
pub(super) fn called(
    product: Option<&str>,
    otherwise: &str,
    (vendor, number): (u16, u16),
    port: &str,
) -> String {
    let name: String = product
        .unwrap_or(otherwise)
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    format!("{name} ({vendor:04x}:{number:04x}) on port {port}")
}
