//! What a request to flash asks for, and what it leaves to the wiring of the bench.

use guest::{ApiError, Fields, Shape, builds, flag, flashing, integer, members, text};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value};

use crate::wiring::CHANNELS;

/// Longest short text: names of builds, files and targets.
const TEXT_CHARS_MAX: usize = 255;

/// Longest name of a target.
pub(crate) const TARGET_CHARS_MAX: usize = 128;

/// Which firmware.
#[derive(Debug, Clone)]
pub(super) enum From {
    /// The file that came along.
    File,
    Artifact {
        job: String,
        /// None = any.
        pack: Option<String>,
        name: String,
    },
    Selector(builds::Selector),
}

/// What was asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) from: From,
    terms: Terms,
}

/// Members that name a file of a build, and those that select one.
const NAMED: [&str; 3] = ["job_id", "pack_id", "artifact_name"];
const SELECTED: [&str; 4] = ["build", "repo", "ref", "artifact"];

members! {
    pub(super) struct Body {
        /// Id of a build or of a job.
        job_id: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// `external` for a reported build, otherwise the run of the job, such as `fw.debug.f0`.
        pack_id: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Name of the build's file.
        artifact_name: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Id of a build or of a job, or `latest`: the newest successful one.
        build: Option<String> = or(Given(TEXT_CHARS_MAX), None),
        /// `owner/name` or `name`. Jobs have none.
        repo: Option<String> = or(Given(TEXT_CHARS_MAX), None),
        /// Branch or tag.
        r#ref: Option<String> = or(Given(TEXT_CHARS_MAX), None),
        /// File name, or its last part. If several packs of a job have it: `<pack_id>/<name>`. Default: the
        /// `.elf`, else the `.hex`, else the `.bin`.
        artifact: Option<String> = or(Given(TEXT_CHARS_MAX), None),
        terms: Terms = inline(),
    }
}

members! {
    /// What is the same for a file that comes along; none = as the bench is wired.
    #[derive(Debug, Clone)]
    pub(super) struct Terms {
        /// Chip (`STM32F030R8`) or OpenOCD target configuration (`target/stm32f0x.cfg`). Default: as the
        /// device is wired, or as the build says.
        target: Option<String> = or(Given(TARGET_CHARS_MAX), None),
        /// Where a file of plain bytes goes, decimal or hexadecimal (`0x08000000`). Default: the start of
        /// the flash, for a file named `.bin`; another one is refused.
        load_addr: Option<u32> = or(Address, None),
        /// Channel of SWCLK. Default: as the device is wired.
        swclk: Option<u8> = optional(integer(CHANNELS)),
        /// Channel of SWDIO. Default: as the device is wired.
        swdio: Option<u8> = optional(integer(CHANNELS)),
        /// Whether the reset line is wired.
        nreset: Option<bool> = optional(flag()),
        /// Rail to switch on first; 0 leaves the power alone. Default: as the device is wired.
        efuse: Option<u8> = optional(integer(0..=2)),
        /// Read everything back and compare.
        verify: bool = or(flag(), true),
        /// Start the firmware afterwards.
        reset: bool = or(flag(), true),
        /// Go on when the target is not the chip that was asked for.
        force: bool = or(flag(), false),
        /// Hold the target in reset while the connection is made; of no effect when `nreset` is false.
        connect_under_reset: bool = or(flag(), false),
    }
}

/// A text of at most this many characters; an empty one counts as left out.
pub(crate) struct Given(pub(crate) usize);

impl Shape for Given {
    type Value = Option<String>;

    fn read(&self, value: &Value) -> Result<Option<String>, String> {
        let text = text(0..=self.0).read(value)?;
        Ok((!text.is_empty()).then_some(text))
    }

    fn schema(&self) -> Schema {
        text(0..=self.0).schema()
    }
}

/// A number, or its text: decimal, or hexadecimal after `0x`; an empty text counts as left out.
pub(crate) struct Address;

impl Shape for Address {
    type Value = Option<u32>;

    fn read(&self, value: &Value) -> Result<Option<u32>, String> {
        if value.is_number() {
            return integer(0..=u32::MAX).read(value).map(Some);
        }
        let Some(text) = Given(TEXT_CHARS_MAX).read(value)? else {
            return Ok(None);
        };
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let parsed = match digits {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        parsed
            .map(Some)
            .map_err(|_| "must be an address of 32 bits such as 0x08000000".to_owned())
    }

    fn schema(&self) -> Schema {
        let number = integer(0..=u32::MAX).schema();
        json_schema!({"anyOf": [{"type": "string"}, number]})
    }
}

impl Asked {
    /// Read the body; `has_file` says whether a file came with it.
    pub(super) fn read(fields: Fields, has_file: bool) -> Result<Self, ApiError> {
        let given = |names: &[&'static str]| names.iter().copied().find(|name| fields.has(name));
        let (named, selected) = (given(&NAMED), given(&SELECTED));
        let asked = if has_file {
            if let Some(name) = named.or(selected) {
                return Err(ApiError::field(
                    name,
                    "must be left out: the firmware came along",
                ));
            }
            let (from, terms) = (From::File, fields.read()?);
            Self { from, terms }
        } else {
            // Reported first, since the other problems may come from the way in which the file was
            // named.
            if named.is_none() && selected.is_none() {
                return Err(ApiError::field(
                    "firmware",
                    "is required: a part with the file, or job_id, pack_id and artifact_name, or build, repo, ref or artifact",
                ));
            }
            let body: Body = fields.read()?;
            body.asked(named.is_some(), selected.is_some())?
        };
        let terms = &asked.terms;
        if terms.swclk.is_some() && terms.swclk == terms.swdio {
            return Err(ApiError::field(
                "swdio",
                "must be another channel than swclk",
            ));
        }
        Ok(asked)
    }

    /// The whole order. Whatever was not asked for comes from the first of `known` that has it, or
    /// else from `defaults`.
    pub(super) fn order(
        self,
        device: &str,
        known: &[Map<String, Value>],
        defaults: &Map<String, Value>,
        attended: bool,
    ) -> Result<flashing::Order, ApiError> {
        let terms = self.terms;
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
        let target = terms.target.or_else(|| {
            let wired = find("swd_target").and_then(Value::as_str);
            wired.filter(|target| !target.is_empty()).map(str::to_owned)
        });
        let target = target.ok_or_else(|| {
            ApiError::field(
                "target",
                "is required, since the wiring of the device names none: a chip (STM32F030R8) or an OpenOCD configuration (target/stm32f0x.cfg)",
            )
        })?;
        let swclk = pin(terms.swclk, "swclk", "swd_swclk")?;
        let swdio = pin(terms.swdio, "swdio", "swd_swdio")?;
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
            load_address: terms.load_addr,
            swclk,
            swdio,
            efuse: terms.efuse.or_else(|| small("efuse")).unwrap_or(0),
            la_mv: if number("la_mv") == Some(1800) {
                1800
            } else {
                3300
            },
            verify: terms.verify,
            reset: terms.reset,
            force: terms.force,
            // An unwired line cannot hold the target in reset; published clients ask for it all the
            // same.
            connect_under_reset: terms.connect_under_reset && terms.nreset != Some(false),
            attended,
        })
    }
}

impl Body {
    /// `is_named`: there is a member that names a file; `is_selected`: there is one that selects a
    /// file.
    fn asked(self, is_named: bool, is_selected: bool) -> Result<Asked, ApiError> {
        if is_named && is_selected {
            return Err(ApiError::field(
                "job_id",
                "must be left out when a build is selected",
            ));
        }
        let terms = self.terms;
        if is_named {
            let job = self.job_id;
            let job = job.ok_or_else(|| ApiError::field("job_id", "is required"))?;
            let name = self.artifact_name;
            let name = name.ok_or_else(|| ApiError::field("artifact_name", "is required"))?;
            let pack = self.pack_id;
            let from = From::Artifact { job, pack, name };
            return Ok(Asked { from, terms });
        }
        let selector = builds::Selector {
            build: self.build,
            repo: self.repo,
            ref_: self.r#ref,
            pack: None,
            artifact: self.artifact,
        };
        let from = From::Selector(selector);
        Ok(Asked { from, terms })
    }
}
