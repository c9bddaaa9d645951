//! Commands between `%`: formats, apertures, polarities, attributes, and those that were given up.

use super::Role;
use super::attributes::FileFunction;
use super::format::{Format, INCH, decimal};
use super::plot::Plotter;
use super::scan::Command;
use crate::open::{OpenError, shown};

/// Most commands that are left out and named.
const IGNORED_MAX: usize = 8;

impl<'a> Plotter<'a> {
    pub(super) fn extended(&mut self, command: Command<'a>) -> Result<(), OpenError> {
        let text = command.text.trim_ascii();
        let Some((code, rest)) = text.split_at_checked(2) else {
            return Ok(());
        };
        let place = command.offset;
        match code {
            b"FS" => {
                let format = Format::read(rest).map_err(|message| self.refuse(place, message))?;
                self.format = Some(format);
            }
            b"MO" => match rest {
                b"MM" => self.unit = Some(1.0),
                b"IN" => self.unit = Some(INCH),
                _ => return Err(self.refuse(place, "a unit is MM or IN")),
            },
            b"AD" => self.define(rest, place)?,
            b"AM" => {
                let pieces = self.scan.pieces()?;
                self.macros.insert(rest.trim_ascii(), pieces);
            }
            b"AB" => self.block(rest, place)?,
            b"SR" => self.step_and_repeat(rest, place)?,
            b"LP" => match rest {
                b"D" => self.is_clear = false,
                b"C" => self.is_clear = true,
                _ => return Err(self.refuse(place, "a polarity is D or C")),
            },
            b"LM" | b"LR" | b"LS" => {
                let placing = self.placing.with(code, rest);
                self.placing = placing.map_err(|message| self.refuse(place, message))?;
            }
            b"IP" => self.image.is_negative = rest == b"NEG",
            b"TF" | b"TA" | b"TO" | b"TD" => self.attribute(text),
            b"MI" | b"SF" | b"IR" | b"OF" | b"AS" => self.old(code, rest, place)?,
            // Names and comments.
            b"IN" | b"LN" | b"G0" => {}
            // What changes the image by rules of its own is not read.
            b"KO" | b"IF" => {
                let message = format!(
                    "`%{}…*%` is a command that Gerber has given up, and it changes the image; export without it",
                    String::from_utf8_lossy(code)
                );
                return Err(self.refuse(place, message));
            }
            // Words between `%` are what some programs write.
            _ if matches!(code[0], b'G' | b'D' | b'M' | b'X' | b'Y') => {
                self.word(command)?;
            }
            // Of RS-274X that was given up (`IC`, `IJ`, `PF`), or of the program that wrote the file.
            _ if code.iter().all(u8::is_ascii_uppercase) => self.ignore(code),
            _ => {
                let word = String::from_utf8_lossy(text);
                let message = format!("`{}` is no command of Gerber files", shown(&word));
                return Err(self.refuse(place, message));
            }
        }
        Ok(())
    }

    /// Leaves a command out that is about no copper.
    fn ignore(&mut self, code: &[u8]) {
        let code = String::from_utf8_lossy(code).into_owned();
        if self.ignored.len() < IGNORED_MAX {
            self.ignored.insert(code);
        }
    }

    /// Commands that were given up (8.1); they are read where they change nothing.
    fn old(&self, code: &[u8], rest: &[u8], place: usize) -> Result<(), OpenError> {
        let changes = match code {
            b"AS" => rest != b"AXBY",
            b"SF" => rest
                .split(|b| b.is_ascii_alphabetic())
                .any(|word| decimal(word).is_some_and(|value| value != 1.0)),
            _ => rest
                .split(|b| b.is_ascii_alphabetic())
                .any(|word| decimal(word).is_some_and(|value| value != 0.0)),
        };
        if changes {
            let code = String::from_utf8_lossy(code);
            let message = format!(
                "`%{code}…*%` moves, turns or scales the whole image, which Gerber has given up; export without it"
            );
            return Err(self.refuse(place, message));
        }
        Ok(())
    }

    pub(super) fn attribute(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let Some((code, rest)) = text.split_at_checked(2) else {
            return;
        };
        match code {
            "TF" => match rest.split_once(',') {
                Some((".FileFunction", value)) => {
                    self.image.function = Some(FileFunction::read(value));
                }
                Some((".FilePolarity", value)) => self.image.is_negative = value == "Negative",
                _ => {}
            },
            "TA" => {
                if let Some(value) = rest.strip_prefix(".AperFunction,") {
                    self.attributes.role = Role::read(value);
                }
            }
            "TO" => self.attributes.of_object(rest),
            "TD" => self.attributes.delete(rest),
            _ => {}
        }
    }
}
