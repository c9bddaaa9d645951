//! Gives an analyzer its firmware, and finds it again.

use std::path::Path;
use std::time::Duration;

use nusb::transfer::{ControlIn, ControlOut, ControlType, Recipient, TransferError};
use nusb::{Device, Interface};
use tokio::time::{Instant, sleep};

use super::Usage;
use super::firmware::{self, Firmware};
use super::plugged::{self, LOOK_INTERVAL, Plugged, failed};
use crate::error::AcquireError;

/// Reads and writes the chip's memory, which the chip itself answers.
const REQUEST_MEMORY: u8 = 0xA0;

/// Tells the version of the firmware.
const REQUEST_VERSION: u8 = 0xB0;

/// The register (CPUCS) whose lowest bit holds the chip's processor.
const PROCESSOR: u16 = 0xE600;

/// Bytes that are written at once.
const WRITE_BYTES: u16 = 4096;

/// The versions that are understood, by their first number.
const MAJOR: u8 = 1;

/// How long a request may take.
pub(super) const REQUEST_WITHIN: Duration = Duration::from_secs(1);

/// How long it may take to leave the bus once it has its firmware.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);

/// How long it may then take to come back. The firmware stays away for 1.5 s, so that it is not missed that it has left; in
/// that time nobody can tell whether it was unplugged.
const RETURN_WITHIN: Duration = Duration::from_secs(3);

/// How long udev may take to give the device to whom it belongs.
const OWNED_WITHIN: Duration = Duration::from_secs(1);

/// The same analyzer with its firmware running.
///
/// # Errors
/// There is no firmware, or the analyzer does not take it.
pub(super) async fn running(
    found: Plugged,
    configured: Option<&Path>,
    usage: &mut Usage,
) -> Result<Plugged, AcquireError> {
    if found.is_running {
        return Ok(found);
    }
    let path = firmware::find(found.model, configured)?;
    let reading = tokio::task::spawn_blocking(move || firmware::read(path));
    let read = reading
        .await
        .map_err(|error| failed("read the firmware", error.into()))?;
    let firmware = read?;
    let opened = found.device.open().await;
    let device = opened.map_err(|error| found.explained("open", error))?;
    if let Err(error) = upload(&device, &firmware).await {
        return Err(found.broken("give its firmware to", error).await);
    }
    drop(device);
    let began = Instant::now();
    let back = returned(&found, &firmware).await?;
    tracing::info!(port = back.port, took = ?began.elapsed(), "loaded the firmware of an analyzer");
    // It has just begun, so it samples nothing.
    usage.idle_from = Some(Instant::now());
    Ok(back)
}

async fn upload(device: &Device, firmware: &Firmware) -> Result<(), TransferError> {
    let write = async |address: u16, data: &[u8]| {
        let request = ControlOut {
            control_type: ControlType::Vendor,
            recipient: Recipient::Device,
            request: REQUEST_MEMORY,
            value: address,
            index: 0,
            data,
        };
        device.control_out(request, REQUEST_WITHIN).await
    };
    write(PROCESSOR, &[1]).await?;
    let parts = firmware.image.chunks(usize::from(WRITE_BYTES));
    for (address, part) in (0..).step_by(usize::from(WRITE_BYTES)).zip(parts) {
        write(address, part).await?;
    }
    match write(PROCESSOR, &[0]).await {
        // It may have left before it could answer.
        Err(TransferError::Disconnected | TransferError::Cancelled) => Ok(()),
        written => written,
    }
}

/// The analyzer on the same port, as another device that runs the firmware and that this user may open.
async fn returned(before: &Plugged, firmware: &Firmware) -> Result<Plugged, AcquireError> {
    let began = Instant::now();
    let (mut left, mut seen) = (None, None);
    let port = || before.port.clone();
    let file = || firmware.path.display().to_string();
    loop {
        let all = plugged::all().await?;
        if all.iter().all(|found| found.id != before.id) {
            left.get_or_insert_with(Instant::now);
        }
        let is_same = |found: &Plugged| {
            found.port == before.port && found.id != before.id && found.is_running
        };
        if let Some(found) = all.into_iter().find(is_same) {
            let seen = *seen.get_or_insert_with(Instant::now);
            if found.device.open().await.is_ok() || OWNED_WITHIN < seen.elapsed() {
                return Ok(found);
            }
        } else if seen.is_some() {
            return Err(before.unplugged());
        }
        match left {
            None if LEAVE_WITHIN < began.elapsed() => {
                return Err(AcquireError::NotStarted {
                    port: port(),
                    firmware: file(),
                    waited: LEAVE_WITHIN,
                });
            }
            Some(left) if seen.is_none() && RETURN_WITHIN < left.elapsed() => {
                return Err(AcquireError::NotReturned {
                    port: port(),
                    firmware: file(),
                    waited: RETURN_WITHIN,
                });
            }
            _ => sleep(LOOK_INTERVAL).await,
        }
    }
}

/// Asks the firmware for its version.
///
/// # Errors
/// It is one that is not understood.
pub(super) async fn check_version(
    found: &Plugged,
    interface: &Interface,
) -> Result<(), AcquireError> {
    let request = ControlIn {
        control_type: ControlType::Vendor,
        recipient: Recipient::Device,
        request: REQUEST_VERSION,
        value: 0,
        index: 0,
        length: 2,
    };
    let answered = interface.control_in(request, REQUEST_WITHIN).await;
    let asking = "read the version of the firmware of";
    let version = match answered {
        Ok(version) => version,
        Err(error) => return Err(found.broken(asking, error).await),
    };
    match version[..] {
        [MAJOR, _] => Ok(()),
        [major, minor, ..] => Err(AcquireError::FirmwareVersion {
            port: found.port.clone(),
            major,
            minor,
        }),
        _ => Err(failed(
            &format!("{asking} {}", found.name()),
            std::io::ErrorKind::UnexpectedEof.into(),
        )),
    }
}
