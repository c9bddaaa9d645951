//! GPIO chips by what stays the same: those on USB, and those of the board whose lines have names. Others, such as those
//! inside a PC, lead to no connector.

use std::io;

use crate::address::{Address, UsbId};
use crate::chip::{self, Chip, Listed, Meant, Usb};

/// A GPIO chip.
#[derive(Debug, Clone)]
pub struct GpioChip {
    /// As the kernel names it now: `gpiochip0`.
    pub name: String,
    /// What its driver calls it; empty if it cannot be asked.
    pub label: String,
    /// The USB device that it is part of, if it is.
    pub usb: Option<Usb>,
    /// Its lines, or why it does not tell.
    pub lines: Result<Vec<GpioLine>, String>,
}

/// A line of a GPIO chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpioLine {
    /// Its number, from 0.
    pub number: u32,
    /// Its name; most have none.
    pub name: String,
    /// Whether nobody has it.
    pub is_free: bool,
}

impl GpioChip {
    fn of(listed: Listed) -> Self {
        let asked = Chip::open(&listed.path()).and_then(|chip| {
            let lines = chip.all_lines()?.into_iter().map(|line| GpioLine {
                number: line.number,
                name: line.name,
                is_free: !line.is_used,
            });
            Ok((chip.label.clone(), lines.collect()))
        });
        let (label, lines) = match asked {
            Ok((label, lines)) => (label, Ok(lines)),
            Err(error) => (String::new(), Err(error.to_string())),
        };
        Self {
            name: listed.name,
            label,
            usb: listed.usb,
            lines,
        }
    }

    /// Whether its lines lead to where a relay could be.
    fn is_reachable(&self) -> bool {
        let has_names = |lines: &Vec<GpioLine>| lines.iter().any(|line| !line.name.is_empty());
        self.usb.is_some() || self.lines.as_ref().is_ok_and(has_names)
    }

    /// The text that means it for as long as possible: the USB device by its serial number, or its port if it has none;
    /// on a board, its label.
    #[must_use]
    pub fn address(&self) -> String {
        let Some(usb) = &self.usb else {
            let is_known = !self.label.is_empty();
            return if is_known { &self.label } else { &self.name }.clone();
        };
        match usb.serial.as_deref().filter(|serial| !serial.is_empty()) {
            Some(serial) => Address::Usb(UsbId::new(usb.ids, Some(serial))).to_string(),
            None => format!("usb:port={}", usb.port),
        }
    }

    /// The USB port of the device that it is part of.
    #[must_use]
    pub fn usb_port(&self) -> Option<&str> {
        self.usb.as_ref().map(|usb| usb.port.as_str())
    }

    /// Whether a text means it, perhaps among others.
    #[must_use]
    pub fn is_meant_by(&self, chip: &str) -> bool {
        let listed = Listed {
            name: self.name.clone(),
            usb: self.usb.clone(),
        };
        Meant::parse(chip).is_some_and(|meant| meant.means(&listed, &self.label))
    }
}

/// All of them, by name.
pub(super) fn all() -> io::Result<Vec<GpioChip>> {
    let mut chips: Vec<GpioChip> = chip::all()?.into_iter().map(GpioChip::of).collect();
    chips.retain(GpioChip::is_reachable);
    Ok(chips)
}
