//! GPIO chips as the kernel has them, `/dev/gpiochip0` and so on: found by what stays the same when numbers change, and
//! asked for their lines. What asks them may wait for a device.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use gpiocdev_uapi::v2::{self, LineFlags, LineInfo};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use usb_host::is_port;

mod meant;

pub(crate) use meant::{FORM, Meant};

/// Where the kernel lists them.
const CHIPS: &str = "/sys/bus/gpio/devices";

/// Where their device files are.
const FILES: &str = "/dev";

/// How the names of all chips begin.
const PREFIX: &str = "gpiochip";

/// Most chips that are looked at.
const CHIPS_MAX: usize = 256;

/// Most lines of a chip that are looked at.
const LINES_MAX: u32 = 4096;

/// A chip as the system lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// `gpiochip0`.
    pub(crate) name: String,
    /// The USB device that it is part of, if it is.
    pub(crate) usb: Option<Usb>,
}

/// The USB device that a chip is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usb {
    /// Where it is plugged in: `1-2.3`.
    pub port: String,
    /// Its vendor and product numbers.
    pub ids: (u16, u16),
    /// Its serial number.
    pub serial: Option<String>,
}

impl Listed {
    /// Its device file.
    pub(crate) fn path(&self) -> PathBuf {
        Path::new(FILES).join(&self.name)
    }
}

/// All chips, by name.
///
/// # Errors
/// The system does not tell.
pub(crate) fn all() -> io::Result<Vec<Listed>> {
    listed(Path::new(CHIPS))
}

fn listed(chips: &Path) -> io::Result<Vec<Listed>> {
    let entries = match fs::read_dir(chips) {
        // This machine has none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut all: Vec<Listed> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let number = name.strip_prefix(PREFIX)?;
            number.parse::<u32>().ok()?;
            let usb = usb_device(&entry.path());
            Some(Listed { name, usb })
        })
        .take(CHIPS_MAX)
        .collect();
    let number = |listed: &Listed| listed.name[PREFIX.len()..].parse::<u32>().ok();
    all.sort_by_key(number);
    Ok(all)
}

/// The USB device that the kernel's path to a chip leads through, the last one.
fn usb_device(chip: &Path) -> Option<Usb> {
    let path = chip.canonicalize().ok()?;
    let name = |folder: &Path| Some(folder.file_name()?.to_str()?.to_owned());
    let device = path
        .ancestors()
        .find(|folder| name(folder).is_some_and(|name| is_port(&name)))?;
    let text = |file: &str| fs::read_to_string(device.join(file)).ok();
    let number = |file: &str| u16::from_str_radix(text(file)?.trim(), 16).ok();
    Some(Usb {
        port: name(device)?,
        ids: (number("idVendor")?, number("idProduct")?),
        serial: text("serial").map(|serial| serial.trim_end_matches('\n').to_owned()),
    })
}

/// A chip that is open.
#[derive(Debug)]
pub(crate) struct Chip {
    file: File,
    /// For messages.
    path: PathBuf,
    pub(crate) label: String,
    pub(crate) lines: u32,
}

/// A line as its chip tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u32,
    /// Empty for most.
    pub(crate) name: String,
    /// Whether a program or a driver has it.
    pub(crate) is_used: bool,
    /// What its user calls itself, if it does.
    pub(crate) user: String,
}

impl Chip {
    /// Opens the chip behind a device file.
    ///
    /// # Errors
    /// Why it cannot be had, with what to do about it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let shown = path.display();
        // Without waiting, whatever it may be.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty());
        let file = File::from(file.map_err(|error| explained(&shown.to_string(), error.into()))?);
        let Ok(info) = v2::get_chip_info(&file) else {
            return Err(io::Error::other(format!("{shown} is no GPIO chip")));
        };
        Ok(Self {
            file,
            path: path.to_owned(),
            label: (&info.label).into(),
            lines: info.num_lines,
        })
    }

    /// The file to request lines of.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// A line by its number.
    ///
    /// # Errors
    /// There is none, or the chip is gone.
    pub(crate) fn line(&self, number: u32) -> io::Result<Line> {
        if number >= self.lines {
            return Err(io::Error::other(format!(
                "{self} has no line {number}: its {} lines are counted from 0",
                self.lines
            )));
        }
        let info = v2::get_line_info(&self.file, number);
        let info = info.map_err(|error| explained(&self.to_string(), system(error)))?;
        Ok(Line::of(&info))
    }

    /// All lines that are looked at.
    ///
    /// # Errors
    /// The chip is gone.
    pub(crate) fn all_lines(&self) -> io::Result<Vec<Line>> {
        let numbers = 0..self.lines.min(LINES_MAX);
        numbers.map(|number| self.line(number)).collect()
    }

    /// The only line of a name.
    ///
    /// # Errors
    /// There is none, there are several, or the chip is gone.
    pub(crate) fn named(&self, name: &str) -> io::Result<Line> {
        let mut named = self.all_lines()?;
        named.retain(|line| line.name == name);
        match <[Line; 1]>::try_from(named) {
            Ok([line]) => Ok(line),
            Err(named) if named.is_empty() => Err(io::Error::other(format!(
                "{self} has no line of the name {name}: give its number"
            ))),
            Err(named) => Err(io::Error::other(format!(
                "{self} has {} lines of the name {name}: give its number",
                named.len()
            ))),
        }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label: String = self.label.chars().filter(|c| !c.is_control()).collect();
        write!(f, "the GPIO chip {} ({label})", self.path.display())
    }
}

impl Line {
    fn of(info: &LineInfo) -> Self {
        Self {
            number: info.offset,
            name: (&info.name).into(),
            is_used: info.flags.contains(LineFlags::USED),
            user: (&info.consumer).into(),
        }
    }
}

/// What the system says.
pub(crate) fn system(error: v2::Error) -> io::Error {
    match error {
        v2::Error::Os(number) => io::Error::from_raw_os_error(number.0),
        other => io::Error::other(other),
    }
}

/// The system's error with what to do about it.
pub(crate) fn explained(what: &str, error: io::Error) -> io::Error {
    let told = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NXIO) => format!("{what} is not plugged in"),
        Some(Errno::NODEV) => format!("{what} was unplugged"),
        Some(Errno::ACCESS | Errno::PERM) => format!(
            "this user may not open {what}: put it in the group that the file has, often gpio, or install a rule for the chip as \
             `hostd udev` shows"
        ),
        _ => format!("{what} cannot be used: {error}"),
    };
    io::Error::new(error.kind(), told)
}

#[cfg(test)]
mod tests;
