//! The description of a decoder: its channels, options, annotation classes and rows.
//!
//! The names of built-in decoders are those of libsigrokdecode, so that a command line written for `sigrok-cli` means
//! the same here. They describe themselves in a function `decoder` each; `DECODERS` in `lib.rs` lists them. Decoders from
//! elsewhere ([`Foreign`](crate::foreign::Foreign)) bring a description of the same form.

/// One protocol decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoder {
    /// Short name, as on the command line.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Roles that a channel of the capture can play.
    pub channels: Vec<Channel>,
    /// The options, with their defaults.
    pub options: Vec<OptionInfo>,
    /// Annotation classes, at most 64; `Annotation::class` is an index into this list.
    pub classes: Vec<Class>,
    /// Groups of classes that are shown on one line.
    pub rows: Vec<Row>,
    /// Byte streams that can be derived from the annotations.
    pub byte_streams: Vec<ByteStreamInfo>,
}

/// A role such as `scl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Short name.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Whether decoding is impossible without it.
    pub required: bool,
}

/// An option and the values it accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionInfo {
    /// Short name.
    pub id: String,
    /// What it sets.
    pub text: String,
    /// The value if none is given.
    pub default: String,
    /// Which texts are accepted.
    pub accepts: Accepts,
}

/// The texts an option accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Accepts {
    /// One of these.
    OneOf(Vec<String>),
    /// A whole number in this inclusive range.
    Integer(i64, i64),
    /// A number in this inclusive range.
    Number(f64, f64),
    /// Whatever the decoder itself does not refuse when it begins.
    Any,
}

/// An annotation class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Short name.
    pub id: String,
    /// Display name.
    pub text: String,
    /// Hexadecimal digits of its numbers; 0 = decimal. Built-in decoders know by themselves how to write numbers.
    pub hex_digits: u8,
}

/// Annotation classes shown together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Short name. If a class has the same name, the name means the class, as in sigrok-cli.
    pub id: String,
    /// Display name.
    pub text: String,
    /// Short names of its classes.
    pub classes: Vec<String>,
}

/// A stream of bytes derived from number annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteStreamInfo {
    /// Short name.
    pub id: String,
    /// Short names of the classes that supply its numbers.
    pub classes: Vec<String>,
}

impl Decoder {
    /// Index of the class `id`.
    pub fn class(&self, id: &str) -> Option<u8> {
        let at = self.classes.iter().position(|class| class.id == id)?;
        u8::try_from(at).ok()
    }
}

impl Channel {
    pub(crate) fn required(id: &str, name: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            required: true,
        }
    }

    pub(crate) fn optional(id: &str, name: &str) -> Self {
        Self {
            required: false,
            ..Self::required(id, name)
        }
    }
}

impl OptionInfo {
    pub(crate) fn new(id: &str, text: &str, default: &str, accepts: Accepts) -> Self {
        Self {
            id: id.to_owned(),
            text: text.to_owned(),
            default: default.to_owned(),
            accepts,
        }
    }
}

impl Accepts {
    pub(crate) fn one_of(values: &[&str]) -> Self {
        Self::OneOf(owned(values))
    }
}

impl Class {
    pub(crate) fn new(id: &str, text: &str) -> Self {
        Self {
            id: id.to_owned(),
            text: text.to_owned(),
            hex_digits: 0,
        }
    }
}

impl Row {
    pub(crate) fn new(id: &str, text: &str, classes: &[&str]) -> Self {
        Self {
            id: id.to_owned(),
            text: text.to_owned(),
            classes: owned(classes),
        }
    }
}

impl ByteStreamInfo {
    pub(crate) fn new(id: &str, classes: &[&str]) -> Self {
        Self {
            id: id.to_owned(),
            classes: owned(classes),
        }
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
