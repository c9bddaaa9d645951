//! WAV files (RIFF, Multimedia Programming Interface 1.0): one channel of 16-bit PCM with the
//! converter's range.

use std::io::Write;

use super::super::reader::Reader;
use super::cut::Cut;
use super::{ExportError, raw};

/// Bytes in front of the samples.
const HEADER_BYTES: u32 = 44;

/// Samples whose bytes fit the 32-bit sizes of the format.
const SAMPLES_MAX: u64 = ((u32::MAX - HEADER_BYTES) / 2) as u64;

/// Counts are unsigned, PCM is not.
const MIDDLE: u16 = 0x8000;

pub(super) fn check(cut: &Cut) -> Result<(), ExportError> {
    let (samples, rate_hz) = (cut.analog_samples(), cut.analog_rate_hz());
    if samples > SAMPLES_MAX {
        return Err(ExportError::TooLong {
            samples,
            max: SAMPLES_MAX,
        });
    }
    whole_rate(rate_hz)?;
    Ok(())
}

pub(super) fn write(reader: &Reader, cut: &Cut, out: &mut dyn Write) -> Result<(), ExportError> {
    let data = u32::try_from(cut.analog_samples() * 2).expect("the length was checked");
    out.write_all(&header(whole_rate(cut.analog_rate_hz())?, data))?;
    raw::analog(reader, cut, |counts| {
        let signed: Vec<u16> = counts.iter().map(|count| count ^ MIDDLE).collect();
        Ok(out.write_all(&raw::le_bytes(&signed))?)
    })
}

fn header(rate_hz: u32, data_bytes: u32) -> Vec<u8> {
    let mut header = b"RIFF".to_vec();
    header.extend((data_bytes + HEADER_BYTES - 8).to_le_bytes());
    header.extend(b"WAVEfmt ");
    header.extend(16_u32.to_le_bytes());
    // PCM, one channel.
    header.extend([1, 0, 1, 0]);
    header.extend(rate_hz.to_le_bytes());
    header.extend(rate_hz.saturating_mul(2).to_le_bytes());
    // Bytes of a sample, bits of a sample.
    header.extend([2, 0, 16, 0]);
    header.extend(b"data");
    header.extend(data_bytes.to_le_bytes());
    header
}

/// The rate as the format has it: whole hertz, in 32 bits.
fn whole_rate(rate_hz: f64) -> Result<u32, ExportError> {
    let whole = super::whole_rate(rate_hz)?;
    u32::try_from(whole).map_err(|_| ExportError::Rate { rate_hz })
}
