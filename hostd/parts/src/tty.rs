//! A serial port of the kernel: opened for this server alone, without modem lines, at any rate.
//!
//! Waiting for bytes is the runtime's; opening, settings and closing may wait for a device, so they run on a thread for
//! such work.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pod_protocol::Parity;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{NoArg, Opcode, ioctl};
use rustix::termios::{
    ControlModes, InputModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios,
    ioctl_tiocexcl, tcdrain, tcflush, tcgetattr, tcsetattr,
};
use tokio::io::unix::AsyncFd;
use tokio::task::spawn_blocking;

/// Requests that hold a line low, and no longer. They are the same on all architectures that servers have.
const TIOCSBRK: Opcode = 0x5427;
const TIOCCBRK: Opcode = 0x5428;

/// How far the rate of a port may be from the one asked for, in percent: beyond, frames of ten bits are not read.
const RATE_OFF_PERCENT_MAX: u64 = 3;

/// The bits of a port's settings that say which parity it has.
const PARITY: ControlModes = ControlModes::PARENB
    .union(ControlModes::PARODD)
    .union(ControlModes::CMSPAR);

/// How a port is set; 8 data bits and one stop bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) baud: u32,
    pub(crate) parity: Parity,
}

/// An open port.
#[derive(Debug)]
pub(crate) struct Tty {
    /// Always there until it is dropped.
    fd: Option<AsyncFd<Arc<Descriptor>>>,
    path: PathBuf,
}

/// Its descriptor. The line is let go when nobody has it any more, since whoever held it low may have been cut off, even
/// while a thread was about to hold it.
#[derive(Debug)]
struct Descriptor(OwnedFd);

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let _ = hold_low(&self.0, false);
    }
}

impl Tty {
    /// Opens a port.
    ///
    /// # Errors
    /// Why it cannot be had, with what to do about it.
    pub(crate) async fn open(path: &Path, setting: Setting) -> io::Result<Self> {
        let wanted = path.to_owned();
        let opened = spawn_blocking(move || open(&wanted, setting)).await;
        let fd = opened
            .map_err(io::Error::other)?
            .map_err(|error| explained(path, error))?;
        // SAFETY: the descriptor is closed only after the `AsyncFd` has let go of it, since both own it.
        #[expect(unsafe_code, reason = "the way to wait for a descriptor of one's own")]
        let fd = unsafe { AsyncFd::register(Arc::new(Descriptor(fd))) }?;
        Ok(Self {
            fd: Some(fd),
            path: path.to_owned(),
        })
    }

    /// Sets rate and parity from now on.
    ///
    /// # Errors
    /// The port has no such rate, or is gone.
    pub(crate) async fn set(&self, setting: Setting) -> io::Result<()> {
        let fd = self.fd().get_ref().clone();
        let set = spawn_blocking(move || set(&fd, setting)).await;
        set.map_err(io::Error::other)?
    }

    /// Waits until what was written is sent. Cancelling leaves a thread that waits for it.
    ///
    /// # Errors
    /// The port is gone.
    pub(crate) async fn drain(&self) -> io::Result<()> {
        let fd = self.fd().get_ref().clone();
        let drained = spawn_blocking(move || tcdrain(&fd)).await;
        let drained = drained.map_err(io::Error::other)?;
        drained.map_err(|error| explained(&self.path, error.into()))
    }

    /// Holds the line that it drives low, or no longer.
    ///
    /// # Errors
    /// The port cannot do that, or is gone.
    pub(crate) async fn hold_low(&self, is_held: bool) -> io::Result<()> {
        let fd = self.fd().get_ref().clone();
        let held = spawn_blocking(move || hold_low(&fd, is_held)).await;
        held.map_err(io::Error::other)?
            .map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::IO | Errno::NODEV) => explained(&self.path, error),
                _ => io::Error::new(
                    error.kind(),
                    format!("the serial port cannot send a break: {error}"),
                ),
            })
    }

    /// Forgets what has arrived and was not read.
    pub(crate) fn forget_input(&self) {
        // A port without a buffer has nothing to forget.
        let _ = tcflush(self.fd().get_ref(), QueueSelector::IFlush);
    }

    /// What arrives next; nothing at the end, as when it is unplugged. Cancelling loses nothing.
    ///
    /// # Errors
    /// The port is gone.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.fd().readable().await?;
            let read = ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut *buffer)?));
            if let Ok(read) = read {
                return read.map_err(|error| explained(&self.path, error));
            }
        }
    }

    /// Writes some of the bytes, and says how many.
    ///
    /// # Errors
    /// The port is gone.
    pub(crate) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.fd().writable().await?;
            let wrote = ready.try_io(|fd| Ok(rustix::io::write(fd.get_ref(), bytes)?));
            if let Ok(wrote) = wrote {
                return wrote.map_err(|error| explained(&self.path, error));
            }
        }
    }

    fn fd(&self) -> &AsyncFd<Arc<Descriptor>> {
        self.fd.as_ref().expect("it is there until it is dropped")
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        let Some(fd) = self.fd.take().map(AsyncFd::into_inner) else {
            return;
        };
        // The kernel holds up whoever closes a port until everything was sent.
        let close = move || {
            let _ = tcflush(&fd, QueueSelector::IOFlush);
            drop(fd);
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(close)),
            Err(_) => close(),
        }
    }
}

fn open(path: &Path, setting: Setting) -> io::Result<OwnedFd> {
    // Without waiting for a carrier, and without becoming the terminal of this process.
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty())?;
    ioctl_tiocexcl(&fd)?;
    // A server that was killed may have held it low.
    let _ = hold_low(&fd, false);
    set(&fd, setting)?;
    Ok(fd)
}

fn hold_low(fd: impl AsFd, is_held: bool) -> io::Result<()> {
    // SAFETY: neither request has an argument.
    #[expect(unsafe_code, reason = "requests for which no library has a function")]
    let held = unsafe {
        match is_held {
            true => ioctl(fd, NoArg::<TIOCSBRK>::new()),
            false => ioctl(fd, NoArg::<TIOCCBRK>::new()),
        }
    };
    Ok(held?)
}

fn set(fd: impl AsFd, setting: Setting) -> io::Result<()> {
    let mut settings = tcgetattr(&fd)?;
    settings.make_raw();
    apply(&mut settings, setting);
    settings.set_speed(setting.baud)?;
    tcsetattr(&fd, OptionalActions::Now, &settings)?;
    let has = tcgetattr(&fd)?;
    if (has.control_modes ^ settings.control_modes).intersects(PARITY) {
        let parity = setting.parity.name();
        let kept = format!("the serial port has no parity `{parity}`");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, kept));
    }
    let got = u64::from(has.output_speed());
    let asked = u64::from(setting.baud);
    if got.abs_diff(asked) * 100 > asked * RATE_OFF_PERCENT_MAX {
        let nearest = format!("the serial port has no {asked} baud; the nearest is {got}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, nearest));
    }
    Ok(())
}

fn apply(settings: &mut Termios, setting: Setting) {
    // Whoever had the port before may have left it throwing away what has another parity, or slowing down the target
    // with characters of its own.
    settings.input_modes = InputModes::empty();
    let modes = &mut settings.control_modes;
    modes.remove(ControlModes::CSIZE | ControlModes::CSTOPB | ControlModes::CRTSCTS);
    modes.remove(PARITY);
    modes.insert(ControlModes::CS8 | ControlModes::CREAD | ControlModes::CLOCAL);
    match setting.parity {
        Parity::None => {}
        Parity::Even => modes.insert(ControlModes::PARENB),
        Parity::Odd => modes.insert(ControlModes::PARENB | ControlModes::PARODD),
    }
    settings.special_codes[SpecialCodeIndex::VMIN] = 1;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
}

/// The system's error with what to do about it.
fn explained(path: &Path, error: io::Error) -> io::Error {
    let path = path.display();
    let told = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NXIO | Errno::NODEV) => format!("{path} is not plugged in"),
        Some(Errno::ACCESS | Errno::PERM) => {
            format!(
                "this user may not open {path}: put it in the group that the file has, often dialout"
            )
        }
        Some(Errno::BUSY) => format!("{path} is used by another program; stop that one"),
        Some(Errno::NOTTY) => format!("{path} is no serial port"),
        Some(Errno::IO) => format!("{path} was unplugged"),
        _ => format!("{path} cannot be used: {error}"),
    };
    io::Error::new(error.kind(), told)
}

#[cfg(test)]
mod tests {
    use rustix::pty::{OpenptFlags, openpt};

    use super::*;

    #[test]
    fn a_port_without_parity_says_so() {
        // The kernel's PTYs have none.
        let port = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let (baud, parity) = (9600, Parity::Even);
        let refused = set(&port, Setting { baud, parity }).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(refused.to_string(), "the serial port has no parity `even`");
        let parity = Parity::None;
        set(&port, Setting { baud, parity }).unwrap();
    }

    /// Looked at before a PTY forgets it.
    #[test]
    fn a_port_is_set_as_it_is_asked_for_whoever_had_it_before() {
        let port = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        for (parity, bits) in [
            (Parity::None, ControlModes::empty()),
            (Parity::Even, ControlModes::PARENB),
            (Parity::Odd, ControlModes::PARENB | ControlModes::PARODD),
        ] {
            let mut settings = tcgetattr(&port).unwrap();
            settings.control_modes |= PARITY | ControlModes::CSTOPB | ControlModes::CRTSCTS;
            settings.input_modes |= InputModes::IGNPAR | InputModes::INPCK | InputModes::IXOFF;
            apply(&mut settings, Setting { baud: 9600, parity });
            let all = PARITY | ControlModes::CSTOPB | ControlModes::CRTSCTS;
            assert_eq!(settings.control_modes & all, bits);
            assert_eq!(settings.input_modes, InputModes::empty());
            assert!(settings.control_modes.contains(ControlModes::CS8));
        }
    }
}
