//! The rules of `hostd udev`, as a real udevd takes them: nodes of what is plugged in get the groups that the rules give,
//! and nothing else does.
//!
//! Left out where there is no udevd or one is running, which is not the tests' to disturb.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base::config::Parity;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use usb_sim::cp210x::Cp2104;
use usb_sim::fx2::{Analyzer, Settings};
use usb_sim::hub::Hub;
use usb_sim::{Attached, cp210x, hub};

use super::found::until;
use super::serial::{echoed, on, session};
use super::*;

pub(crate) const CASES: &[Case] = &[
    (
        "a_broken_rule_is_complained_about",
        a_broken_rule_is_complained_about,
    ),
    ("a_pod_is_given_to_its_groups", a_pod_is_given_to_its_groups),
    (
        "an_analyzer_is_given_to_its_group",
        an_analyzer_is_given_to_its_group,
    ),
    (
        "what_no_rule_means_stays_roots",
        what_no_rule_means_stays_roots,
    ),
    ("examples_of_rules_work", examples_of_rules_work),
    (
        "a_port_is_found_by_the_name_that_stays",
        a_port_is_found_by_the_name_that_stays,
    ),
];

const UDEVD: &str = "/usr/lib/systemd/systemd-udevd";

/// Where one that runs takes orders.
const CONTROL: &str = "/run/udev/control";

const RULES: &str = "/run/udev/rules.d";
const NAME: &str = "70-hostd.rules";

/// The vendor number of the hubs that are the kernel's controllers.
const LINUX: u16 = 0x1D6B;

/// Whether there is one, and it is not running.
pub(crate) fn is_possible() -> bool {
    Path::new(UDEVD).exists() && !Path::new(CONTROL).exists()
}

/// A udevd with the rules of hostd beside its own.
struct Udevd {
    child: Child,
    log: tempfile::NamedTempFile,
}

impl Udevd {
    async fn with(rules: &str) -> Self {
        until("unplugged", async || only_root_hubs().await).await;
        // What one before has left.
        let _ = fs::remove_dir_all("/run/udev");
        fs::create_dir_all(RULES).unwrap();
        fs::write(Path::new(RULES).join(NAME), rules).unwrap();
        let log = tempfile::NamedTempFile::new().unwrap();
        let child = Command::new(UDEVD)
            .env("SYSTEMD_LOG_TARGET", "console")
            .env("SYSTEMD_LOG_LEVEL", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.reopen().unwrap())
            .spawn();
        let udevd = Self {
            child: child.unwrap(),
            log,
        };
        let began = Instant::now();
        while !Path::new(CONTROL).exists() {
            assert!(began.elapsed() < PATIENCE, "{}", udevd.log());
            sleep(Duration::from_millis(20)).await;
        }
        // It answers once it has read all rules and hears what the kernel says.
        let ping = || Command::new("udevadm").args(["control", "--ping"]).status();
        let answered = spawn_blocking(ping).await.unwrap();
        assert!(answered.unwrap().success(), "{}", udevd.log());
        udevd
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log.path()).unwrap()
    }

    /// What it says of the rules of hostd.
    fn complaints(&self) -> Vec<String> {
        let log = self.log();
        let lines = log.lines().filter(|line| line.contains(NAME));
        lines.map(str::to_owned).collect()
    }
}

impl Drop for Udevd {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        fs::remove_file(CONTROL).unwrap();
    }
}

/// Whether everything is unplugged, which takes the kernel a moment.
async fn only_root_hubs() -> bool {
    let mut devices = nusb::list_devices().await.unwrap();
    devices.all(|device| device.vendor_id() == LINUX)
}

/// Owner, group and mode of a node.
fn access(node: &Path) -> (u32, String, u32) {
    let node = fs::metadata(node).unwrap();
    let groups = fs::read_to_string("/etc/group").unwrap();
    let group = groups.lines().find_map(|line| {
        let mut words = line.split(':');
        let name = words.next()?;
        (words.nth(1)?.parse() == Ok(node.gid())).then(|| name.to_owned())
    });
    (node.uid(), group.unwrap(), node.mode() & 0o7777)
}

fn given(group: &str) -> (u32, String, u32) {
    (0, group.to_owned(), 0o660)
}

/// What udevd keeps about a node, once it is done with that.
async fn kept(node: &Path) -> String {
    let number = fs::metadata(node).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let file = PathBuf::from(format!("/run/udev/data/c{major}:{minor}"));
    until("kept by udevd", async || file.exists()).await;
    fs::read_to_string(file).unwrap()
}

fn is_tagged(kept: &str) -> bool {
    kept.lines().any(|line| line == "G:uaccess")
}

/// The node of a USB device, once udevd is done with it.
async fn node(ids: (u16, u16)) -> (PathBuf, String) {
    let until = Instant::now() + PATIENCE;
    let node = loop {
        let mut devices = nusb::list_devices().await.unwrap();
        let found = devices.find(|device| (device.vendor_id(), device.product_id()) == ids);
        if let Some(device) = found {
            let (bus, address) = (device.busnum(), device.device_address());
            break PathBuf::from(format!("/dev/bus/usb/{bus:03}/{address:03}"));
        }
        assert!(
            Instant::now() < until,
            "the kernel does not find {ids:04x?}"
        );
        sleep(Duration::from_millis(20)).await;
    };
    let kept = kept(&node).await;
    (node, kept)
}

fn a_broken_rule_is_complained_about() {
    run(async {
        let broken = format!("{}SUBSYSTEM==\"usb\", NOBODY=\"x\"\n", parts::udev::rules());
        let udevd = Udevd::with(&broken).await;
        let number = broken.lines().count();
        let wanted = format!("{NAME}:{number}");
        let is_it = |line: &String| line.contains(&wanted);
        assert!(udevd.complaints().iter().any(is_it), "{}", udevd.log());
    });
}

fn a_pod_is_given_to_its_groups() {
    run(async {
        let udevd = Udevd::with(&parts::udev::rules()).await;
        let _plugged = Attached::new(simulated().await.plug()).unwrap();
        let (node, told) = node((0x1209, 0x0001)).await;
        assert_eq!(access(&node), given("plugdev"), "{told}");
        assert!(is_tagged(&told), "{told}");
        let console = Path::new("/dev/ttyACM0");
        until("found", async || console.exists()).await;
        let told = kept(console).await;
        assert_eq!(access(console), given("dialout"), "{told}");
        assert!(is_tagged(&told), "{told}");
        assert!(told.contains("E:ID_MM_DEVICE_IGNORE=1\n"), "{told}");
        assert_eq!(udevd.complaints(), [""; 0]);
    });
}

fn an_analyzer_is_given_to_its_group() {
    run(async {
        let udevd = Udevd::with(&parts::udev::rules()).await;
        let settings = Settings::default();
        let ids = settings.ids;
        let _plugged = Analyzer::new(settings).unwrap();
        let (node, told) = node(ids).await;
        assert_eq!(access(&node), given("plugdev"), "{told}");
        assert!(is_tagged(&told), "{told}");
        assert_eq!(udevd.complaints(), [""; 0]);
    });
}

fn what_no_rule_means_stays_roots() {
    run(async {
        let _udevd = Udevd::with(&parts::udev::rules()).await;
        let _adapter = Attached::new(Cp2104::new("A1")).unwrap();
        let _hub = Attached::new(Hub::new(4)).unwrap();
        for ids in [cp210x::IDS, hub::IDS] {
            let (node, told) = node(ids).await;
            assert_eq!(access(&node), (0, "root".to_owned(), 0o664), "{told}");
            assert!(!is_tagged(&told), "{told}");
        }
        let chip = chip().await;
        assert_eq!(access(&chip), (0, "root".to_owned(), 0o600));
    });
}

/// The only GPIO chip.
async fn chip() -> PathBuf {
    let chips = async || parts::scan::plugged().await.unwrap().chips;
    until("found", async || chips().await.len() == 1).await;
    Path::new("/dev").join(&chips().await[0].name)
}

fn examples_of_rules_work() {
    run(async {
        let rules = parts::udev::rules().replace("#SUBSYSTEM", "SUBSYSTEM");
        let (vendor, product) = hub::IDS;
        // The example means a real hub.
        let rules = rules.replace("05e3", &format!("{vendor:04x}"));
        let rules = rules.replace("0608", &format!("{product:04x}"));
        let udevd = Udevd::with(&rules).await;
        let _adapter = Attached::new(Cp2104::new("A1")).unwrap();
        let _hub = Attached::new(Hub::new(4)).unwrap();
        let (node, told) = node(hub::IDS).await;
        assert_eq!(access(&node), given("plugdev"), "{told}");
        let chip = chip().await;
        until("given", async || access(&chip) == given("plugdev")).await;
        assert_eq!(udevd.complaints(), [""; 0]);
    });
}

fn a_port_is_found_by_the_name_that_stays() {
    run(async {
        let _udevd = Udevd::with(&parts::udev::rules()).await;
        let ports = async || parts::scan::plugged().await.unwrap().ports;
        for _ in 0..2 {
            let plugged = Attached::new(Cp2104::new("A1")).unwrap();
            until("named", async || ports().await.len() == 1).await;
            let port = ports().await.remove(0);
            let path = port.path.to_str().unwrap();
            assert_eq!(
                path,
                "/dev/serial/by-id/usb-Simulated_CP2104__simulated__A1-if00-port0"
            );
            let bench = on(path, Parity::None);
            let mut line = session(&bench, 9600).await;
            echoed(&mut line, b"by its name").await;
            drop((line, bench));
            sleep(CLOSED_WITHIN).await;
            drop(plugged);
            until("gone", async || ports().await.is_empty()).await;
        }
    });
}
