//! The description of a decoder: its channels, options, annotation classes and rows.
//!
//! All names are those of libsigrokdecode, so that a command line written for `sigrok-cli` means
//! the same here. Decoders describe themselves in constants; `DECODERS` in `lib.rs` lists them.

/// One protocol decoder.
#[derive(Debug)]
pub struct Decoder {
    /// Short name, as on the command line.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Roles that a channel of the capture can play.
    pub channels: &'static [Channel],
    /// The options, with their defaults.
    pub options: &'static [OptionInfo],
    /// Annotation classes; `Annotation::class` is an index into this list.
    pub classes: &'static [Class],
    /// Groups of classes that are shown on one line.
    pub rows: &'static [Row],
    /// Byte streams that can be derived from the annotations.
    pub byte_streams: &'static [ByteStreamInfo],
}

/// A role such as `scl`.
#[derive(Debug)]
pub struct Channel {
    /// Short name.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Whether decoding is impossible without it.
    pub required: bool,
}

/// An option and the values it accepts.
#[derive(Debug)]
pub struct OptionInfo {
    /// Short name.
    pub id: &'static str,
    /// What it sets.
    pub text: &'static str,
    /// The value if none is given.
    pub default: &'static str,
    /// Which texts are accepted.
    pub accepts: Accepts,
}

/// The texts an option accepts.
#[derive(Debug)]
pub enum Accepts {
    /// One of these.
    OneOf(&'static [&'static str]),
    /// A whole number in this inclusive range.
    Integer(i64, i64),
    /// A number in this inclusive range.
    Number(f64, f64),
}

/// An annotation class.
#[derive(Debug)]
pub struct Class {
    /// Short name.
    pub id: &'static str,
    /// Display name.
    pub text: &'static str,
}

/// Annotation classes shown together.
#[derive(Debug)]
pub struct Row {
    /// Short name. If a class has the same name, the name means the class, as in sigrok-cli.
    pub id: &'static str,
    /// Display name.
    pub text: &'static str,
    /// Short names of its classes.
    pub classes: &'static [&'static str],
}

/// A stream of bytes derived from number annotations.
#[derive(Debug)]
pub struct ByteStreamInfo {
    /// Short name.
    pub id: &'static str,
    /// Short names of the classes that supply its numbers.
    pub classes: &'static [&'static str],
}

impl Decoder {
    /// Index of the class `id`.
    pub fn class(&self, id: &str) -> Option<u8> {
        let at = self.classes.iter().position(|class| class.id == id)?;
        u8::try_from(at).ok()
    }
}
