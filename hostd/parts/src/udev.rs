//! The rules by which udev lets a server without root open pods and parts of benches on USB.

use std::fmt::Write as _;

use pod_protocol::usb::{CMSIS_DAP_NAME, INTERFACE};

use crate::power::USBTMC;
use crate::probe::udev_matches;

/// What goes before the rules. Pods are known by the interface of their link, which udev writes as class, subclass and
/// protocol; the console is the serial port of the same device. The file must sort before 73-seat-late.rules.
const HEAD: &str = "\
# Pods on USB, for hostd. Install as root:
#   hostd udev > /etc/udev/rules.d/70-hostd.rules
#   udevadm control --reload && udevadm trigger
# and let the user that hostd runs as be in the groups plugdev and dialout (systemd: SupplementaryGroups=plugdev dialout).
";

/// What begins the rule of a USB device, and what it ends with.
const DEVICE: &str = "SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\"";
const GIVE: &str = "MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\"";

/// What whole machines hang on, and nobody should have unasked.
const TAIL: &str = "\
# A hub whose ports are switched takes a line of its own, with its numbers for idVendor and idProduct; so does a GPIO chip
# whose lines switch power, here one of a USB serial adapter:
#SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", ATTR{idVendor}==\"05e3\", ATTR{idProduct}==\"0608\", MODE=\"0660\", GROUP=\"plugdev\"
#SUBSYSTEM==\"gpio\", KERNEL==\"gpiochip*\", ATTRS{idVendor}==\"10c4\", ATTRS{idProduct}==\"ea60\", MODE=\"0660\", GROUP=\"plugdev\"
";

/// The rules, as a file of them.
#[must_use]
pub fn rules() -> String {
    let (class, subclass, protocol) = INTERFACE;
    let pod = format!("ENV{{ID_USB_INTERFACES}}==\"*:{class:02x}{subclass:02x}{protocol:02x}:*\"");
    let (class, subclass) = USBTMC;
    let instrument = format!("ENV{{ID_USB_INTERFACES}}==\"*:{class:02x}{subclass:02x}*\"");
    let mut rules = format!(
        "{HEAD}\
         {DEVICE}, {pod}, {GIVE}\n\
         SUBSYSTEM==\"tty\", {pod}, MODE=\"0660\", GROUP=\"dialout\", TAG+=\"uaccess\", ENV{{ID_MM_DEVICE_IGNORE}}=\"1\"\n\
         # Parts of benches: CMSIS-DAP probes, J-Link and ST-Link, supplies and other instruments (USBTMC), analyzers that run\n\
         # fx2lafw or could.\n\
         {DEVICE}, ATTR{{product}}==\"*{CMSIS_DAP_NAME}*\", {GIVE}\n\
         SUBSYSTEM==\"hidraw\", ATTRS{{product}}==\"*{CMSIS_DAP_NAME}*\", {GIVE}\n\
         {DEVICE}, {instrument}, {GIVE}\n"
    );
    for ids in udev_matches() {
        // Writing to a string does not fail.
        let _ = writeln!(rules, "{DEVICE}, {ids}, {GIVE}");
    }
    for (vendor, product) in acquire::Fx2lafw::models() {
        let ids =
            format!("ATTR{{idVendor}}==\"{vendor:04x}\", ATTR{{idProduct}}==\"{product:04x}\"");
        // Writing to a string does not fail.
        let _ = writeln!(rules, "{DEVICE}, {ids}, {GIVE}");
    }
    rules + TAIL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_device_has_its_rule() {
        let rules = rules();
        let with = |text: &str| {
            let lines = rules.lines().filter(|line| !line.starts_with('#'));
            lines.filter(|line| line.contains(text)).count()
        };
        // The device and its console.
        assert_eq!(with("\"*:ff4201:*\""), 2);
        assert_eq!(with("\"*:fe03*\""), 1);
        // The device, and what the kernel's driver for the first version has for programs.
        assert_eq!(with("\"*CMSIS-DAP*\""), 2);
        assert_eq!(
            with("ATTR{idVendor}==\"0925\", ATTR{idProduct}==\"3881\""),
            1
        );
        let analyzers = acquire::Fx2lafw::models().count();
        assert_eq!(with("idVendor"), analyzers + udev_matches().len());
        // Neither hubs nor lines are for everybody.
        assert_eq!(with("gpio") + with("0608"), 0);
    }
}
