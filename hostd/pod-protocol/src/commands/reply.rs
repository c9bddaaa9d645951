//! What replies hold.

/// What `data` of a reply is.
#[derive(Debug, Clone, Copy)]
pub enum Data {
    /// Null or absent.
    Null,
    /// This string.
    Text(&'static str),
    /// An object with these fields.
    Object(&'static [Out]),
    /// A list of integers.
    Ints,
}

/// A field of a reply.
#[derive(Debug, Clone, Copy)]
pub struct Out {
    /// Its key.
    pub name: &'static str,
    /// Its JSON type.
    pub shape: Shape,
    /// May be null instead.
    pub nullable: bool,
    /// When it is there; empty: always.
    pub when: &'static str,
    /// Unit of a number; empty without.
    pub unit: &'static str,
    /// What it says.
    pub meaning: &'static str,
}

/// The JSON type of a reply field.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// An integer.
    Int,
    /// 0 or 1.
    Bit,
    /// Any number.
    Number,
    /// A boolean.
    Bool,
    /// A string.
    Text,
    /// A list of integers.
    Ints,
    /// A list of strings.
    Texts,
    /// A list of numbers.
    Numbers,
    /// A list of `[sample, word]` pairs.
    Edges,
    /// An object with these fields.
    Object(&'static [Out]),
    /// A list of objects with these fields.
    Objects(&'static [Out]),
    /// An object whose keys are names of something, and whose values are numbers, objects or null.
    Named,
}

impl Out {
    /// A field that is always there.
    pub const fn new(name: &'static str, shape: Shape, meaning: &'static str) -> Self {
        Self {
            name,
            shape,
            nullable: false,
            when: "",
            unit: "",
            meaning,
        }
    }

    /// An integer.
    pub const fn int(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Shape::Int, meaning)
    }

    /// 0 or 1.
    pub const fn bit(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Shape::Bit, meaning)
    }

    /// A number.
    pub const fn number(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Shape::Number, meaning)
    }

    /// A boolean.
    pub const fn bool(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Shape::Bool, meaning)
    }

    /// A string.
    pub const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Shape::Text, meaning)
    }

    /// Counts in this unit.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Is there only then.
    pub const fn when(mut self, when: &'static str) -> Self {
        self.when = when;
        self
    }

    /// May be null.
    pub(crate) const fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }
}
