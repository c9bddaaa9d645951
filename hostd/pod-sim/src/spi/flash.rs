//! `spi_flash`: the pod's operations, made of the chip's commands.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::nor::{SECTOR, SIZE};
use super::{Spi, bytes};
use crate::args::Args;
use crate::refuse::Refuse;

const READ_BYTES_MAX: i64 = 1024;
const ERASE_BYTES_MAX: i64 = 1 << 20;
const WRITE_BYTES_MAX: usize = 768;
const PAGE: u32 = 256;

/// Intervals between two polls of a busy chip's status, by operation, in nanoseconds.
const PROGRAM_POLL_NS: u64 = 100_000;
const ERASE_POLL_NS: u64 = 5_000_000;
const CHIP_POLL_NS: u64 = 100_000_000;

/// After this many polls a busy chip is given up.
const POLLS_MAX: u32 = 1_000;

const BUSY: u8 = 0x01;

/// Runs one operation in the open session.
pub(super) fn run(spi: &mut Spi, args: &Args<'_>) -> Result<Value, Refuse> {
    let begin_ns = spi.free_ns;
    let took_ms = |spi: &Spi| (spi.free_ns - begin_ns) / 1_000_000;
    match args.text("op")?.unwrap_or_default() {
        "id" => id(spi),
        "read" => {
            let addr = address(args)?;
            let len = length(args, READ_BYTES_MAX)?;
            let data = read(spi, addr, len)?;
            Ok(json!({"addr": addr, "len": len, "data": URL_SAFE_NO_PAD.encode(data)}))
        }
        "erase" => {
            let addr = address(args)?;
            let len = length(args, ERASE_BYTES_MAX)?;
            let first = addr / SECTOR * SECTOR;
            let last = addr.saturating_add(len).min(SIZE).next_multiple_of(SECTOR);
            for sector in (first..last).step_by(SECTOR as usize) {
                enable(spi)?;
                spi.frame(&command(0x20, sector), 0)?;
                finish(spi, ERASE_POLL_NS)?;
            }
            Ok(json!({"addr": first, "len": last - first, "ms": took_ms(spi)}))
        }
        "chip_erase" => {
            enable(spi)?;
            spi.frame(&[0xc7], 0)?;
            finish(spi, CHIP_POLL_NS)?;
            Ok(json!({"ms": took_ms(spi)}))
        }
        "write" => {
            let mut data = write(spi, args)?;
            data["ms"] = took_ms(spi).into();
            Ok(data)
        }
        _ => Err(Refuse::Bad {
            field: "op",
            want: "id, read, erase, write or chip_erase",
        }),
    }
}

fn id(spi: &mut Spi) -> Result<Value, Refuse> {
    let id = spi.frame(&[0x9f], 3)?;
    let status = spi.frame(&[0x05], 1)?;
    let present = id != [0; 3] && id != [0xff; 3];
    let size = id.get(2).filter(|code| present && **code < 32);
    let size = size.map_or(0, |code| 1_u32 << code);
    Ok(json!({"id": hex::encode(&id), "present": present,
        "size": size, "status": status[0]}))
}

fn write(spi: &mut Spi, args: &Args<'_>) -> Result<Value, Refuse> {
    let addr = address(args)?;
    let data =
        bytes(args, "data", 1..=WRITE_BYTES_MAX)?.ok_or(Refuse::Missing { field: "data" })?;
    let verify = args.flag("verify")?.unwrap_or(true);
    let mut rest = data.as_slice();
    let mut at = addr;
    while !rest.is_empty() {
        let room = (PAGE - at % PAGE) as usize;
        let (page, after) = rest.split_at(room.min(rest.len()));
        enable(spi)?;
        let mut frame = command(0x02, at).to_vec();
        frame.extend(page);
        spi.frame(&frame, 0)?;
        finish(spi, PROGRAM_POLL_NS)?;
        at = at / PAGE * PAGE + PAGE;
        rest = after;
    }
    if verify {
        let len = u32::try_from(data.len()).expect("at most 768");
        let written = read(spi, addr, len)?;
        let differs = (addr..).zip(written.iter().zip(&data));
        let mut differs = differs.filter(|(_, (seen, wanted))| seen != wanted);
        if let Some((at, _)) = differs.next() {
            return Err(Refuse::SpiVerify { at });
        }
    }
    Ok(json!({"addr": addr, "len": data.len(), "verified": verify}))
}

fn read(spi: &mut Spi, addr: u32, len: u32) -> Result<Vec<u8>, Refuse> {
    spi.frame(&command(0x03, addr), len as usize)
}

/// Enables the next change; refuses if the chip does not accept that.
fn enable(spi: &mut Spi) -> Result<(), Refuse> {
    spi.frame(&[0x06], 0)?;
    let status = spi.frame(&[0x05], 1)?;
    if status[0] & 0x02 == 0 {
        return Err(Refuse::SpiNoEnable);
    }
    Ok(())
}

/// Polls the status until the chip is done.
fn finish(spi: &mut Spi, poll_ns: u64) -> Result<(), Refuse> {
    for _ in 0..POLLS_MAX {
        spi.free_ns += poll_ns;
        let status = spi.frame(&[0x05], 1)?;
        if status[0] & BUSY == 0 {
            return Ok(());
        }
    }
    Err(Refuse::SpiStuck)
}

fn command(opcode: u8, addr: u32) -> [u8; 4] {
    let [_, high, middle, low] = addr.to_be_bytes();
    [opcode, high, middle, low]
}

fn address(args: &Args<'_>) -> Result<u32, Refuse> {
    let addr = args.uint("addr", 0..=0xff_ffff)?;
    addr.ok_or(Refuse::Missing { field: "addr" })
}

fn length(args: &Args<'_>, most: i64) -> Result<u32, Refuse> {
    let len = args.uint("len", 1..=most)?;
    len.ok_or(Refuse::Missing { field: "len" })
}
