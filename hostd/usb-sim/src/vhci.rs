//! Plugs a device into the kernel's virtual host controller.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::bus::{self, Device};
use super::descriptors::Speed;
use super::pace::Pace;

/// Where the kernel shows the controller.
const CONTROLLER: &str = "/sys/devices/platform/vhci_hcd.0";

/// A port of the controller that nothing is plugged into, in its table.
const FREE: &str = "004";

/// How long a port may take to become free.
const FREE_WITHIN: Duration = Duration::from_secs(5);

/// How often is looked whether it is.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Why a device cannot be plugged in.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The kernel has no such controller.
    #[error("this kernel has no virtual USB controller; load it by `modprobe vhci-hcd`, as root")]
    NoController,
    /// This user may not plug anything in.
    #[error("plugging a simulated device into USB takes root: {0}")]
    NotPermitted(io::Error),
    /// All ports are taken.
    #[error("all ports of the virtual USB controller are taken")]
    NoPort,
    /// Something else failed.
    #[error("failed to plug a simulated device into USB: {0}")]
    Io(#[from] io::Error),
}

/// A device that is plugged in. Dropping it unplugs it.
///
/// It lives on a thread of its own: a program of this process that waits in the kernel for the device must not keep it
/// from answering.
#[derive(Debug)]
pub struct Attached {
    port: u32,
    /// Dropped to unplug it.
    _plug: oneshot::Sender<Infallible>,
}

impl Attached {
    /// Whether this kernel has the controller.
    pub fn is_possible() -> bool {
        Path::new(CONTROLLER).exists()
    }

    /// Plugs a device in, at the first free port.
    ///
    /// # Errors
    /// [`AttachError`], which says what to do.
    pub fn new(device: impl Device) -> Result<Self, AttachError> {
        Self::plug(device, None, Pace::default())
    }

    /// Plugs a device in, at the first free port, so that its transfers take the time that they take on a bus of its
    /// speed on which nothing else is: bulk data at 480 Mbit/s comes to 53.2 MB/s at most, both ways together.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn paced(device: impl Device) -> Result<Self, AttachError> {
        let pace = Pace::of(device.descriptors().speed);
        Self::plug(device, None, pace)
    }

    /// Plugs a device in at a port, as soon as it is free.
    ///
    /// # Errors
    /// As [`Self::new`]; also if the port does not become free.
    pub fn at(port: u32, device: impl Device) -> Result<Self, AttachError> {
        Self::plug(device, Some(port), Pace::default())
    }

    fn plug(device: impl Device, port: Option<u32>, pace: Pace) -> Result<Self, AttachError> {
        if !Self::is_possible() {
            return Err(AttachError::NoController);
        }
        let speed = device.descriptors().speed;
        let (kernel, ours) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let port = match port {
            Some(port) => freed(port)?,
            None => free_port(&table()?, None).ok_or(AttachError::NoPort)?,
        };
        attach(&kernel, speed, port)?;
        let (plug, unplugged) = oneshot::channel::<Infallible>();
        let device: Box<dyn Device> = Box::new(device);
        std::thread::Builder::new()
            .name("usb-sim".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let Ok(stream) = UnixStream::from_std(ours) else {
                        return;
                    };
                    let (reader, writer) = stream.into_split();
                    let mut serving = pin!(bus::serve(device, pace, reader, writer));
                    tokio::select! {
                        // The end of the connection is the end of the device.
                        _ended = &mut serving => {}
                        // While the connection stands, the port cannot be another device's.
                        _dropped = unplugged => {
                            let _ = fs::write(format!("{CONTROLLER}/detach"), port.to_string());
                        }
                    }
                });
                runtime.shutdown_background();
            })?;
        Ok(Self { port, _plug: plug })
    }

    /// The number of its port at the controller.
    pub fn port(&self) -> u32 {
        self.port
    }
}

/// What the controller's ports are.
fn table() -> Result<String, AttachError> {
    Ok(fs::read_to_string(format!("{CONTROLLER}/status"))?)
}

/// Waits until a port is free, which takes the kernel a moment after something was unplugged.
fn freed(port: u32) -> Result<u32, AttachError> {
    let began = Instant::now();
    while free_port(&table()?, Some(port)).is_none() {
        if FREE_WITHIN < began.elapsed() {
            return Err(AttachError::NoPort);
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    Ok(port)
}

/// Gives the kernel its end of a connection, which it keeps.
fn attach(kernel: &StdStream, speed: Speed, port: u32) -> Result<(), AttachError> {
    let order = format!(
        "{port} {} {} {}",
        kernel.as_raw_fd(),
        (1 << 16) | (port + 1),
        speed.number()
    );
    fs::write(format!("{CONTROLLER}/attach"), order).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => AttachError::NotPermitted(error),
        _ => AttachError::Io(error),
    })
}

/// The first free port for devices up to 480 Mbit/s, or this one if it is free, in the controller's table: hub, port,
/// state and more, a line each.
fn free_port(table: &str, wanted: Option<u32>) -> Option<u32> {
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_fit = words.next() == Some("hs");
        let port = words.next()?.parse().ok()?;
        let is_wanted = wanted.is_none_or(|wanted| wanted == port);
        (is_fit && is_wanted && words.next() == Some(FREE)).then_some(port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_port_is_taken() {
        let table = "hub port sta spd dev      sockfd local_busid\n\
                     hs  0000 006 003 00010001 000003 1-1\n\
                     hs  0001 004 000 00000000 000000 0-0\n\
                     hs  0002 004 000 00000000 000000 0-0\n\
                     ss  0008 004 000 00000000 000000 0-0\n";
        assert_eq!(free_port(table, None), Some(1));
        assert_eq!(free_port(table, Some(2)), Some(2));
        assert_eq!(free_port(table, Some(0)), None);
        assert_eq!(free_port(&table.replace("004", "006"), None), None);
        assert_eq!(free_port("", None), None);
    }
}
