//! The fields of a request.

/// A field of a request.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Unit of a number; empty without.
    pub unit: &'static str,
    /// Whether it must be present.
    pub need: Need,
    /// What a pod does with a number outside the range.
    pub outside: Outside,
    /// What it says.
    pub meaning: &'static str,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A JSON integer within these bounds, both included.
    Int(i64, i64),
    /// One of these JSON integers.
    OneOf(&'static [i64]),
    /// A JSON number within these bounds.
    Number(f64, f64),
    /// A JSON number above 0.
    Positive,
    /// `true` and `false`, or 1 and 0.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A string.
    Text,
    /// An LA channel, 1 to 14.
    La,
    /// An LA channel, a list of them, or `"all"`.
    Las,
    /// Bytes as unpadded base64url, at least and at most this many.
    Bytes(usize, usize),
    /// A JSON list of at most 8 byte values.
    ByteList,
    /// A [`Condition`](crate::capture::Condition): `{"la":1..14,"edge":"rising"|"falling"|"high"|"low"}` and others.
    Trigger,
    /// A number as a JSON integer or as a `0x` string, within these bounds.
    HexOrInt(i64, i64),
    /// Several types; the meaning says which.
    Mixed,
}

/// Whether a field must be present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always.
    Required,
    /// When this other field is present.
    With(&'static str),
    /// When this other field is one of these words.
    When(&'static str, &'static [&'static str]),
    /// No; if absent, it has this value (empty: it has no effect, or keeps its value).
    Optional(&'static str),
}

/// What a pod does with a number outside the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Refuses the request.
    Refused,
    /// Takes the nearest value of the range.
    Clamped,
    /// Clamps numbers above the range, refuses those below.
    ClampedAbove,
    /// Clamps numbers below the range, refuses those above.
    ClampedBelow,
}

impl Field {
    /// An optional field.
    pub const fn new(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self {
            name,
            kind,
            unit: "",
            need: Need::Optional(""),
            outside: Outside::Refused,
            meaning,
        }
    }

    /// An optional integer.
    pub const fn int(name: &'static str, min: i64, max: i64, meaning: &'static str) -> Self {
        Self::new(name, Kind::Int(min, max), meaning)
    }

    /// An optional LA channel.
    pub const fn la(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Kind::La, meaning)
    }

    /// An optional flag.
    pub const fn flag(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Kind::Flag, meaning)
    }

    /// An optional word.
    pub const fn word(
        name: &'static str,
        words: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self::new(name, Kind::Word(words), meaning)
    }

    /// An optional string.
    pub const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Kind::Text, meaning)
    }

    /// An optional rate in MHz.
    pub const fn rate(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Kind::Positive, meaning)
            .unit("MHz")
            .or("the highest")
    }

    /// Counts in this unit.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Must be there.
    pub const fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }

    /// Must be present with another field.
    pub const fn with(mut self, other: &'static str) -> Self {
        self.need = Need::With(other);
        self
    }

    /// Must be present when another field is one of these words.
    pub(crate) const fn required_when(
        mut self,
        other: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        self.need = Need::When(other, words);
        self
    }

    /// What its absence means.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.need = Need::Optional(default);
        self
    }

    /// What happens to numbers outside the range, instead of a refusal.
    pub const fn outside(mut self, outside: Outside) -> Self {
        self.outside = outside;
        self
    }
}
