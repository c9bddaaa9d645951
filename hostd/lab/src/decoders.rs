//! Protocol decoders by name: the built-in ones, and those that plugins bring where they were approved.

use std::fmt;
use std::sync::{Arc, OnceLock};

pub use decode::Wanted;
use decode::foreign::{EngineTrouble, Foreign};
use decode::registers::Parts;
use decode::{DECODERS, Decoder, Spec, SpecError, VIEWS};

/// Between the id of a plugin and that of its decoder.
const SEPARATOR: char = '/';

/// Where decoders of plugins are found.
pub trait Library: fmt::Debug + Send + Sync {
    /// The decoder `<plugin id>/<decoder id>` in an organisation.
    ///
    /// # Errors
    /// It cannot be used there.
    fn find(&self, org: &str, id: &str) -> Result<Arc<dyn Foreign>, Unavailable>;

    /// All that can be used in an organisation, by id.
    fn all(&self, org: &str) -> Vec<Arc<dyn Foreign>>;
}

/// Begins the name of a decoder of the engine `sigrok-cli`: `sigrok:i2c,ds1307`.
pub const SIGROK: &str = "sigrok:";

/// A program of others with many decoders. All of it blocks while the program is asked.
pub trait Engine: fmt::Debug + Send + Sync {
    /// All decoders, with their ids and names alone.
    ///
    /// # Errors
    /// It cannot be asked.
    fn list(&self, org: &str) -> Result<Vec<Arc<Decoder>>, EngineError>;

    /// All of a decoder, or of several on top of each other.
    ///
    /// # Errors
    /// It cannot be asked, or has no such decoder.
    fn describe(&self, org: &str, decoders: &str) -> Result<Arc<Decoder>, EngineError>;

    /// The same for a job that names these channels and options.
    ///
    /// # Errors
    /// It cannot be asked, or has no such decoder.
    fn find(
        &self,
        org: &str,
        decoders: &str,
        named: &[&str],
    ) -> Result<Arc<dyn Foreign>, EngineError>;
}

/// What an engine has trouble with, and a sentence for callers.
pub type EngineError = (EngineTrouble, String);

/// Why a decoder of a plugin cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// No plugin has it.
    Unknown,
    /// Nobody approved the plugin in the organisation; a sentence that says how.
    NotGranted(String),
    /// The plugin does not answer now; a sentence.
    Absent(String),
}

/// Why there is no specification. The sentences are for callers.
#[derive(Debug)]
pub enum NoSpec {
    /// The job cannot be.
    Invalid(SpecError),
    /// As of [`Unavailable`].
    NotGranted(String),
    /// As of [`Unavailable`].
    Absent(String),
    /// An engine of many decoders.
    Engine(EngineTrouble, String),
}

impl From<SpecError> for NoSpec {
    fn from(error: SpecError) -> Self {
        Self::Invalid(error)
    }
}

/// All decoders of a server.
#[derive(Debug, Default)]
pub struct Decoders {
    library: OnceLock<Box<dyn Library>>,
    parts: OnceLock<Parts>,
    engine: OnceLock<Box<dyn Engine>>,
}

impl Decoders {
    /// Take those of plugins from here, too. Only the first library counts.
    pub fn add(&self, library: Box<dyn Library>) {
        let _ = self.library.set(library);
    }

    /// Take those of this program, too. Only the first one counts.
    pub fn use_engine(&self, engine: Box<dyn Engine>) {
        let _ = self.engine.set(engine);
    }

    /// The program with many decoders.
    ///
    /// # Errors
    /// There is none.
    pub fn engine(&self) -> Result<&dyn Engine, EngineError> {
        let absent = "this server uses no sigrok-cli".to_owned();
        match self.engine.get() {
            Some(engine) => Ok(engine.as_ref()),
            None => Err((EngineTrouble::NotInstalled, absent)),
        }
    }

    /// A job for decoders of that program, whose names stand behind [`SIGROK`]. Blocks while it is asked.
    ///
    /// # Errors
    /// As of [`Decoders::spec`].
    pub fn engine_spec(
        &self,
        org: &str,
        wanted: Wanted<'_>,
        names: &[String],
    ) -> Result<Spec, NoSpec> {
        let of_engine = |(trouble, told)| NoSpec::Engine(trouble, told);
        let decoders = wanted.protocol.strip_prefix(SIGROK);
        let decoders = decoders.unwrap_or(wanted.protocol);
        let all = wanted.map.iter().chain(wanted.options);
        let named: Vec<&str> = all.map(|(name, _)| *name).collect();
        let engine = self.engine().map_err(of_engine)?;
        let foreign = engine.find(org, decoders, &named).map_err(of_engine)?;
        let (map, options) = sorted(foreign.decoder(), wanted.map, wanted.options);
        let parsed = Spec::parse_foreign(&foreign, &map, &options, wanted.annotations, names);
        Ok(parsed?)
    }

    /// Know these parts on I²C buses in place of the built-in ones. Only the first ones count.
    pub fn know(&self, parts: Parts) {
        let _ = self.parts.set(parts);
    }

    /// The description of every decoder that can be used in an organisation, the built-in ones first.
    #[must_use]
    pub fn all(&self, org: &str) -> Vec<Arc<Decoder>> {
        let foreign = self.library.get().map(|library| library.all(org));
        let foreign = foreign.unwrap_or_default();
        let own = DECODERS.iter().chain(VIEWS.iter()).cloned();
        own.chain(foreign.iter().map(|foreign| foreign.decoder().clone()))
            .collect()
    }

    /// A job in an organisation, for a capture with these logic channels.
    ///
    /// # Errors
    /// Something of it is unknown or cannot be; the decoder cannot be used there.
    pub fn spec(&self, org: &str, wanted: Wanted<'_>, names: &[String]) -> Result<Spec, NoSpec> {
        let Wanted {
            protocol,
            map,
            options,
            annotations,
        } = wanted;
        if !protocol.contains(SEPARATOR) {
            let parts = self.parts.get().unwrap_or_else(|| Parts::built_in());
            return Ok(Spec::parse_with(parts, wanted, names)?);
        }
        let found = self
            .library
            .get()
            .map(|library| library.find(org, protocol));
        match found.unwrap_or(Err(Unavailable::Unknown)) {
            Ok(foreign) => {
                let (map, options) = sorted(foreign.decoder(), map, options);
                let parsed = Spec::parse_foreign(&foreign, &map, &options, annotations, names);
                Ok(parsed?)
            }
            Err(Unavailable::Unknown) => {
                let all = self.all(org);
                let known = all.iter().map(|decoder| decoder.id.as_str());
                Err(SpecError::unknown_protocol(protocol, known).into())
            }
            Err(Unavailable::NotGranted(sentence)) => Err(NoSpec::NotGranted(sentence)),
            Err(Unavailable::Absent(sentence)) => Err(NoSpec::Absent(sentence)),
        }
    }
}

type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Roles and options as the decoder has them: those who send them in one list cannot know which is which.
fn sorted<'a>(
    decoder: &Decoder,
    map: &[(&'a str, &'a str)],
    options: &[(&'a str, &'a str)],
) -> (Pairs<'a>, Pairs<'a>) {
    let is_role = |name: &str| decoder.channels.iter().any(|role| role.id == name);
    let all = map.iter().chain(options).copied();
    all.partition(|(name, _)| is_role(name))
}

#[cfg(test)]
mod tests {
    use decode::registers::Part;

    use super::*;

    const NAMES: [&str; 1] = ["LA1"];

    fn wanted(protocol: &str) -> Wanted<'_> {
        Wanted {
            protocol,
            map: &[("rx", "LA1")],
            options: &[],
            annotations: None,
        }
    }

    #[test]
    fn parts_of_users_are_known_where_they_were_added() {
        let names = ["LA1", "LA2"].map(str::to_owned);
        let wanted = Wanted {
            protocol: "i2c-registers",
            map: &[("scl", "LA1"), ("sda", "LA2")],
            options: &[("parts", "mine@0x10,lm75@0x48")],
            annotations: None,
        };
        let decoders = Decoders::default();
        let unknown = decoders.spec("org", wanted, &names).unwrap_err();
        assert!(matches!(unknown, NoSpec::Invalid(_)), "{unknown:?}");
        let mut parts = Parts::built_in().clone();
        let text = "name = \"Mine\"\ndata_sheet = \"my own, page 1\"\naddresses = [0x10]";
        parts.add(Part::parse("mine", text).unwrap()).unwrap();
        let decoders = Decoders::default();
        decoders.know(parts);
        assert!(decoders.spec("org", wanted, &names).is_ok());
    }

    #[derive(Debug)]
    struct Refusing(Unavailable);

    impl Library for Refusing {
        fn find(&self, _: &str, _: &str) -> Result<Arc<dyn Foreign>, Unavailable> {
            Err(self.0.clone())
        }

        fn all(&self, _: &str) -> Vec<Arc<dyn Foreign>> {
            Vec::new()
        }
    }

    #[test]
    fn built_in_decoders_need_no_library_and_others_are_looked_up() {
        let names = NAMES.map(str::to_owned);
        let none = Decoders::default();
        assert!(none.spec("org", wanted("uart"), &names).is_ok());
        let unknown = none.spec("org", wanted("acme.x/a"), &names).unwrap_err();
        let NoSpec::Invalid(unknown) = unknown else {
            panic!("{unknown:?}");
        };
        assert_eq!(
            unknown.to_string(),
            "find protocol `acme.x/a`; known are i2c, spi, uart, i2c-registers, uart-conversation"
        );
        let refusing = Decoders::default();
        let sentence = || "approve it".to_owned();
        refusing.add(Box::new(Refusing(Unavailable::NotGranted(sentence()))));
        let refused = refusing.spec("org", wanted("acme.x/a"), &names);
        assert!(matches!(refused, Err(NoSpec::NotGranted(told)) if told == sentence()));
        assert!(refusing.spec("org", wanted("uart"), &names).is_ok());
        assert_eq!(refusing.all("org").len(), 5);
    }
}
