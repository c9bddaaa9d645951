//! What an API key may be used for.

/// A right that an endpoint asks for and a key carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Submit jobs.
    JobsSubmit,
    /// Devices, captures, waveforms, and the exchange of a key for a session token.
    BenchControl,
    /// Board analysis.
    EmiAnalyze,
    /// Administration: keys and users of the organisation, device configuration, pod firmware.
    BenchAdmin,
}

/// Every scope, in the order in which they are shown.
pub(crate) const ALL: [Scope; 4] = [
    Scope::JobsSubmit,
    Scope::BenchControl,
    Scope::EmiAnalyze,
    Scope::BenchAdmin,
];

/// What published clients call [`Scope::BenchControl`].
const BENCH_CONTROL_ALIAS: &str = "benchpod:control";

impl Scope {
    /// Its name: `bench:control`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobsSubmit => "jobs:submit",
            Self::BenchControl => "bench:control",
            Self::EmiAnalyze => "emi:analyze",
            Self::BenchAdmin => "bench:admin",
        }
    }

    /// The scope with this name or alias.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if name == BENCH_CONTROL_ALIAS {
            return Some(Self::BenchControl);
        }
        ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Every scope.
pub fn all() -> impl Iterator<Item = Scope> {
    ALL.into_iter()
}

/// Names of all scopes, for messages.
#[must_use]
pub fn names() -> String {
    ALL.map(Scope::as_str).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_alias_are_understood() {
        for scope in ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(scope));
        }
        assert_eq!(Scope::parse("benchpod:control"), Some(Scope::BenchControl));
        for bad in ["", "bench", "bench:", "BENCH:CONTROL", " bench:control"] {
            assert_eq!(Scope::parse(bad), None, "{bad}");
        }
    }
}
