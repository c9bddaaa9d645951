//! Decoders by name: the built-in ones, and those of plugins.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

/// Most characters of a plugin's id, and of its decoder's.
const PLUGIN_CHARS_MAX: usize = 64;
const DECODER_CHARS_MAX: usize = 32;

/// What built-in decoders find, as they say themselves.
const I2C_ANNOTATIONS: [&str; 13] = [
    "start",
    "repeat-start",
    "stop",
    "ack",
    "nack",
    "bit",
    "address-read",
    "address-write",
    "data-read",
    "data-write",
    "warnings",
    "bits",
    "addr-data",
];
const SPI_ANNOTATIONS: [&str; 8] = [
    "miso-data",
    "mosi-data",
    "miso-bits",
    "mosi-bits",
    "warnings",
    "miso-transfer",
    "mosi-transfer",
    "other",
];
const UART_ANNOTATIONS: [&str; 20] = [
    "rx-data",
    "tx-data",
    "rx-start",
    "tx-start",
    "rx-parity-ok",
    "tx-parity-ok",
    "rx-parity-err",
    "tx-parity-err",
    "rx-stop",
    "tx-stop",
    "rx-warnings",
    "tx-warnings",
    "rx-data-bits",
    "tx-data-bits",
    "rx-break",
    "tx-break",
    "rx-packet",
    "tx-packet",
    "rx-packets",
    "tx-packets",
];

/// A protocol decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoder {
    /// I²C.
    I2c,
    /// SPI.
    Spi,
    /// Asynchronous serial lines.
    Uart,
    /// One of a plugin: `<plugin id>/<decoder id>`.
    Plugin(String),
}

impl Decoder {
    /// What it is called in pipelines and in the API.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::I2c => "i2c",
            Self::Spi => "spi",
            Self::Uart => "uart",
            Self::Plugin(id) => id,
        }
    }

    /// The roles that its channels have; those of a plugin's decoder only the plugin knows.
    #[must_use]
    pub fn roles(&self) -> &'static [&'static str] {
        match self {
            Self::I2c => &["scl", "sda"],
            Self::Spi => &["clk", "miso", "mosi", "cs"],
            Self::Uart => &["rx", "tx"],
            Self::Plugin(_) => &[],
        }
    }

    /// What it finds: classes and rows of annotations; those of a plugin's decoder only the plugin knows.
    #[must_use]
    pub fn annotations(&self) -> &'static [&'static str] {
        match self {
            Self::I2c => &I2C_ANNOTATIONS,
            Self::Spi => &SPI_ANNOTATIONS,
            Self::Uart => &UART_ANNOTATIONS,
            Self::Plugin(_) => &[],
        }
    }

    /// Roles without which it finds nothing: one of each group.
    pub(crate) fn needs(&self) -> &'static [&'static [&'static str]] {
        match self {
            Self::I2c => &[&["scl"], &["sda"]],
            Self::Spi => &[&["clk"], &["miso", "mosi"]],
            Self::Uart => &[&["rx", "tx"]],
            Self::Plugin(_) => &[],
        }
    }

    /// The channel of each role by its name: as `given`, or else the channel that is called as the role is, if `has` says
    /// that there is one and no other role was given it.
    pub fn channels<'n>(
        &self,
        given: impl Iterator<Item = (&'n str, &'n str)>,
        has: impl Fn(&str) -> bool,
    ) -> BTreeMap<String, String> {
        let given: BTreeMap<String, String> = given
            .map(|(role, channel)| (role.to_owned(), channel.to_owned()))
            .collect();
        let is_taken = |name: &str| given.values().any(|taken| taken == name);
        let is_free = |role: &&&str| !given.contains_key(**role) && has(role) && !is_taken(role);
        let own = self.roles().iter().filter(is_free);
        let own = own.map(|role| ((*role).to_owned(), (*role).to_owned()));
        own.chain(given.clone()).collect()
    }

    fn parse(text: String) -> Option<Self> {
        Some(match text.as_str() {
            "i2c" => Self::I2c,
            "spi" => Self::Spi,
            "uart" => Self::Uart,
            _ if is_of_plugin(&text) => Self::Plugin(text),
            _ => return None,
        })
    }
}

fn is_of_plugin(text: &str) -> bool {
    let Some((plugin, decoder)) = text.split_once('/') else {
        return false;
    };
    let is_made_of = |text: &str, more: &[u8], most: usize| {
        let is_letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || more.contains(&b);
        (1..=most).contains(&text.len()) && text.bytes().all(is_letter)
    };
    is_made_of(plugin, b".-", PLUGIN_CHARS_MAX) && is_made_of(decoder, b"_-", DECODER_CHARS_MAX)
}

impl Serialize for Decoder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Decoder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let shown: String = text.chars().take(PLUGIN_CHARS_MAX).collect();
        Self::parse(text).ok_or_else(|| {
            D::Error::custom(format!(
                "there is no decoder `{shown}`; use `i2c`, `spi`, `uart`, or `<plugin id>/<decoder id>`"
            ))
        })
    }
}

impl JsonSchema for Decoder {
    fn schema_name() -> Cow<'static, str> {
        "Decoder".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pattern = format!(
            "^(i2c|spi|uart|[a-z0-9.-]{{1,{PLUGIN_CHARS_MAX}}}/[a-z0-9_-]{{1,{DECODER_CHARS_MAX}}})$"
        );
        json_schema!({
            "type": "string",
            "description": "`i2c`, `spi`, `uart`, or a decoder of a plugin as `<plugin id>/<decoder id>`.",
            "pattern": pattern,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Decoder;

    #[test]
    fn a_channel_that_was_given_to_a_role_is_not_that_of_its_name_besides() {
        let told = |decoder: Decoder, given: &[(&'static str, &'static str)]| {
            let has = |name: &str| ["scl", "sda", "tx"].contains(&name);
            let channels = decoder.channels(given.iter().copied(), has).into_iter();
            let told: Vec<String> = channels
                .map(|(role, name)| format!("{role}={name}"))
                .collect();
            told.join(" ")
        };
        assert_eq!(told(Decoder::Uart, &[("rx", "tx")]), "rx=tx");
        assert_eq!(told(Decoder::Uart, &[]), "tx=tx");
        assert_eq!(told(Decoder::I2c, &[("sda", "tx")]), "scl=scl sda=tx");
        assert_eq!(told(Decoder::I2c, &[("scl", "sda")]), "scl=sda");
        assert_eq!(told(Decoder::Plugin("a/b".to_owned()), &[]), "");
    }

    #[test]
    fn a_name_is_of_a_built_in_decoder_or_of_a_plugins() {
        let parse = |text: &str| Decoder::parse(text.to_owned());
        assert_eq!(parse("spi"), Some(Decoder::Spi));
        let of_plugin = "hostd.modbus-rtu/modbus-rtu";
        assert_eq!(
            parse(of_plugin),
            Some(Decoder::Plugin(of_plugin.to_owned()))
        );
        for text in ["", "can", "/", "a/", "/b", "a/b/c", "A/b", "a/b.c", "a_b/c"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
