//! `POST /bench/firmware/info`: what a firmware file holds, and what it would do to a chip, without a device.

use guest::flashing::{self, Inspection};
use guest::form::{self, Form};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, members};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::device;
use crate::flash::{self, Range, Skipped};
use crate::flash_start::order::{Address, Given, TARGET_CHARS_MAX};
use crate::flash_start::{FILE_BYTES_MAX, PART};

const FORMATS: [&str; 4] = ["elf", "hex", "bin", "uf2"];

pub(crate) const ROUTE: Route = Route {
    name: "devices.firmware_info",
    method: "POST",
    pattern: "/bench/firmware/info",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: form::limit(FILE_BYTES_MAX),
    summary: "Look at a firmware file",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::UnsupportedMediaType])
            .description(
                "Reads the part `firmware` of a form as `flash` would, and says where its data goes. With `target` it \
                 also says what would be programmed and erased; a file that is not for this chip is refused as `flash` \
                 would refuse it. Nothing is sent to a device.",
            )
            .form::<Terms>(
                PART,
                "ELF, Intel HEX, UF2 or plain bytes, told apart by their contents; at most 64 MiB.",
                json!({PART: "...", "target": "STM32F030R8"}),
            )
            .reply(200, "What it holds.", &example());
    }),
    handle,
};

members! {
    #[derive(Debug, Clone)]
    struct Terms {
        /// Chip (`STM32F030R8`).
        target: Option<String> = or(Given(TARGET_CHARS_MAX), None),
        /// Where a file of plain bytes goes, decimal or hexadecimal (`0x08000000`). Default: the start of
        /// the flash, for a file named `.bin`; another one is refused.
        load_addr: Option<u32> = or(Address, None),
    }
}

/// What a firmware file holds.
#[derive(Serialize, JsonSchema)]
struct Info<'a> {
    #[schemars(extend("enum" = FORMATS))]
    format: &'a str,
    /// Bytes of data, for all chips together.
    bytes: u64,
    /// What it has for which chips; empty for plain bytes.
    parts: Vec<Part<'a>>,
    /// What it would do to the chip; null if none was named.
    target: Option<Target<'a>>,
}

/// The data for one family of chips.
#[derive(Serialize, JsonSchema)]
struct Part<'a> {
    /// The family, by its name in UF2 or as a number; null: for every chip.
    family: Option<&'a str>,
    bytes: u64,
    /// Where it goes, in address order; the first 32 places, if there are more.
    ranges: Vec<Range>,
}

/// What flashing would do to a chip.
#[derive(Serialize, JsonSchema)]
struct Target<'a> {
    chip: &'a str,
    /// Bytes that would be programmed.
    bytes: u64,
    /// Where they would go, in address order; the first 32 places, if there are more.
    ranges: Vec<Range>,
    /// Data that is for other chips.
    skipped: Vec<Skipped<'a>>,
    /// What would be erased first, adjacent sectors as one; the first 32 places, if there are more.
    erased: Vec<Erased>,
}

/// Sectors.
#[derive(Serialize, JsonSchema)]
struct Erased {
    address: u64,
    bytes: u64,
}

impl<'a> From<&'a Inspection> for Info<'a> {
    fn from(found: &'a Inspection) -> Self {
        let part = |part: &'a flashing::Part| Part {
            family: part.family.as_deref(),
            bytes: part.bytes,
            ranges: flash::ranges(&part.extents),
        };
        let erased = |(address, bytes): &(u64, u64)| Erased {
            address: *address,
            bytes: *bytes,
        };
        Self {
            format: &found.format,
            bytes: found.data_bytes,
            parts: found.parts.iter().map(part).collect(),
            target: found.effect.as_ref().map(|effect| Target {
                chip: &effect.chip,
                bytes: effect.bytes,
                ranges: flash::ranges(&effect.extents),
                skipped: flash::skipped(&effect.skipped),
                erased: effect.erased.iter().map(erased).collect(),
            }),
        }
    }
}

fn example() -> Info<'static> {
    let range = || Range {
        address: 0x0800_0000,
        bytes: 8744,
        crc32: "5d0b9c1e".to_owned(),
    };
    Info {
        format: "uf2",
        bytes: 17_488,
        parts: vec![
            Part {
                family: Some("STM32F4"),
                bytes: 8744,
                ranges: vec![range()],
            },
            Part {
                family: Some("STM32F0"),
                bytes: 8744,
                ranges: vec![range()],
            },
        ],
        target: Some(Target {
            chip: "STM32F030R8",
            bytes: 8744,
            ranges: vec![range()],
            skipped: vec![Skipped {
                family: "STM32F4",
                bytes: 8744,
            }],
            erased: vec![Erased {
                address: 0x0800_0000,
                bytes: 9216,
            }],
        }),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let mut form = form::receive(request, &[PART], FILE_BYTES_MAX.into())?;
    let file = form.file(PART);
    let file =
        file.ok_or_else(|| ApiError::field(PART, "is missing: send the file as this part"))?;
    let Form { fields, .. } = form;
    let terms: Terms = fields.read()?;
    let named = (file.content, file.file_name.unwrap_or_default());
    let found = flashing::inspect(named, terms.target.as_deref(), terms.load_addr);
    let found = found.map_err(|error| flash::refusal(error, ""))?;
    Ok(Response::json(200, &Info::from(&found)))
}
