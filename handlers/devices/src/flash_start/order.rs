//! What a request to flash asks for, and what it leaves to the wiring of the bench.

use guest::{ApiError, Fields, Shape, builds, choice, flag, flashing, integer, text};
use serde_json::{Map, Value};

use crate::flash::PACK;

/// Longest short text: names of builds, files and targets.
const TEXT_CHARS_MAX: usize = 255;

/// Longest name of a target.
const TARGET_CHARS_MAX: usize = 128;

/// Which firmware.
#[derive(Debug, Clone)]
pub(super) enum From {
    /// The file that came along.
    File,
    Artifact {
        job: String,
        name: String,
    },
    Selector(builds::Selector),
}

/// What was asked for; none = as the bench is wired.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) from: From,
    target: Option<String>,
    load_address: Option<u32>,
    swclk: Option<u8>,
    swdio: Option<u8>,
    nreset: Option<bool>,
    efuse: Option<u8>,
    verify: bool,
    reset: bool,
    force: bool,
    connect_under_reset: bool,
}

/// A logic-analyzer channel of the pod.
fn channel() -> impl Shape<Value = u8> {
    integer(1..=14)
}

/// A text that may be empty, which is as good as left out.
fn given(fields: &mut Fields, name: &str, chars_max: usize) -> Option<String> {
    let text = fields.optional(name, text(0..=chars_max));
    text.filter(|text| !text.is_empty())
}

impl Asked {
    /// What the body says; a file came along or not.
    pub(super) fn read(mut fields: Fields, has_file: bool) -> Result<Self, ApiError> {
        let from = read_from(&mut fields, has_file);
        let asked = Self {
            from,
            target: given(&mut fields, "target", TARGET_CHARS_MAX),
            load_address: read_address(&mut fields),
            swclk: fields.optional("swclk", channel()),
            swdio: fields.optional("swdio", channel()),
            nreset: fields.optional("nreset", flag()),
            efuse: fields.optional("efuse", integer(0..=2)),
            verify: fields.or("verify", flag(), true),
            reset: fields.or("reset", flag(), true),
            force: fields.or("force", flag(), false),
            connect_under_reset: fields.or("connect_under_reset", flag(), false),
        };
        if let (Some(clock), Some(data)) = (asked.swclk, asked.swdio)
            && clock == data
        {
            fields.problem("swdio", "must be another channel than swclk");
        }
        fields.finish()?;
        Ok(asked)
    }

    /// The whole order. What was not asked for is as the first of `known` says that says anything, or
    /// as `defaults` has it.
    pub(super) fn order(
        self,
        device: &str,
        known: &[Map<String, Value>],
        defaults: &Map<String, Value>,
        attended: bool,
    ) -> Result<flashing::Order, ApiError> {
        let find = |name: &str| {
            let mut values = known.iter().filter_map(|wiring| wiring.get(name));
            values.next().or_else(|| defaults.get(name))
        };
        let number = |name: &str| find(name).and_then(Value::as_u64);
        let pin = |asked: Option<u8>, field: &str, name: &str| {
            let wired = || number(name).and_then(|la| u8::try_from(la).ok());
            asked.or_else(wired).ok_or_else(|| {
                ApiError::field(
                    field,
                    "is required: the wiring of the device has no channel for it",
                )
            })
        };
        let target = self.target.or_else(|| {
            let wired = find("swd_target").and_then(Value::as_str);
            wired.filter(|target| !target.is_empty()).map(str::to_owned)
        });
        let target = target.ok_or_else(|| {
            ApiError::field(
                "target",
                "is required, since the wiring of the device names none: a chip (STM32F030R8) or an OpenOCD configuration (target/stm32f0x.cfg)",
            )
        })?;
        let swclk = pin(self.swclk, "swclk", "swd_swclk")?;
        let swdio = pin(self.swdio, "swdio", "swd_swdio")?;
        if swclk == swdio {
            return Err(ApiError::field(
                "swdio",
                "must be another channel than swclk",
            ));
        }
        let small = |name: &str| number(name).and_then(|n| u8::try_from(n).ok());
        Ok(flashing::Order {
            device: device.to_owned(),
            target,
            load_address: self.load_address,
            swclk,
            swdio,
            efuse: self.efuse.or_else(|| small("efuse")).unwrap_or(0),
            la_mv: if number("la_mv") == Some(1800) {
                1800
            } else {
                3300
            },
            verify: self.verify,
            reset: self.reset,
            force: self.force,
            // A line that is not wired holds nobody in reset; published clients ask for it all the same.
            connect_under_reset: self.connect_under_reset && self.nreset != Some(false),
            attended,
        })
    }
}

fn read_from(fields: &mut Fields, has_file: bool) -> From {
    let named = ["job_id", "pack_id", "artifact_name"];
    let selected = ["build", "repo", "ref", "artifact"];
    let has = |fields: &Fields, names: &[&str]| names.iter().any(|name| fields.has(name));
    let (is_named, is_selected) = (has(fields, &named), has(fields, &selected));
    if has_file {
        for name in named.iter().chain(&selected) {
            if fields.has(name) {
                fields.problem(name, "must be left out: the firmware came along");
            }
            fields.ignore(name);
        }
        return From::File;
    }
    if is_named && is_selected {
        fields.problem("job_id", "must be left out when a build is selected");
    }
    if is_named {
        let job = fields.required("job_id", text(1..=TEXT_CHARS_MAX));
        fields.optional("pack_id", choice(&[(PACK, ())]));
        let name = fields.required("artifact_name", text(1..=TEXT_CHARS_MAX));
        selected.iter().for_each(|name| fields.ignore(name));
        return From::Artifact { job, name };
    }
    let selector = builds::Selector {
        build: given(fields, "build", TEXT_CHARS_MAX),
        repo: given(fields, "repo", TEXT_CHARS_MAX),
        ref_: given(fields, "ref", TEXT_CHARS_MAX),
        artifact: given(fields, "artifact", TEXT_CHARS_MAX),
    };
    let is_empty = selector.build.is_none()
        && selector.repo.is_none()
        && selector.ref_.is_none()
        && selector.artifact.is_none();
    if is_empty {
        fields.problem(
            "firmware",
            "is required: a part with the file, or job_id, pack_id and artifact_name, or build, repo, ref or artifact",
        );
    }
    From::Selector(selector)
}

/// A number, or its text: decimal, or hexadecimal after `0x`.
fn read_address(fields: &mut Fields) -> Option<u32> {
    if fields.is_number("load_addr") {
        return fields.optional("load_addr", integer(0..=u32::MAX));
    }
    let text = given(fields, "load_addr", TEXT_CHARS_MAX)?;
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = match digits {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    if parsed.is_err() {
        fields.problem(
            "load_addr",
            "must be an address of 32 bits such as 0x08000000",
        );
    }
    parsed.ok()
}
