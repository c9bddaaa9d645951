//! What the configuration says to mean a chip: best something that stays when it is plugged in again.

use std::fmt;
use std::io;
use std::path::PathBuf;

use gpiocdev_uapi::NAME_LEN_MAX;
use usb_host::is_port;

use super::{Chip, Listed, Usb, all};
use crate::address::UsbId;

/// What means a chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meant {
    /// Its device file, or a link to it.
    File(PathBuf),
    /// The one of a USB device.
    Usb(UsbId),
    /// The one of the device on a USB port.
    UsbPort(String),
    /// Its name, such as `gpiochip0`, or its label.
    Called(String),
}

/// What texts that mean a chip look like, for messages.
pub(crate) const FORM: &str = "a path below /dev, a name such as gpiochip0, a label, usb:VID:PID[:SERIAL] with hexadecimal numbers, or usb:port=BUS-PORT";

impl Meant {
    /// `None` when the text is malformed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            return Some(Self::File(text.into()));
        }
        if let Some(rest) = text.strip_prefix("usb:") {
            return match rest.strip_prefix("port=") {
                Some(port) => is_port(port).then(|| Self::UsbPort(port.to_owned())),
                None => UsbId::parse(rest).map(Self::Usb),
            };
        }
        let is_name = (1..NAME_LEN_MAX).contains(&text.len());
        let is_plain = !text.contains(|letter: char| letter == '/' || letter.is_control());
        (is_name && is_plain).then(|| Self::Called(text.to_owned()))
    }

    /// Whether a chip with this label is one that is meant.
    pub(crate) fn means(&self, chip: &Listed, label: &str) -> bool {
        let is_of = |is_it: &dyn Fn(&Usb) -> bool| chip.usb.as_ref().is_some_and(is_it);
        match self {
            Self::File(path) => path.canonicalize().is_ok_and(|path| path == chip.path()),
            Self::Usb(id) => is_of(&|usb| id.is(usb.ids, usb.serial.as_deref())),
            Self::UsbPort(port) => is_of(&|usb| usb.port == *port),
            Self::Called(name) => chip.name == *name || label == name,
        }
    }

    /// Opens the chip that is meant.
    ///
    /// # Errors
    /// It is not there, it may not be opened, or several are meant.
    pub(crate) fn open(&self) -> io::Result<Chip> {
        if let Self::File(path) = self {
            return Chip::open(path);
        }
        let mut refused = None;
        let mut found = Vec::new();
        for listed in all()? {
            let label = match (self, Chip::open(&listed.path())) {
                (Self::Called(_), Ok(chip)) => chip.label,
                (Self::Called(_), Err(error)) => {
                    refused = Some(error);
                    String::new()
                }
                _ => String::new(),
            };
            if self.means(&listed, &label) {
                found.push(listed);
            }
        }
        match &found[..] {
            // The one that is meant may be among those.
            [] => Err(refused.unwrap_or_else(|| {
                let told = format!("the GPIO chip {self} is not plugged in");
                io::Error::new(io::ErrorKind::NotFound, told)
            })),
            [listed] => Chip::open(&listed.path()),
            several => {
                let names: Vec<&str> = several.iter().map(|found| found.name.as_str()).collect();
                Err(io::Error::other(format!(
                    "{self} means {} GPIO chips, {}: say which by usb:VID:PID:SERIAL, usb:port=BUS-PORT or its path",
                    names.len(),
                    names.join(" and ")
                )))
            }
        }
    }
}

impl fmt::Display for Meant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Usb(id) => write!(f, "usb:{id}"),
            Self::UsbPort(port) => write!(f, "usb:port={port}"),
            Self::Called(name) => f.write_str(name),
        }
    }
}
