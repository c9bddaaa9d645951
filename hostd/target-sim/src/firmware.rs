//! Firmware images: loading an ELF file into a chip's flash as a programmer on the bench would, and the
//! demo application that comes with the target (`firmware/`, built by `cargo xtask firmware`).

use thiserror::Error;

use crate::chip::{Chip, FLASH_BASE, Family, Part};

/// The demo application for [`STM32F030R8`](crate::chip::STM32F030R8) and its larger relatives: a
/// console on USART1 (PA9, PA10, 115200 baud), a BMP280 on PB8 (SCL) and PB9 (SDA), an LED on PA5.
pub const DEMO_ELF: &[u8] = include_bytes!("../firmware/demo.elf");

/// The same for [`STM32F446RE`](crate::chip::STM32F446RE), at the same pins.
pub const DEMO_F446_ELF: &[u8] = include_bytes!("../firmware/demo-f446.elf");

/// The demo application for a part.
#[must_use]
pub const fn demo_elf(part: &Part) -> &'static [u8] {
    match part.family {
        Family::Stm32f0 => DEMO_ELF,
        Family::Stm32f4 => DEMO_F446_ELF,
    }
}

const MAGIC: &[u8] = b"\x7fELF\x01\x01\x01";
const MACHINE_ARM: u16 = 40;
const LOADABLE: u32 = 1;
const HEADER_BYTES_MIN: usize = 52;
const PROGRAM_HEADER_BYTES: usize = 32;

/// An image that cannot be loaded into the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FirmwareError {
    /// The file is not a 32-bit little-endian ELF file for ARM.
    #[error("failed to read the firmware: not a 32-bit little-endian ELF file for ARM")]
    NotElf,
    /// The file ends before data that its headers refer to.
    #[error("failed to read the firmware: the file is cut off at {length} bytes")]
    CutOff {
        /// Length of the file, in bytes.
        length: usize,
    },
    /// A segment belongs where the part has no flash.
    #[error("failed to place the firmware: {bytes} bytes at {address:#010x} are not in flash")]
    NotInFlash {
        /// Address of the segment.
        address: u32,
        /// Its size.
        bytes: u32,
    },
}

fn half(file: &[u8], at: usize) -> Result<u16, FirmwareError> {
    let length = file.len();
    let bytes = file.get(at..).and_then(|rest| rest.first_chunk());
    bytes
        .map(|bytes| u16::from_le_bytes(*bytes))
        .ok_or(FirmwareError::CutOff { length })
}

fn word(file: &[u8], at: usize) -> Result<u32, FirmwareError> {
    let length = file.len();
    let bytes = file.get(at..).and_then(|rest| rest.first_chunk());
    bytes
        .map(|bytes| u32::from_le_bytes(*bytes))
        .ok_or(FirmwareError::CutOff { length })
}

/// Erases the flash and loads the loadable segments of an ELF file into it, at their physical addresses.
///
/// # Errors
/// If the file is invalid or does not fit; the flash is then unchanged.
pub fn load_elf(chip: &mut dyn Chip, file: &[u8]) -> Result<(), FirmwareError> {
    if !file.starts_with(MAGIC) || file.len() < HEADER_BYTES_MIN || half(file, 18)? != MACHINE_ARM {
        return Err(FirmwareError::NotElf);
    }
    let mut image = vec![0xff; chip.flash().len()];
    let table = word(file, 28)? as usize;
    for number in 0..usize::from(half(file, 44)?) {
        let header = table.saturating_add(number * PROGRAM_HEADER_BYTES);
        let field = |place: usize| word(file, header.saturating_add(place));
        let (kind, offset, address, bytes) = (field(0)?, field(4)?, field(12)?, field(16)?);
        if kind != LOADABLE || bytes == 0 {
            continue;
        }
        let first = offset as usize;
        let data = file.get(first..first.saturating_add(bytes as usize));
        let data = data.ok_or(FirmwareError::CutOff { length: file.len() })?;
        let place = address.wrapping_sub(FLASH_BASE) as usize;
        let cells = image.get_mut(place..place.saturating_add(data.len()));
        cells
            .ok_or(FirmwareError::NotInFlash { address, bytes })?
            .copy_from_slice(data);
    }
    chip.flash_mut().copy_from_slice(&image);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::STM32F030R8;
    use crate::stm32f0::Stm32f0;

    #[test]
    fn the_demo_goes_to_the_start_of_the_flash() {
        let mut chip = Stm32f0::new(STM32F030R8);
        load_elf(&mut chip, DEMO_ELF).unwrap();
        assert_eq!(
            chip.flash()[..4],
            [0x00, 0x20, 0x00, 0x20],
            "the stack starts at the end of SRAM"
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_changes_nothing() {
        let mut chip = Stm32f0::new(STM32F030R8);
        assert_eq!(load_elf(&mut chip, b"\x7fELF"), Err(FirmwareError::NotElf));
        let mut file = DEMO_ELF.to_vec();
        file[18] = 3;
        assert_eq!(load_elf(&mut chip, &file), Err(FirmwareError::NotElf));
        let table = word(DEMO_ELF, 28).unwrap() as usize;
        let mut file = DEMO_ELF.to_vec();
        file[table + 12..table + 16].copy_from_slice(&0x2000_0000u32.to_le_bytes());
        assert!(matches!(
            load_elf(&mut chip, &file),
            Err(FirmwareError::NotInFlash { .. })
        ));
        let cut = &DEMO_ELF[..2000];
        assert_eq!(
            load_elf(&mut chip, cut),
            Err(FirmwareError::CutOff { length: 2000 })
        );
        assert!(chip.flash().iter().all(|byte| *byte == 0xff));
    }

    #[test]
    fn no_file_panics() {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut chip = Stm32f0::new(STM32F030R8);
        for _ in 0..2000 {
            let mut file = DEMO_ELF[..1024].to_vec();
            for _ in 0..4 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let place = crate::word::low_word(state >> 8) as usize % 128;
                file[place] = state.to_le_bytes()[7];
            }
            let _ = load_elf(&mut chip, &file);
        }
    }
}
