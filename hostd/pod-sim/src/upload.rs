//! Uploaded DAC codes and SPI bytes, and `load`, which receives them in lines.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::args::Args;
use super::refuse::Refuse;

/// Bytes that the memory of the gateware holds.
pub(crate) const RAM_BYTES_MAX: usize = 4096;

/// Bytes that the deep memory holds.
pub(crate) const PSRAM_BYTES_MAX: usize = 8 << 20;

/// Largest offset of a `load` line.
const LOAD_OFFSET_MAX: i64 = 4096;

/// Maximum number of base64url letters in one `load` line.
const LOAD_LETTERS_MAX: usize = 239;

/// What was uploaded to each memory.
#[derive(Debug, Default)]
pub(crate) struct Upload {
    pub(crate) ram: Vec<u8>,
    pub(crate) psram: Vec<u8>,
    /// Whether the last upload went to the deep memory.
    pub(crate) deep: bool,
}

impl Upload {
    /// The memory to which the last upload went.
    pub(crate) fn last(&self) -> &[u8] {
        if self.deep { &self.psram } else { &self.ram }
    }
}

/// `load`: one line of an upload to the small memory; offset 0 starts a new one.
pub(crate) fn load(
    upload: &mut Upload,
    capture_is_held: bool,
    args: &Args<'_>,
) -> Result<Value, Refuse> {
    let bad = Refuse::Bad {
        field: "data",
        want: "base64url of at most 239 letters",
    };
    let offset: usize = args.uint("offset", 0..=LOAD_OFFSET_MAX)?.unwrap_or(0);
    let text = args
        .text("data")?
        .ok_or(Refuse::Missing { field: "data" })?;
    if text.len() > LOAD_LETTERS_MAX {
        return Err(bad);
    }
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(text) else {
        return Err(bad);
    };
    let kept = if offset == 0 { 0 } else { upload.ram.len() };
    if offset != kept || offset + bytes.len() > RAM_BYTES_MAX {
        return Err(Refuse::OutOfRange {
            field: "offset",
            min: 0,
            max: i64::try_from(kept).expect("at most 4096"),
        });
    }
    if capture_is_held {
        return Err(Refuse::Busy);
    }
    upload.ram.truncate(kept);
    upload.ram.extend(&bytes);
    upload.deep = false;
    Ok(json!({"offset": offset, "len": bytes.len(), "total": upload.ram.len() / 2}))
}
