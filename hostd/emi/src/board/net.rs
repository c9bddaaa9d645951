//! Nets and what they carry.

/// A net.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Net {
    /// Its name; empty for copper without a net.
    pub name: String,
    /// The classes that the project, or a board of KiCad 5, puts it in.
    pub classes: Vec<String>,
    /// The one of them that is for pairs.
    pub pair_class: Option<String>,
    /// What it carries.
    pub kind: NetKind,
    /// How fast it switches.
    pub speed: Speed,
    /// Where kind and speed come from, for people.
    pub because: String,
}

/// What a net carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetKind {
    /// The return of everything.
    Ground,
    /// A supply.
    Power,
    /// Anything else with a name.
    #[default]
    Signal,
    /// Copper without a net.
    None,
}

/// How fast a signal switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speed {
    /// A declared clock, a pair, or a class that says so.
    Fast,
    /// Nobody said.
    #[default]
    Unknown,
    /// Declared slow.
    Slow,
}
