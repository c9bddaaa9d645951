//! Serial ports by the names that udev gives them, which stay wherever an adapter is plugged in.

use std::fs;
use std::io;
use std::path::{Component, Path};

use usb_host::is_port;

use super::SerialPort;

/// Where udev names them.
const BY_ID: &str = "/dev/serial/by-id";

/// Where the kernel tells which device each terminal is part of.
const TERMINALS: &str = "/sys/class/tty";

/// Most ports that are looked at.
const PORTS_MAX: usize = 256;

/// All of them, by name.
pub(super) fn all() -> io::Result<Vec<SerialPort>> {
    below(Path::new(BY_ID), Path::new(TERMINALS))
}

fn below(by_id: &Path, terminals: &Path) -> io::Result<Vec<SerialPort>> {
    let entries = match fs::read_dir(by_id) {
        // There are none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths: Vec<_> = entries
        .take(PORTS_MAX)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    let mut ports: Vec<SerialPort> = Vec::new();
    for path in paths {
        // One that is just being pulled out leads nowhere.
        let Ok(device) = path.canonicalize() else {
            continue;
        };
        // One port may have several names.
        if path.to_str().is_some() && ports.iter().all(|port| port.device != device) {
            let usb_port = usb_port(terminals, &device);
            ports.push(SerialPort {
                path,
                device,
                usb_port,
            });
        }
    }
    Ok(ports)
}

/// The USB port of the device that a terminal is part of: the last in the kernel's path to it.
fn usb_port(terminals: &Path, device: &Path) -> Option<String> {
    let link = terminals.join(device.file_name()?).join("device");
    let path = link.canonicalize().ok()?;
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    names.map(str::to_owned).find(|name| is_port(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_port_knows_the_device_that_it_is_part_of() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let made = |path: &str| {
            let path = root.join(path);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let (by_id, sys) = (made("by-id"), made("sys"));
        for (name, place) in [
            ("ttyACM0", "devices/pci0/usb1/1-2/1-2.3/1-2.3:1.1"),
            ("ttyUSB0", "devices/pci0/usb1/1-4/1-4:1.0/ttyUSB0"),
            ("ttyS0", "devices/platform/serial8250"),
        ] {
            let terminal = made(&format!("sys/{name}"));
            symlink(made(place), terminal.join("device")).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        for (name, to) in [
            ("usb-B", "ttyUSB0"),
            ("usb-A", "ttyACM0"),
            ("usb-A-again", "ttyACM0"),
            ("other", "ttyS0"),
            ("gone", "ttyUSB9"),
        ] {
            symlink(root.join(to), by_id.join(name)).unwrap();
        }
        let found = below(&by_id, &sys).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|port| {
                (
                    port.path.file_name().unwrap().to_str().unwrap(),
                    port.usb_port.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("other", None),
                ("usb-A", Some("1-2.3")),
                ("usb-B", Some("1-4"))
            ]
        );
        assert_eq!(found[1].device, root.join("ttyACM0"));
        assert!(below(&root.join("nowhere"), &sys).unwrap().is_empty());
    }
}
