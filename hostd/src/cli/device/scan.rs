//! `hostd device scan`: what is plugged into USB, and how to write it into the configuration.

use std::io::Write;

use anyhow::Context;
use pods::usb::{Plugged, plugged};

/// Lists the pods that are plugged in, as entries of the configuration.
///
/// # Errors
/// The system does not tell what is plugged in, or nobody reads what is printed.
pub(super) fn run(out: &mut dyn Write) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the async runtime")?;
    let pods = runtime.block_on(plugged()).context("list USB devices")?;
    Ok(tell(&pods, out)?)
}

fn tell(pods: &[Plugged], out: &mut dyn Write) -> std::io::Result<()> {
    if pods.is_empty() {
        return writeln!(out, "# no pod is plugged into USB");
    }
    for pod in pods {
        let (vendor, product) = pod.ids;
        let name = printable(pod.product.as_deref().unwrap_or("a pod"));
        let port = &pod.port;
        writeln!(out, "# {name} ({vendor:04x}:{product:04x}) on port {port}")?;
        let by_port = format!("usb:port={port}");
        let (address, name) = match (pod.address(), &pod.serial) {
            (Some(address), Some(serial)) => {
                writeln!(out, "# whatever is on this port: address = \"{by_port}\"")?;
                (address, format!("pod-{serial}"))
            }
            _ => {
                writeln!(
                    out,
                    "# it has no serial number that could tell it from others"
                )?;
                (by_port, format!("pod-{port}"))
            }
        };
        let quoted = |text: String| toml::Value::String(text).to_string();
        writeln!(out, "[[devices]]")?;
        writeln!(out, "name = {}", quoted(name))?;
        writeln!(out, "address = {}\n", quoted(address))?;
    }
    Ok(())
}

/// What a device calls itself, in one line.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use base::config::Config;

    use super::*;

    fn pod(serial: Option<&str>) -> Plugged {
        Plugged {
            port: "1-2.3".to_owned(),
            ids: (0x1209, 1),
            product: Some("Bench\npod".to_owned()),
            serial: serial.map(str::to_owned),
            interface: 0,
        }
    }

    fn told(pods: &[Plugged]) -> String {
        let mut out = Vec::new();
        tell(pods, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_printed_is_configuration() {
        let text = told(&[pod(Some("A1\"")), pod(None)]);
        assert!(
            text.starts_with("# Benchpod (1209:0001) on port 1-2.3\n"),
            "{text}"
        );
        let config: Config = toml::from_str(&text).unwrap();
        let addresses: Vec<&str> = config.devices.iter().map(|d| d.address.as_str()).collect();
        assert_eq!(addresses, ["usb:serial=A1\"", "usb:port=1-2.3"]);
        assert!(told(&[]).starts_with("# no pod"));
    }
}
