//! The parts that one bench can be made of. Which part belongs to which target nobody can see from here: where there are
//! two that could do the same, neither is taken.

use base::config::{DeviceConfig, LogicPart, PowerPart};
use parts::scan::{GpioChip, GpioLine, HAS_VENDOR_PROBES, Kind, SerialPort, Switching, UsbDevice};

use super::Found;
use super::proposal::{LeftOut, called, quoted};

/// Names of lines that are told of one chip.
const NAMES_MAX: usize = 30;

/// A part, and the table of the configuration that uses it.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) what: String,
    pub(super) table: String,
}

impl Part {
    fn without(self, why: &str) -> LeftOut {
        LeftOut {
            what: self.what,
            why: why.to_owned(),
            table: Some(self.table),
        }
    }
}

/// The parts of a new bench, none if nothing new is there, and what is left out.
pub(super) fn of(found: &Found, configured: &[DeviceConfig]) -> (Vec<Part>, Vec<LeftOut>) {
    let is_pod = |port: &str| found.pods.iter().any(|pod| pod.port == port);
    let mut choice = Choice {
        configured,
        ..Choice::default()
    };
    for device in &found.parts.devices {
        if !is_pod(&device.port) {
            choice.sort(device);
        }
    }
    let ports = found.parts.ports.iter().filter(|port| {
        let on = port.usb_port.as_deref();
        !on.is_some_and(is_pod)
    });
    choice.ports(ports);
    for chip in &found.parts.chips {
        if !chip.usb_port().is_some_and(is_pod) {
            choice.chip(chip);
        }
    }
    choice.make()
}

/// What is new, by what it can do.
#[derive(Default)]
struct Choice<'f> {
    configured: &'f [DeviceConfig],
    probes: Vec<&'f UsbDevice>,
    /// Probes that benches of the configuration have, with the names of these.
    taken: Vec<(&'f UsbDevice, &'f str)>,
    analyzers: Vec<Part>,
    supplies: Vec<Part>,
    ports: Vec<&'f SerialPort>,
    left_out: Vec<LeftOut>,
}

impl<'f> Choice<'f> {
    /// The entry that has a part.
    fn owner(&self, has: impl Fn(&DeviceConfig) -> bool) -> Option<&'f str> {
        let owner = self.configured.iter().find(|device| has(device));
        owner.map(|device| device.name.as_str())
    }

    fn known(&mut self, what: String, owner: &str) {
        let why = format!("{} has it already", quoted(owner));
        self.left_out.push(LeftOut::known(what, why));
    }

    fn sort(&mut self, device: &'f UsbDevice) {
        let name = |otherwise| {
            let product = device.product.as_deref();
            called(product, otherwise, device.ids, &device.port)
        };
        match device.kind() {
            None => {}
            Some(Kind::VendorProbe(family)) if !HAS_VENDOR_PROBES => {
                let why = format!(
                    "it speaks the protocol of {family} alone, and this hostd was built without the feature `vendor-probes`: use one that has it"
                );
                self.left_out.push(LeftOut::known(name("probe"), why));
            }
            Some(Kind::Probe | Kind::VendorProbe(_)) => {
                let has = |entry: &DeviceConfig| {
                    let probe = entry.probe.as_ref();
                    probe.is_some_and(|probe| device.is_meant_by(&probe.address))
                };
                match self.owner(has) {
                    Some(owner) => {
                        self.taken.push((device, owner));
                        self.known(name("probe"), owner);
                    }
                    None => self.probes.push(device),
                }
            }
            Some(Kind::Analyzer(model)) => {
                let has = |entry: &DeviceConfig| match &entry.logic {
                    Some(LogicPart::Fx2lafw { port, .. }) => {
                        port.as_ref().is_none_or(|port| *port == device.port)
                    }
                    Some(LogicPart::Sigrok { driver, .. }) => driver.starts_with("fx2lafw"),
                    None => false,
                };
                // What it calls itself says less than what people call it.
                let what = called(Some(model), "", device.ids, &device.port);
                match self.owner(has) {
                    Some(owner) => self.known(what, owner),
                    None => self.analyzers.push(Part {
                        what,
                        table: format!(
                            "[devices.logic]\nkind = \"fx2lafw\"\nport = {}\n",
                            quoted(&device.port)
                        ),
                    }),
                }
            }
            Some(Kind::Instrument) => {
                let has = |entry: &DeviceConfig| match &entry.power {
                    Some(PowerPart::Scpi { address, .. }) => device.is_meant_by(address),
                    _ => false,
                };
                let what = name("instrument");
                match self.owner(has) {
                    Some(owner) => self.known(what, owner),
                    None => self.supplies.push(Part {
                        what: format!("{what}; remove this table if it is no supply, and set what the target takes"),
                        table: format!(
                            "[devices.power]\nkind = \"scpi\"\naddress = {}\nvoltage_mv = 3300\nlimit_ma = 100\n",
                            quoted(&device.address())
                        ),
                    }),
                }
            }
            Some(Kind::Hub) => self.hub(device, name("hub")),
        }
    }

    fn hub(&mut self, device: &UsbDevice, what: String) {
        let has = |entry: &DeviceConfig| matches!(&entry.power, Some(PowerPart::Hub { hub, .. }) if *hub == device.port);
        if let Some(owner) = self.owner(has) {
            return self.known(what, owner);
        }
        let hub = quoted(&device.port);
        match &device.switching {
            Some(Switching::EachPort(ports)) => self.left_out.push(LeftOut {
                what,
                why: format!(
                    "it switches each of its {ports} ports, and which one feeds a target cannot be seen: set `port`, and put it into the entry of its bench"
                ),
                table: Some(format!("[devices.power]\nkind = \"hub\"\nhub = {hub}\nport = 1\n")),
            }),
            Some(Switching::Unknown(reason)) => {
                let why = format!("whether it switches its ports is not known: {reason}");
                self.left_out.push(LeftOut::known(what, why));
            }
            Some(Switching::No) | None => {}
        }
    }

    /// A chip is no part by itself: one of its lines may be.
    fn chip(&mut self, chip: &GpioChip) {
        let label: String = chip.label.chars().filter(|c| !c.is_control()).collect();
        let on = chip.usb_port().map(|port| format!(" on port {port}"));
        let what = format!(
            "GPIO chip {} ({label}){}",
            chip.name,
            on.unwrap_or_default()
        );
        let free = match &chip.lines {
            Ok(lines) => free_lines(lines),
            Err(reason) => return self.left_out.push(LeftOut::known(what, reason.clone())),
        };
        let has = |entry: &DeviceConfig| matches!(&entry.power, Some(PowerPart::Gpio { chip: meant, .. }) if chip.is_meant_by(meant));
        let why = match self.owner(has) {
            Some(owner) => format!("{} has a line of it already", quoted(owner)),
            None => "which of its lines switches a target cannot be seen: set `line`, and put it into the entry of its bench".to_owned(),
        };
        let address = quoted(&chip.address());
        self.left_out.push(LeftOut {
            what,
            why: format!("{why}; {free}"),
            table: Some(format!(
                "[devices.power]\nkind = \"gpio\"\nchip = {address}\nline = 0\n"
            )),
        });
    }

    /// Sorts serial ports, after all devices.
    fn ports(&mut self, ports: impl Iterator<Item = &'f SerialPort>) {
        for port in ports {
            let is_it = |path: &str| {
                let path = std::path::Path::new(path);
                let resolved = path.canonicalize();
                path == port.path
                    || path == port.device
                    || resolved.is_ok_and(|path| path == port.device)
            };
            let has = |entry: &DeviceConfig| {
                let relay = match &entry.power {
                    Some(PowerPart::Relay { path, .. }) => is_it(path),
                    _ => false,
                };
                relay || entry.uart.as_ref().is_some_and(|uart| is_it(&uart.path))
            };
            let on = port.usb_port.as_deref();
            let mut taken = self.taken.iter();
            let taken = taken.find(|(probe, _)| on == Some(probe.port.as_str()));
            if let Some(owner) = self.owner(has) {
                self.known(serial(port).what, owner);
            } else if let Some((_, owner)) = taken {
                let owner = quoted(owner);
                let why = format!("it is part of the probe of {owner}: put it into that entry");
                self.left_out.push(serial(port).without(&why));
            } else {
                self.ports.push(port);
            }
        }
    }

    fn make(mut self) -> (Vec<Part>, Vec<LeftOut>) {
        let mut bench = Vec::new();
        let probe = match self.probes[..] {
            [probe] => Some(probe),
            _ => None,
        };
        let probes = self.probes.iter().map(|device| Part {
            what: called(device.product.as_deref(), "probe", device.ids, &device.port),
            table: format!("[devices.probe]\naddress = {}\n", quoted(&device.address())),
        });
        let probes = probes.collect();
        self.only(probes, "probes", &mut bench);
        self.uart(probe, &mut bench);
        let supplies = std::mem::take(&mut self.supplies);
        self.only(supplies, "instruments", &mut bench);
        let analyzers = std::mem::take(&mut self.analyzers);
        self.only(analyzers, "analyzers", &mut bench);
        let is_bench = |entry: &DeviceConfig| entry.address.starts_with(parts::SCHEME);
        if probe.is_none() && self.configured.iter().any(is_bench) {
            let why = "it may belong to a bench that the configuration has, and a new one begins with a probe: put it into the entry of its bench";
            let parts = bench.drain(..).map(|part| part.without(why));
            self.left_out.extend(parts);
        }
        (bench, self.left_out)
    }

    /// The serial port of the probe if that has one, otherwise the one that belongs to no probe.
    fn uart(&mut self, probe: Option<&UsbDevice>, bench: &mut Vec<Part>) {
        let is_of =
            |port: &SerialPort, device: &UsbDevice| port.usb_port.as_ref() == Some(&device.port);
        let has_own = probe.is_some_and(|probe| self.ports.iter().any(|port| is_of(port, probe)));
        let (mut usable, mut others) = (Vec::new(), Vec::new());
        for port in &self.ports {
            let of_probe = self.probes.iter().any(|device| is_of(port, device));
            let list = match of_probe == has_own {
                true => &mut usable,
                false => &mut others,
            };
            list.push(serial(port));
        }
        let why = match has_own {
            true => {
                "the probe has a serial port of its own: put this one into the entry of another bench"
            }
            false => {
                "it is part of a probe that is left out: put both into the entry of their bench"
            }
        };
        let others = others.into_iter().map(|port| port.without(why));
        self.left_out.extend(others);
        self.only(usable, "serial ports", bench);
    }

    /// Takes what is the only one of its kind.
    fn only(&mut self, mut parts: Vec<Part>, kind: &str, bench: &mut Vec<Part>) {
        if parts.len() == 1 {
            return bench.append(&mut parts);
        }
        let why = format!(
            "there are {} {kind}, and which one belongs to which target cannot be seen: put it into the entry of its bench",
            parts.len()
        );
        let parts = parts.into_iter().map(|part| part.without(&why));
        self.left_out.extend(parts);
    }
}

/// Lines that nobody has, in a few words.
fn free_lines(lines: &[GpioLine]) -> String {
    let free = lines.iter().filter(|line| line.is_free);
    let names = free.clone().filter(|line| !line.name.is_empty());
    let mut names: Vec<String> = names.map(|line| quoted(&line.name)).collect();
    let more = names.len().saturating_sub(NAMES_MAX);
    names.truncate(NAMES_MAX);
    let names = match (names.join(", "), more) {
        (names, _) if names.is_empty() => String::new(),
        (names, 0) => format!(": {names}"),
        (names, more) => format!(": {names} and {more} more with a name"),
    };
    format!(
        "{} of its {} lines are free{names}",
        free.count(),
        lines.len()
    )
}

fn serial(port: &SerialPort) -> Part {
    let path = port.path.to_string_lossy();
    let on = match &port.usb_port {
        Some(usb_port) => format!(" on port {usb_port}"),
        None => String::new(),
    };
    let name = path.rsplit('/').next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    Part {
        what: format!("serial port {name}{on}"),
        table: format!("[devices.uart]\npath = {}\n", quoted(&path)),
    }
}
