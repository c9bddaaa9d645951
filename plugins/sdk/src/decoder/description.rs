//! What a decoder says of itself, as constants.

use super::wit;

/// A decoder's name, roles, options and classes.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// 1 to 32 of `a-z 0-9 _ -`, unique in the plugin.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// Roles of the capture's channels, 1 to 8.
    pub channels: &'static [Channel],
    /// What can be chosen.
    pub options: &'static [Options],
    /// Kinds of annotations, 1 to 64.
    pub classes: &'static [Class],
    /// Classes that are shown on one line.
    pub rows: &'static [Row],
    /// How it takes samples.
    pub input: Input,
}

/// The shape in which a decoder takes samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// [`Decoder::change`](super::Decoder::change) for each change.
    Changes,
    /// [`Decoder::samples`](super::Decoder::samples) for all.
    Samples,
}

/// A role.
#[derive(Debug, Clone, Copy)]
pub struct Channel {
    id: &'static str,
    name: &'static str,
    required: bool,
}

/// An option.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    id: &'static str,
    text: &'static str,
    default: &'static str,
    values: &'static [&'static str],
}

/// A kind of annotation.
#[derive(Debug, Clone, Copy)]
pub struct Class {
    id: &'static str,
    text: &'static str,
    hex_digits: u8,
}

/// Classes that are shown together.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    id: &'static str,
    text: &'static str,
    classes: &'static [&'static str],
}

impl Description {
    /// With nothing but a name; takes changes.
    #[must_use]
    pub const fn of(id: &'static str, name: &'static str) -> Self {
        Self {
            id,
            name,
            channels: &[],
            options: &[],
            classes: &[],
            rows: &[],
            input: Input::Changes,
        }
    }

    pub(super) fn declared(&self) -> wit::DecoderInfo {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let channels = self.channels.iter().map(|channel| wit::Channel {
            id: channel.id.to_owned(),
            name: channel.name.to_owned(),
            required: channel.required,
        });
        let options = self.options.iter().map(|option| wit::OptionInfo {
            id: option.id.to_owned(),
            text: option.text.to_owned(),
            default: option.default.to_owned(),
            values: owned(option.values),
        });
        let classes = self.classes.iter().map(|class| wit::Class {
            id: class.id.to_owned(),
            text: class.text.to_owned(),
            hex_digits: class.hex_digits,
        });
        let rows = self.rows.iter().map(|row| wit::Row {
            id: row.id.to_owned(),
            text: row.text.to_owned(),
            classes: owned(row.classes),
        });
        wit::DecoderInfo {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            channels: channels.collect(),
            options: options.collect(),
            classes: classes.collect(),
            rows: rows.collect(),
            input: match self.input {
                Input::Changes => wit::Input::Changes,
                Input::Samples => wit::Input::Samples,
            },
            extra: Vec::new(),
        }
    }

    /// Which channels play one of these roles.
    pub(super) fn connected(&self, roles: &[&str]) -> Vec<bool> {
        let channels = self.channels.iter();
        channels
            .map(|channel| roles.contains(&channel.id))
            .collect()
    }

    /// The options with their defaults, and what is chosen in their place.
    pub(super) fn chosen(&self, chosen: &[(&str, &str)]) -> Vec<(String, String)> {
        let options = self.options.iter().map(|option| {
            let given = chosen.iter().find(|(id, _)| *id == option.id);
            let value = given.map_or(option.default, |given| given.1);
            (option.id.to_owned(), value.to_owned())
        });
        options.collect()
    }
}

impl Channel {
    /// Without it, nothing can be decoded.
    #[must_use]
    pub const fn required(id: &'static str, name: &'static str) -> Self {
        let required = true;
        Self { id, name, required }
    }

    /// May be left out.
    #[must_use]
    pub const fn optional(id: &'static str, name: &'static str) -> Self {
        let required = false;
        Self { id, name, required }
    }
}

impl Options {
    /// Any text, which the decoder checks when it begins.
    #[must_use]
    pub const fn any(id: &'static str, text: &'static str, default: &'static str) -> Self {
        Self::one_of(id, text, default, &[])
    }

    /// One of `values`, of which the default is one.
    #[must_use]
    pub const fn one_of(
        id: &'static str,
        text: &'static str,
        default: &'static str,
        values: &'static [&'static str],
    ) -> Self {
        Self {
            id,
            text,
            default,
            values,
        }
    }
}

impl Class {
    /// Its numbers are shown as two hexadecimal digits or more.
    #[must_use]
    pub const fn new(id: &'static str, text: &'static str) -> Self {
        let hex_digits = 2;
        Self {
            id,
            text,
            hex_digits,
        }
    }

    /// Its numbers have at least so many hexadecimal digits, 1 to 16.
    #[must_use]
    pub const fn hex(mut self, digits: u8) -> Self {
        self.hex_digits = digits;
        self
    }

    /// Its numbers are decimal.
    #[must_use]
    pub const fn decimal(self) -> Self {
        self.hex(0)
    }
}

impl Row {
    /// A row of these classes, by id.
    #[must_use]
    pub const fn new(
        id: &'static str,
        text: &'static str,
        classes: &'static [&'static str],
    ) -> Self {
        Self { id, text, classes }
    }
}
