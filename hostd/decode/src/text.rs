//! The words of an annotation, exactly those of libsigrokdecode.

use crate::annotation::{Annotation, Value};
use crate::conversation::{self, Show};
use crate::decoder::Class;
use crate::spec::{ProtocolConfig, Spec};
use crate::uart::WordFormat;
use crate::{i2c, uart};
use std::ops::RangeInclusive;

/// What is shown of ASCII.
const VISIBLE: RangeInclusive<u8> = b' '..=b'~';

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Appends the text of an annotation.
pub(crate) fn push(out: &mut Vec<u8>, spec: &Spec, annotation: &Annotation) {
    match &annotation.value {
        Value::Bit(bit) => out.push(b'0' + u8::from(*bit)),
        Value::Mark => out.extend_from_slice(mark(spec, annotation.class).as_bytes()),
        Value::Direction if annotation.class == i2c::ADDRESS_READ => out.extend_from_slice(b"Read"),
        Value::Direction => out.extend_from_slice(b"Write"),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Access(access) => out.extend_from_slice(access.text.as_bytes()),
        Value::Number(number) => {
            if let ProtocolConfig::I2c(_) = spec.protocol {
                out.extend_from_slice(i2c_prefix(annotation.class).as_bytes());
            }
            push_word(out, spec, annotation.class, *number);
        }
        Value::Words(words) => {
            if let ProtocolConfig::Conversation(config) = &spec.protocol {
                return push_run(out, config, annotation.class, words);
            }
            let separator: &[u8] = if is_ascii(spec) { b"" } else { b" " };
            for (index, word) in words.iter().enumerate() {
                if index > 0 {
                    out.extend_from_slice(separator);
                }
                push_word(out, spec, annotation.class, *word);
            }
        }
    }
}

fn mark(spec: &Spec, class: u8) -> &str {
    match &spec.protocol {
        ProtocolConfig::Foreign(_) => &class_of(spec, class).text,
        ProtocolConfig::I2c(_) => match class {
            i2c::START => "Start",
            i2c::REPEAT_START => "Start repeat",
            i2c::STOP => "Stop",
            i2c::ACK => "ACK",
            _ => "NACK",
        },
        ProtocolConfig::Spi(_) | ProtocolConfig::Registers(_) => "",
        ProtocolConfig::Conversation(_) => conversation::mark(class),
        ProtocolConfig::Uart(_) => match class & !1 {
            uart::START => "Start bit",
            uart::STOP => "Stop bit",
            uart::PARITY_OK => "Parity bit",
            uart::PARITY_ERR => "Parity error",
            uart::BREAK => "Break condition",
            _ => "Frame error",
        },
    }
}

fn class_of(spec: &Spec, class: u8) -> &Class {
    &spec.decoder().classes[usize::from(class)]
}

fn i2c_prefix(class: u8) -> &'static str {
    match class {
        i2c::ADDRESS_READ => "Address read: ",
        i2c::ADDRESS_WRITE => "Address write: ",
        i2c::DATA_READ => "Data read: ",
        _ => "Data write: ",
    }
}

fn is_ascii(spec: &Spec) -> bool {
    matches!(&spec.protocol, ProtocolConfig::Uart(config) if config.format == WordFormat::Ascii)
}

/// `TX 48 69 0D |Hi.|`
fn push_run(out: &mut Vec<u8>, config: &conversation::Config, class: u8, words: &[u64]) {
    out.extend_from_slice(conversation::line(class).as_bytes());
    let width = (config.uart.data_bits as usize).div_ceil(4);
    let visible = |word: u64| {
        u8::try_from(word)
            .ok()
            .filter(|byte| VISIBLE.contains(byte))
    };
    if config.show == Show::Ascii {
        out.push(b' ');
        for &word in words {
            match visible(word) {
                Some(byte) => out.push(byte),
                None => {
                    out.push(b'[');
                    push_digits(out, word, 4, width);
                    out.push(b']');
                }
            }
        }
        return;
    }
    for &word in words {
        out.push(b' ');
        push_digits(out, word, 4, width);
    }
    if config.show == Show::Both {
        out.extend_from_slice(b" |");
        out.extend(words.iter().map(|&word| visible(word).unwrap_or(b'.')));
        out.push(b'|');
    }
}

fn push_word(out: &mut Vec<u8>, spec: &Spec, class: u8, word: u64) {
    let config = match &spec.protocol {
        ProtocolConfig::Uart(config) => config,
        ProtocolConfig::Foreign(_) => {
            return match usize::from(class_of(spec, class).hex_digits) {
                0 => push_decimal(out, word),
                digits => push_digits(out, word, 4, digits),
            };
        }
        _ => return push_digits(out, word, 4, 2),
    };
    let bits = config.data_bits as usize;
    match config.format {
        WordFormat::Hex => push_digits(out, word, 4, bits.div_ceil(4)),
        WordFormat::Oct => push_digits(out, word, 3, bits.div_ceil(3)),
        WordFormat::Bin => push_digits(out, word, 1, bits),
        WordFormat::Dec => push_decimal(out, word),
        WordFormat::Ascii => match u8::try_from(word) {
            Ok(byte) if VISIBLE.contains(&byte) => out.push(byte),
            _ => {
                out.push(b'[');
                push_digits(out, word, 4, bits.div_ceil(4));
                out.push(b']');
            }
        },
    }
}

/// A number with digits of `bits` bits each, at least `width` of them.
fn push_digits(out: &mut Vec<u8>, number: u64, bits: usize, width: usize) {
    let used = (64 - number.leading_zeros() as usize).div_ceil(bits);
    for digit in (0..used.max(width)).rev() {
        let [low, ..] = (number >> (digit * bits).min(63)).to_le_bytes();
        out.push(DIGITS[usize::from(low & ((1 << bits) - 1))]);
    }
}

/// A number in decimal.
pub(crate) fn push_decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = DIGITS[(rest % 10) as usize];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
