//! `hostd firmware info FILE`: what a firmware file holds, and what it would do to a chip, without a device.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use flash::{EXTENTS_NAMED_MAX, Effect, Image, Inspection};
use lab::flashing::FILE_BYTES_MAX;

/// Look at firmware files.
#[derive(Debug, Subcommand)]
pub enum FirmwareCommand {
    /// Say what a firmware file holds, and what flashing it would do to a chip
    Info(Info),
}

/// What to look at.
#[derive(Debug, Args)]
pub struct Info {
    /// ELF, Intel HEX, UF2 or plain bytes (.bin)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also say what would be programmed and erased on this chip, such as STM32F030R8
    #[arg(long, value_name = "CHIP")]
    target: Option<String>,
    /// Where plain bytes go, such as 0x08004000; by default, the start of the flash
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    load_addr: Option<u32>,
}

fn address(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = match digits {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "must be an address of 32 bits such as 0x08000000".to_owned())
}

impl FirmwareCommand {
    /// Looks, and prints what it finds.
    ///
    /// # Errors
    /// The file cannot be read or is no firmware, the chip is not known, or the file is not for it.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let Self::Info(info) = self;
        let shown = info.file.display();
        let mut bytes = Vec::new();
        let file = File::open(&info.file).with_context(|| format!("open {shown}"))?;
        let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.with_context(|| format!("read {shown}"))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            bail!("read {shown}: a firmware file has at most {FILE_BYTES_MAX} bytes");
        }
        let name = info.file.file_name().unwrap_or_default().to_string_lossy();
        let image = Image::parse(&bytes, &name, info.load_addr);
        let image = image.with_context(|| format!("read {shown}"))?;
        let found = flash::inspect(&image, info.target.as_deref(), info.load_addr);
        let found = found.with_context(|| format!("place {shown}"))?;
        print(&found, out).context("print")
    }
}

fn print(found: &Inspection, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}, {} bytes of data", found.format, found.data_bytes)?;
    for (family, extents) in &found.parts {
        if let Some(family) = family {
            writeln!(out, "for {family}:")?;
        }
        for place in flash::named(extents) {
            writeln!(out, "  {place}")?;
        }
    }
    found
        .effect
        .as_ref()
        .map_or(Ok(()), |effect| would_do(effect, out))
}

fn would_do(effect: &Effect, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "on {}:", effect.chip)?;
    for (address, bytes) in effect.erased.iter().take(EXTENTS_NAMED_MAX) {
        let end = address + bytes;
        writeln!(out, "  erases {address:#010x}..{end:#010x} ({bytes} bytes)")?;
    }
    let more = effect.erased.len().saturating_sub(EXTENTS_NAMED_MAX);
    if more > 0 {
        writeln!(out, "  erases {more} more places")?;
    }
    for place in flash::named(&effect.programmed.extents) {
        writeln!(out, "  programs {place}")?;
    }
    for skip in effect.programmed.skips() {
        writeln!(out, "  {skip}")?;
    }
    Ok(())
}
