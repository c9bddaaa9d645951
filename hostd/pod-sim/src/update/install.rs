//! What each target requires of an image, and where the image goes.

use crate::certificate;
use crate::images::{FirmwareImage, Target};
use crate::settings::{Settings, SigPolicy};
use crate::tls::LanCertificate;

/// Whether `bytes` are valid for this pod as `target`.
pub(super) fn check(
    settings: &Settings,
    flash_kb: u16,
    target: Target,
    bytes: &[u8],
) -> Result<(), String> {
    match target {
        Target::Firmware => firmware(settings, flash_kb, bytes),
        Target::Gateware0 | Target::Gateware1 | Target::Wireless => Ok(()),
        Target::CompanyCa => certificate::bundle(bytes).map(drop),
        Target::LanTls => LanCertificate::from_pem(bytes).map(drop),
    }
}

fn firmware(settings: &Settings, flash_kb: u16, bytes: &[u8]) -> Result<(), String> {
    let image = FirmwareImage::read(bytes).ok_or("this is no firmware image")?;
    if image.flash_kb != flash_kb {
        let built = image.flash_kb;
        return Err(format!(
            "built for {built} KiB flash, this pod has {flash_kb} KiB"
        ));
    }
    if settings.sig == SigPolicy::Required && !image.checks_signatures {
        return Err(
            "signature policy `required` refuses: the image could not enforce it".to_owned(),
        );
    }
    Ok(())
}

/// Writes the checked image.
pub(super) fn write(settings: &mut Settings, target: Target, bytes: &[u8], version: &str) {
    match target {
        Target::Firmware => settings.next_firmware = FirmwareImage::read(bytes),
        Target::Gateware0 | Target::Gateware1 | Target::Wireless => {
            settings.blobs.write(target, bytes, version);
        }
        Target::CompanyCa => settings.ca = certificate::bundle(bytes).unwrap_or_default(),
        Target::LanTls => {
            let installed = LanCertificate::from_pem(bytes);
            settings.tls.install(installed.expect("it was checked"));
        }
    }
}
