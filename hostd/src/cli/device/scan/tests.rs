//! What is proposed for made-up lists of what is plugged in, and what becomes of files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use base::config::{LogicPart, PowerPart};
use parts::scan::{GpioChip, GpioLine, Interface, SerialPort, Switching, Usb, UsbDevice};
use tempfile::TempDir;

use super::*;

fn pod(port: &str, serial: Option<&str>) -> pods::usb::Plugged {
    pods::usb::Plugged {
        port: port.to_owned(),
        ids: (0x1209, 1),
        product: Some("Bench\npod".to_owned()),
        serial: serial.map(str::to_owned),
        interface: 0,
    }
}

fn device(port: &str, ids: (u16, u16), interface: (u8, u8), name: &str) -> UsbDevice {
    UsbDevice {
        port: port.to_owned(),
        ids,
        product: Some(format!("Thing {}", ids.1)),
        serial: Some(format!("S{port}")),
        interfaces: vec![Interface {
            class: interface,
            name: name.to_owned(),
        }],
        switching: None,
    }
}

fn probe(port: &str) -> UsbDevice {
    device(port, (0x2e8a, 0x000c), (0xFF, 0), "CMSIS-DAP v2 Interface")
}

fn analyzer(port: &str) -> UsbDevice {
    device(port, (0x0925, 0x3881), (0xFF, 0xFF), "")
}

fn instrument(port: &str) -> UsbDevice {
    device(port, (0x1ab1, 0x0e11), (0xFE, 3), "")
}

fn hub(port: &str, switching: Switching) -> UsbDevice {
    let switching = Some(switching);
    let hub = device(port, (0x05e3, 0x0608), (9, 0), "");
    UsbDevice { switching, ..hub }
}

fn port(name: &str, usb_port: &str) -> SerialPort {
    SerialPort {
        path: format!("/dev/serial/by-id/{name}").into(),
        device: format!("/dev/tty-{name}").into(),
        usb_port: Some(usb_port.to_owned()),
    }
}

fn found(devices: Vec<UsbDevice>, ports: Vec<SerialPort>) -> Found {
    Found {
        pods: Vec::new(),
        parts: parts::scan::Plugged {
            devices,
            ports,
            chips: Vec::new(),
        },
    }
}

/// A probe with its own serial port, another adapter, an analyzer, a supply, and two hubs.
fn everything() -> Found {
    let devices = vec![
        hub("1-1", Switching::EachPort(4)),
        probe("1-1.2"),
        hub("1-2", Switching::No),
        hub("1-3", Switching::Unknown("not permitted".to_owned())),
        analyzer("1-4"),
        instrument("1-5"),
        device("1-6", (0x046d, 0xc31c), (3, 1), "keyboard"),
    ];
    let ports = vec![port("usb-FTDI", "1-7"), port("usb-Probe", "1-1.2")];
    let mut all = found(devices, ports);
    all.pods = vec![pod("2-1", Some("A1\""))];
    all
}

fn told(found: &Found, config: &Config) -> String {
    let mut out = Vec::new();
    tell(found, config, None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What is printed when nothing is configured, and what it means.
fn proposed(found: &Found) -> (String, Config) {
    let text = told(found, &Config::default());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hostd.toml");
    fs::write(&path, &text).unwrap();
    let config = Config::load(Some(&path), std::iter::empty(), &[]).unwrap();
    config.check_addresses(crate::drivers::check).unwrap();
    (text, config)
}

fn addresses(config: &Config) -> Vec<&str> {
    let devices = config.devices.iter();
    devices.map(|device| device.address.as_str()).collect()
}

/// A file that is written to.
struct Scene {
    dir: TempDir,
    path: PathBuf,
}

impl Scene {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hostd.toml");
        fs::write(&path, text).unwrap();
        Self { dir, path }
    }

    fn write(&self, found: &Found) -> Result<String, String> {
        write(&self.path, found)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    /// Names in its folder.
    fn beside(&self) -> usize {
        fs::read_dir(self.dir.path()).unwrap().count()
    }
}

fn write(path: &Path, found: &Found) -> Result<String, String> {
    let mut out = Vec::new();
    tell(found, &Config::default(), Some(path), &mut out).map_err(|e| format!("{e:#}"))?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn pods_get_an_entry_each() {
    let mut pods = found(Vec::new(), vec![port("usb-Pod", "1-2.3")]);
    pods.pods = vec![pod("1-2.3", Some("A1\"")), pod("1-4", None)];
    // Its probe and its console are the pod's.
    pods.parts.devices = vec![probe("1-2.3")];
    let (text, config) = proposed(&pods);
    let start = "# Benchpod (1209:0001) on port 1-2.3\n";
    assert!(
        text.starts_with(start) && !text.contains("left out"),
        "{text}"
    );
    assert_eq!(addresses(&config), ["usb:serial=A1\"", "usb:port=1-4"]);
}

#[test]
fn nothing_is_said_where_nothing_is() {
    let scene = Scene::new("# mine\n");
    for nothing in [
        Found::default(),
        found(vec![device("1-1", (1, 2), (3, 1), "")], Vec::new()),
    ] {
        assert!(told(&nothing, &Config::default()).starts_with("# no pod is plugged"));
        let said = scene.write(&nothing).unwrap();
        assert!(said.contains("nothing new"), "{said}");
    }
    assert_eq!((scene.text().as_str(), scene.beside()), ("# mine\n", 1));
    let missing = scene.dir.path().join("other.toml");
    write(&missing, &Found::default()).unwrap();
    assert!(!missing.exists());
}

#[test]
fn parts_become_one_bench_with_the_probes_own_serial_port() {
    let (text, config) = proposed(&everything());
    assert_eq!(addresses(&config), ["usb:serial=A1\"", "parts:bench-1"]);
    let bench = &config.devices[1];
    assert_eq!(
        bench.probe.as_ref().unwrap().address,
        "usb:2e8a:000c:S1-1.2"
    );
    let uart = bench.uart.as_ref().unwrap();
    assert_eq!(uart.path, "/dev/serial/by-id/usb-Probe");
    assert!(
        matches!(&bench.logic, Some(LogicPart::Fx2lafw { port: Some(port), .. }) if port == "1-4")
    );
    // A supply is never switched on with whatever somebody set it to.
    assert!(matches!(
        &bench.power,
        Some(PowerPart::Scpi { address, voltage_mv: Some(3300), limit_ma: Some(100), .. })
            if address == "usb:1ab1:0e11:S1-5"
    ));
    for left_out in [
        "serial port usb-FTDI on port 1-7:\n#   the probe has a serial port of its own",
        "on port 1-1:\n#   it switches each of its 4 ports",
        "#     hub = \"1-1\"",
        "on port 1-3:\n#   whether it switches its ports is not known: not permitted",
    ] {
        assert!(text.contains(left_out), "no {left_out} in\n{text}");
    }
    assert!(
        !text.contains("port 1-2:") && !text.contains("port 1-6"),
        "{text}"
    );
}

#[test]
fn where_two_could_do_the_same_neither_is_taken() {
    let ports = vec![port("usb-A", "1-1"), port("usb-C", "1-3")];
    let two = found(vec![probe("1-1"), probe("1-2"), analyzer("1-4")], ports);
    let (text, config) = proposed(&two);
    let bench = &config.devices[0];
    assert!(config.devices.len() == 1 && bench.probe.is_none() && bench.logic.is_some());
    // The other port is part of a probe.
    assert_eq!(bench.uart.as_ref().unwrap().path, "/dev/serial/by-id/usb-C");
    for left_out in [
        "on port 1-1:\n#   there are 2 probes, and which one belongs to which target cannot be seen: put it into",
        "on port 1-2:\n#   there are 2 probes",
        "#     address = \"usb:2e8a:000c:S1-1\"",
        "#     address = \"usb:2e8a:000c:S1-2\"",
        "serial port usb-A on port 1-1:\n#   it is part of a probe that is left out",
    ] {
        assert!(text.contains(left_out), "no {left_out} in\n{text}");
    }
    let scene = Scene::new("");
    let alone = found(vec![probe("1-1"), probe("1-2")], Vec::new());
    let said = scene.write(&alone).unwrap();
    assert!(said.contains("there are 2 probes") && said.contains("nothing new"));
    assert_eq!(scene.text(), "");
}

#[test]
fn a_probe_of_the_first_version_is_one_like_others() {
    let old = found(
        vec![device("1-1", (1, 2), (3, 0), "CMSIS-DAP v1")],
        Vec::new(),
    );
    let (_, config) = proposed(&old);
    let probe = config.devices[0].probe.as_ref().unwrap();
    assert_eq!(probe.address, "usb:0001:0002:S1-1");
}

#[test]
fn a_probe_with_a_protocol_of_its_own_is_a_probe_if_there_are_drivers() {
    let stlink = found(
        vec![device("1-1", (0x0483, 0x374B), (0xFF, 0xFF), "ST Link")],
        Vec::new(),
    );
    let (text, config) = proposed(&stlink);
    if parts::scan::HAS_VENDOR_PROBES {
        let probe = config.devices[0].probe.as_ref().unwrap();
        assert_eq!(probe.address, "usb:0483:374b:S1-1");
    } else {
        assert!(config.devices.is_empty(), "{text}");
        assert!(text.contains("built without the feature"), "{text}");
    }
}

#[test]
fn what_the_file_has_stays_and_is_not_repeated() {
    let mine = "# my benches\r\n[http]   # odd   spacing\nlisten = \"127.0.0.1:9\"\n\n[[devices]] # first\nname = \"bench-1\"\naddress = \"sim:v3\"\n[[devices]]\naddress = \"usb:serial=B\"\nname = \"pod-A\"\n# the end";
    let scene = Scene::new(mine);
    fs::set_permissions(&scene.path, fs::Permissions::from_mode(0o640)).unwrap();
    let mut all = everything();
    all.pods = vec![pod("2-1", Some("A")), pod("2-2", Some("B"))];
    let config = Config::load(Some(&scene.path), std::iter::empty(), &[]).unwrap();
    let dry = told(&all, &config);
    let said = scene.write(&all).unwrap();
    // The dry look says the same, but for what was done.
    let (same, done) = said.split_once("# appended to").unwrap();
    assert_eq!(same, dry);
    assert!(done.contains("hostd.toml"), "{done}");
    assert!(
        said.contains("on port 2-2:\n#   \"pod-A\" means it"),
        "{said}"
    );
    let text = scene.text();
    let added = text
        .strip_prefix(mine)
        .unwrap()
        .strip_prefix("\n\n")
        .unwrap();
    assert!(dry.starts_with(added.trim_end()), "{added}\n---\n{dry}");
    let mode = fs::metadata(&scene.path).unwrap().permissions().mode();
    assert_eq!((mode & 0o7777, scene.beside()), (0o640, 1));
    let config = Config::load(Some(&scene.path), std::iter::empty(), &[]).unwrap();
    let names: Vec<_> = config.devices.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["bench-1", "pod-A", "pod-A-2", "bench-2"]);
    // Once more: all of it is known now.
    let said = scene.write(&all).unwrap();
    assert!(said.contains("nothing new"), "{said}");
    assert!(said.contains("\"bench-2\" has it already"), "{said}");
    assert_eq!(scene.text(), text);
}

#[test]
fn beside_a_bench_another_one_begins_with_a_probe() {
    let scene = Scene::new(
        "[[devices]]\nname = \"b\"\naddress = \"parts\"\nuart = { path = \"/dev/ttyS0\" }\n",
    );
    let said = scene
        .write(&found(vec![analyzer("1-4")], Vec::new()))
        .unwrap();
    assert!(
        said.contains("it may belong to a bench") && said.contains("nothing new"),
        "{said}"
    );
    let both = found(vec![analyzer("1-4"), probe("1-1")], Vec::new());
    let said = scene.write(&both).unwrap();
    assert!(
        said.contains("name = \"bench-1\"") && !said.contains("left out"),
        "{said}"
    );
}

#[test]
fn a_serial_port_of_a_probe_that_a_bench_has_is_for_that_bench() {
    let scene = Scene::new(
        "[[devices]]\nname = \"b\"\naddress = \"parts\"\nprobe = { address = \"usb:2e8a:000c\" }\n",
    );
    let new = found(vec![probe("1-1")], vec![port("usb-A", "1-1")]);
    let said = scene.write(&new).unwrap();
    assert!(
        said.contains("it is part of the probe of \"b\": put it into that entry"),
        "{said}"
    );
    assert!(said.contains("nothing new"), "{said}");
}

#[test]
fn what_is_no_configuration_is_refused_and_stays() {
    for (text, told) in [
        ("[http\nlisten = 3", "parse"),
        ("[http]\nlisten_on = \"x\"\n", "listen_on"),
        (
            "[[devices]]\nname = \"b\"\naddress = \"parts\"\n",
            "a table of its parts",
        ),
        ("[[devices]]\nname = \"b\"\naddress = \"hid:1\"\n", "hid"),
        // Nothing can be appended to this one.
        (
            "devices = [{ name = \"b\", address = \"usb:serial=B\" }]\n",
            "make a configuration of it",
        ),
    ] {
        let scene = Scene::new(text);
        let error = scene.write(&everything()).unwrap_err();
        assert!(
            error.contains("which stays as it was") && error.contains(told),
            "{error}"
        );
        assert_eq!(
            (scene.text().as_str(), scene.beside()),
            (text, 1),
            "{error}"
        );
    }
    let scene = Scene::new("");
    let error = write(scene.dir.path(), &everything()).unwrap_err();
    assert!(error.contains("it is no file"), "{error}");
    fs::write(&scene.path, [0xFF, 0xFE]).unwrap();
    let error = scene.write(&everything()).unwrap_err();
    assert!(error.contains("UTF-8"), "{error}");
}

#[test]
fn a_file_that_does_not_exist_is_made_and_a_link_stays_one() {
    let scene = Scene::new("");
    let path = scene.dir.path().join("new.toml");
    write(&path, &everything()).unwrap();
    let config = Config::load(Some(&path), std::iter::empty(), &[]).unwrap();
    assert_eq!(config.devices.len(), 2);
    let link = scene.dir.path().join("link.toml");
    symlink(&scene.path, &link).unwrap();
    write(&link, &everything()).unwrap();
    assert!(link.is_symlink() && scene.text().contains("bench-1"));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_said() {
    // Not even root makes files there.
    let error = write(Path::new("/proc/hostd.toml"), &everything()).unwrap_err();
    assert!(error.contains("make /proc/.hostd.toml."), "{error}");
    if rustix::process::geteuid().is_root() {
        return;
    }
    let scene = Scene::new("# mine\n");
    let folder = |mode| fs::set_permissions(scene.dir.path(), fs::Permissions::from_mode(mode));
    folder(0o555).unwrap();
    let error = scene.write(&everything()).unwrap_err();
    folder(0o755).unwrap();
    assert!(error.contains("may this user write there?"), "{error}");
    assert_eq!((scene.text().as_str(), scene.beside()), ("# mine\n", 1));
}

#[test]
fn what_somebody_else_writes_meanwhile_is_not_lost() {
    let scene = Scene::new("# mine\n");
    let file = file::ConfigFile::open(&scene.path).unwrap();
    fs::write(&scene.path, "# theirs\n").unwrap();
    let entries = "[[devices]]\nname = \"x\"\naddress = \"sim:v3\"\n";
    let error = format!("{:#}", file.append(entries).unwrap_err());
    assert!(error.contains("somebody else changed it"), "{error}");
    assert_eq!((scene.text().as_str(), scene.beside()), ("# theirs\n", 1));
}

fn chip(usb: Option<&str>, lines: &[(&str, bool)]) -> GpioChip {
    let lines = (0..).zip(lines).map(|(number, (name, is_free))| GpioLine {
        number,
        name: (*name).to_owned(),
        is_free: *is_free,
    });
    GpioChip {
        name: "gpiochip3".to_owned(),
        label: "maker\n-gpio".to_owned(),
        usb: usb.map(|port| Usb {
            port: port.to_owned(),
            ids: (0x10C4, 0xEA60),
            serial: Some("A\"1".to_owned()),
        }),
        lines: Ok(lines.collect()),
    }
}

#[test]
fn chips_are_listed_and_their_lines_are_left_to_people() {
    let mut all = found(vec![probe("1-1")], Vec::new());
    all.pods = vec![pod("2-1", Some("A1"))];
    all.parts.chips = vec![
        chip(Some("1-4"), &[("", true), ("", false)]),
        // A pod's own.
        chip(Some("2-1"), &[("", true)]),
    ];
    let (text, config) = proposed(&all);
    assert!(config.devices.iter().all(|device| device.power.is_none()));
    assert_eq!(text.matches("GPIO chip").count(), 1);
    for wanted in [
        "# left out: GPIO chip gpiochip3 (maker-gpio) on port 1-4:\n",
        "1 of its 2 lines are free\n",
        "#     kind = \"gpio\"\n#     chip = 'usb:10c4:ea60:A\"1'\n#     line = 0\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    // On a board, its lines have names.
    let names: Vec<String> = (0..40).map(|number| format!("GPIO{number}")).collect();
    let lines: Vec<_> = names.iter().map(|name| (name.as_str(), true)).collect();
    all.parts.chips = vec![chip(None, &lines)];
    let (text, _) = proposed(&all);
    assert!(
        text.contains("40 of its 40 lines are free: \"GPIO0\", \"GPIO1\""),
        "{text}"
    );
    assert!(
        text.contains("\"GPIO29\" and 10 more with a name"),
        "{text}"
    );
    // One that cannot be asked says why; one that a bench has, whose.
    all.parts.chips[0].lines = Err("this user may not open it".to_owned());
    assert!(told(&all, &Config::default()).contains("may not open it"));
    all.parts.chips = vec![chip(Some("1-4"), &[("", true)])];
    let entry = "[[devices]]\nname = \"b\"\naddress = \"parts\"\n[devices.power]\nkind = \"gpio\"\nchip = \"usb:port=1-4\"\nline = 1\n";
    let scene = Scene::new(entry);
    let told = scene.write(&all).unwrap();
    assert!(told.contains("\"b\" has a line of it already"), "{told}");
}
