//! Reads the description of a part.

use super::error::PartError;
use super::field::{Bits, Field, Number};
use super::part::{Memory, Part, Pointer, REGISTER_BYTES_MAX, Register, Step, Style};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Longest description of a part.
pub const BYTES_MAX: usize = 64 << 10;

/// Longest id.
pub(crate) const ID_CHARS_MAX: usize = 32;

/// Longest name of a part, register, memory or field.
pub(crate) const NAME_CHARS_MAX: usize = 40;

/// Longest text for people.
pub(crate) const TEXT_CHARS_MAX: usize = 160;

/// Most registers of a part.
pub(crate) const REGISTERS_MAX: usize = 512;

/// Most memories of a part.
pub(crate) const MEMORIES_MAX: usize = 64;

/// Most fields of a register.
pub(crate) const FIELDS_MAX: usize = 64;

/// Most values of a field that have names.
pub(crate) const VALUES_MAX: usize = 256;

/// Largest scale and offset: what comes of them is a number that JSON has.
const NUMBER_MAX: f64 = 1e12;

/// Addresses that devices can have; others are reserved.
pub(crate) const ADDRESS_MIN: u8 = 0x08;
pub(crate) const ADDRESS_MAX: u8 = 0x77;

/// Most of them.
const ADDRESSES_MAX: usize = 128;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    data_sheet: String,
    addresses: Vec<u8>,
    #[serde(default)]
    style: StyleName,
    pointer: Option<FilePointer>,
    #[serde(default)]
    register: Vec<FileRegister>,
    #[serde(default)]
    memory: Vec<FileMemory>,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum StyleName {
    #[default]
    Registers,
    Commands,
    Port,
    Control,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePointer {
    bytes: Option<u8>,
    reads: Option<Reads>,
    writes: Option<Writes>,
    first: Option<u32>,
    last: Option<u32>,
    page: Option<u32>,
    start: Option<u32>,
    #[serde(default)]
    each: Each,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reads {
    Next,
    Same,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Writes {
    Next,
    Same,
    Pairs,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Each {
    #[default]
    Byte,
    Register,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRegister {
    at: u32,
    mask: Option<u32>,
    name: String,
    bytes: Option<u8>,
    #[serde(default)]
    little: bool,
    #[serde(default)]
    stays: bool,
    #[serde(default)]
    fields: Vec<FileField>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileMemory {
    first: u32,
    last: u32,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileField {
    name: String,
    bits: String,
    when: Option<String>,
    #[serde(default)]
    values: BTreeMap<String, String>,
    #[serde(default)]
    signed: bool,
    #[serde(default)]
    bcd: bool,
    #[serde(default)]
    hex: bool,
    scale: Option<f64>,
    offset: Option<f64>,
    #[serde(default)]
    unit: String,
}

impl Part {
    /// Reads a description; its id is the name of its file without `.toml`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(id: &str, text: &str) -> Result<Self, PartError> {
        if BYTES_MAX < text.len() {
            return Err(PartError::Long(text.len()));
        }
        check_id(id)?;
        let file: File = toml::from_str(text).map_err(|error| PartError::Form(Box::new(error)))?;
        check_name(&file.name)?;
        check_text(&file.data_sheet)?;
        if !(1..=ADDRESSES_MAX).contains(&file.addresses.len()) {
            return Err(PartError::Many("addresses"));
        }
        let wrong = |address: &&u8| !(ADDRESS_MIN..=ADDRESS_MAX).contains(*address);
        if let Some(address) = file.addresses.iter().find(wrong) {
            return Err(PartError::Address(*address));
        }
        let style = style(&file)?;
        let registers = registers(file.register, &style)?;
        let memories = memories(file.memory)?;
        Ok(Self {
            id: id.to_owned(),
            name: file.name,
            data_sheet: file.data_sheet,
            addresses: file.addresses,
            style,
            registers,
            memories,
        })
    }
}

fn check_id(id: &str) -> Result<(), PartError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    match (1..=ID_CHARS_MAX).contains(&id.len()) && id.chars().all(fits) {
        true => Ok(()),
        false => Err(PartError::Id(shortened(id))),
    }
}

fn check_name(name: &str) -> Result<(), PartError> {
    let fits = |c: char| c.is_alphanumeric() || "_-./+# ".contains(c);
    match (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && name.chars().all(fits) {
        true => Ok(()),
        false => Err(PartError::Name(shortened(name))),
    }
}

/// It is shown as it is, in JSON as well.
fn check_text(text: &str) -> Result<(), PartError> {
    let fits = |c: char| !c.is_control() && c != '"' && c != '\\';
    match (1..=TEXT_CHARS_MAX).contains(&text.chars().count()) && text.chars().all(fits) {
        true => Ok(()),
        false => Err(PartError::Text(shortened(text))),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(NAME_CHARS_MAX).collect()
}

fn style(file: &File) -> Result<Style, PartError> {
    let is_command = file.style == StyleName::Commands;
    match (&file.style, &file.pointer) {
        (StyleName::Port | StyleName::Control, Some(_)) => Err(PartError::Pointer(
            "such a part has none; leave out [pointer]",
        )),
        (StyleName::Port, None) => Ok(Style::Port),
        (StyleName::Control, None) => Ok(Style::Control),
        (StyleName::Registers | StyleName::Commands, None) => Ok(Style::Pointer(Pointer {
            bytes: 1,
            reads: Step::Next,
            writes: Step::Next,
            range: 0..=0xFF,
            page: None,
            start: None,
            is_of_registers: is_command,
            is_command,
        })),
        (_, Some(given)) => pointer(given, is_command).map(Style::Pointer),
    }
}

fn pointer(given: &FilePointer, is_command: bool) -> Result<Pointer, PartError> {
    let bytes = given.bytes.unwrap_or(1);
    let most = match bytes {
        1 => 0xFF,
        2 => 0xFFFF,
        _ => return Err(PartError::Pointer("it has 1 or 2 bytes")),
    };
    let range = given.first.unwrap_or(0)..=given.last.unwrap_or(most);
    if range.is_empty() || most < *range.end() {
        return Err(PartError::Pointer(
            "`first` to `last` must be what its bytes can be",
        ));
    }
    if given.page.is_some_and(|page| !page.is_power_of_two()) {
        return Err(PartError::Pointer("`page` must be a power of two"));
    }
    if given.start.is_some_and(|start| !range.contains(&start)) {
        return Err(PartError::Pointer("`start` must lie in its range"));
    }
    let is_of_registers = is_command || given.each == Each::Register;
    if is_of_registers && matches!(given.writes, Some(Writes::Pairs)) {
        return Err(PartError::Pointer("pairs are of a number and a byte each"));
    }
    let otherwise = match is_command {
        true => Step::Same,
        false => Step::Next,
    };
    Ok(Pointer {
        bytes,
        reads: given.reads.map_or(otherwise, |reads| match reads {
            Reads::Next => Step::Next,
            Reads::Same => Step::Same,
        }),
        writes: given.writes.map_or(otherwise, |writes| match writes {
            Writes::Next => Step::Next,
            Writes::Same => Step::Same,
            Writes::Pairs => Step::Pairs,
        }),
        range,
        page: given.page,
        start: given.start,
        is_of_registers,
        is_command,
    })
}

fn registers(given: Vec<FileRegister>, style: &Style) -> Result<Vec<Register>, PartError> {
    if REGISTERS_MAX < given.len() {
        return Err(PartError::Many("registers"));
    }
    let mut registers = Vec::with_capacity(given.len());
    for register in given {
        registers.push(one_register(register, style)?);
    }
    registers.sort_by_key(|register: &Register| register.at);
    let wide = |register: &Register| match style {
        Style::Pointer(pointer) if !pointer.is_of_registers => u32::from(register.bytes),
        _ => 1,
    };
    for pair in registers.windows(2) {
        if pair[1].at - pair[0].at < wide(&pair[0]) && *style != Style::Control {
            return Err(member(&pair[1].name, "it lies where another register is"));
        }
    }
    Ok(registers)
}

fn one_register(given: FileRegister, style: &Style) -> Result<Register, PartError> {
    check_name(&given.name)?;
    let range = match style {
        Style::Pointer(pointer) => pointer.range.clone(),
        Style::Port => 0..=0,
        Style::Control => 0..=0xFF,
    };
    let mask = given.mask.unwrap_or(0xFF);
    let wrong = |cause| Err(member(&given.name, cause));
    if !range.contains(&given.at) {
        return wrong("no pointer leads to it");
    }
    if *style == Style::Control && (mask > 0xFF || given.at & !mask != 0) {
        return wrong("`mask` must cover its number, in a byte");
    }
    if *style != Style::Control && given.mask.is_some() {
        return wrong("only commands of a part with a control byte have a mask");
    }
    let bytes = given.bytes.unwrap_or(1);
    if !(1..=REGISTER_BYTES_MAX).contains(&bytes) {
        return wrong("it has 1 to 8 bytes");
    }
    if FIELDS_MAX < given.fields.len() {
        return Err(PartError::Many("fields"));
    }
    let bits = u32::from(bytes) * u8::BITS;
    let fields = given.fields.into_iter();
    Ok(Register {
        at: given.at,
        mask,
        name: given.name,
        bytes,
        is_little: given.little,
        stays: given.stays,
        fields: fields
            .map(|given| field(given, bits))
            .collect::<Result<_, _>>()?,
    })
}

fn memories(given: Vec<FileMemory>) -> Result<Vec<Memory>, PartError> {
    if MEMORIES_MAX < given.len() {
        return Err(PartError::Many("memories"));
    }
    let one = |given: FileMemory| {
        check_name(&given.name)?;
        match given.first <= given.last {
            true => Ok(Memory {
                name: given.name,
                range: given.first..=given.last,
            }),
            false => Err(member(&given.name, "`first` must not be behind `last`")),
        }
    };
    given.into_iter().map(one).collect()
}

fn field(given: FileField, register_bits: u32) -> Result<Field, PartError> {
    check_name(&given.name)?;
    let wrong = |cause| member(&given.name, cause);
    let within = |bits: Bits| bits.high() < register_bits;
    let bits = Bits::parse(&given.bits).filter(|bits| within(*bits));
    let bits =
        bits.ok_or_else(|| wrong("`bits` must be as \"7:4\" or \"3\", of what the register has"))?;
    let when = given.when.as_deref().map(|when| {
        let (bits, value) = when.split_once('=')?;
        let bits = Bits::parse(bits).filter(|bits| within(*bits))?;
        Some((bits, value.trim().parse().ok()?))
    });
    let when = match when {
        None => None,
        Some(None) => return Err(wrong("`when` must be as \"6=1\" or \"7:4=2\"")),
        Some(when) => when,
    };
    if VALUES_MAX < given.values.len() {
        return Err(PartError::Many("values"));
    }
    let mut values = Vec::with_capacity(given.values.len());
    for (value, word) in given.values {
        check_text(&word)?;
        let value = number(&value).filter(|value| *value <= bits.of(u64::MAX));
        let value = value.ok_or_else(|| member(&given.name, "a value is none of its bits"))?;
        values.push((value, word));
    }
    let (scale, offset) = (given.scale.unwrap_or(1.0), given.offset.unwrap_or(0.0));
    let fits = |number: f64| number.abs() <= NUMBER_MAX;
    if !fits(scale) || !fits(offset) {
        let cause = "`scale` and `offset` must be at most 1e12";
        return Err(member(&given.name, cause));
    }
    if !given.unit.is_empty() {
        check_text(&given.unit)?;
    }
    Ok(Field {
        name: given.name,
        bits,
        when,
        values,
        number: Number {
            is_signed: given.signed,
            is_bcd: given.bcd,
            is_hex: given.hex,
            scale,
            offset,
            unit: given.unit,
        },
    })
}

/// Decimal, `0x1F` or `0b11`.
fn number(text: &str) -> Option<u64> {
    match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
        (Some(digits), _) => u64::from_str_radix(digits, 16).ok(),
        (_, Some(digits)) => u64::from_str_radix(digits, 2).ok(),
        _ => text.parse().ok(),
    }
}

fn member(name: &str, cause: &'static str) -> PartError {
    PartError::Member {
        name: name.to_owned(),
        cause,
    }
}
