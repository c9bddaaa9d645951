//! `hostd udev`: the rules that let a server without root open pods and parts of benches on USB.

use std::io::Write;

use clap::Args;

/// Pods are known by the interface of their link, which udev writes as class, subclass and protocol; the console is the
/// serial port of the same device. The file must sort before 73-seat-late.rules.
const RULES: &str = "\
# Pods on USB, for hostd. Install as root:
#   hostd udev > /etc/udev/rules.d/70-hostd.rules
#   udevadm control --reload && udevadm trigger
# and let the user that hostd runs as be in the groups plugdev and dialout (systemd: SupplementaryGroups=plugdev dialout).
SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", ENV{ID_USB_INTERFACES}==\"*:ff4201:*\", MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\"
SUBSYSTEM==\"tty\", ENV{ID_USB_INTERFACES}==\"*:ff4201:*\", MODE=\"0660\", GROUP=\"dialout\", TAG+=\"uaccess\", ENV{ID_MM_DEVICE_IGNORE}=\"1\"
# Parts of benches: CMSIS-DAP probes, supplies and other instruments (USBTMC), analyzers that run fx2lafw or could.
SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", ATTR{product}==\"*CMSIS-DAP*\", MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\"
SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", ENV{ID_USB_INTERFACES}==\"*:fe03*\", MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\"
SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", ATTR{idVendor}==\"0925|04b4|08a9|16d0|1d50\", ATTR{idProduct}==\"3881|8613|0014|0015|0009|0005|0498|608c|608d\", MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\"
# A hub whose ports are switched takes a line of its own, with its numbers for idVendor and idProduct.
";

/// Print the rule.
#[derive(Debug, Args)]
pub(super) struct Udev {}

impl Udev {
    /// Print it.
    ///
    /// # Errors
    /// Nobody reads what is printed.
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        Ok(out.write_all(RULES.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_means_the_interface_of_the_link() {
        let (class, subclass, protocol) = pods::protocol::usb::INTERFACE;
        let interface = format!("*:{class:02x}{subclass:02x}{protocol:02x}:*");
        assert_eq!(RULES.matches(&interface).count(), 2);
    }
}
