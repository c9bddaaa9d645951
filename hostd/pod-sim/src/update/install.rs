//! What each target asks of an image, and where it goes.

use super::{FirmwareImage, Target};
use crate::certificate;
use crate::settings::SigPolicy;
use crate::tls::LanCertificate;
use crate::world::World;

/// Whether `bytes` fit this pod as `target`.
pub(super) fn check(world: &World, target: Target, bytes: &[u8]) -> Result<(), String> {
    match target {
        Target::Firmware => firmware(world, bytes),
        Target::Gateware0 | Target::Gateware1 | Target::Wireless => Ok(()),
        Target::CompanyCa => certificate::bundle(bytes).map(drop),
        Target::LanTls => LanCertificate::from_pem(bytes).map(drop),
    }
}

fn firmware(world: &World, bytes: &[u8]) -> Result<(), String> {
    let image = FirmwareImage::read(bytes).ok_or("this is no firmware image")?;
    let flash_kb = world.config.flash_kb;
    if image.flash_kb != flash_kb {
        let built = image.flash_kb;
        return Err(format!(
            "built for {built} KiB flash, this pod has {flash_kb} KiB"
        ));
    }
    if world.settings.sig == SigPolicy::Required && !image.checks_signatures {
        return Err(
            "signature policy `required` refuses: the image could not enforce it".to_owned(),
        );
    }
    Ok(())
}

/// Writes what was checked.
pub(super) fn write(world: &mut World, target: Target, bytes: &[u8], version: &str) {
    match target {
        Target::Firmware => world.settings.next_firmware = FirmwareImage::read(bytes),
        Target::Gateware0 | Target::Gateware1 | Target::Wireless => {
            world.settings.blobs.write(target, bytes, version);
        }
        Target::CompanyCa => world.settings.ca = certificate::bundle(bytes).unwrap_or_default(),
        Target::LanTls => {
            let installed = LanCertificate::from_pem(bytes);
            world
                .settings
                .tls
                .install(installed.expect("it was checked"));
        }
    }
}
