//! What to decode: a protocol, its channels, its options, and which annotations to keep.

mod error;
mod options;

pub use error::SpecError;

use crate::annotation::{Annotation, ClassSet};
use crate::byte_stream::ByteStream;
use crate::channel::find_channel;
use crate::decoder::Decoder;
use crate::foreign::{self, Foreign};
use crate::registers::{self, Parts};
use crate::text::push;
use crate::{DECODERS, VIEWS, conversation, i2c, spi, uart};
pub(crate) use error::nearest;
use options::Options;
use std::sync::Arc;

/// A checked decoding job, ready to run on any capture with the channels it was made for.
#[derive(Clone, Debug)]
pub struct Spec {
    decoder: Arc<Decoder>,
    pub(crate) protocol: ProtocolConfig,
    shown: ClassSet,
}

/// A decoding job in words, as [`Spec::parse`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// `uart`, or `<plugin id>/<decoder id>`.
    pub protocol: &'a str,
    /// Roles and channels.
    pub map: &'a [(&'a str, &'a str)],
    /// Names and values.
    pub options: &'a [(&'a str, &'a str)],
    /// Classes or rows to keep.
    pub annotations: Option<&'a str>,
}

#[derive(Clone, Debug)]
pub(crate) enum ProtocolConfig {
    I2c(i2c::Config),
    Spi(spi::Config),
    Uart(uart::Config),
    Registers(registers::Config),
    Conversation(conversation::Config),
    Foreign(foreign::Config),
}

impl Spec {
    /// Checks a job against the decoder's description.
    ///
    /// `map` assigns capture channels, in the notation of [`crate::find_channel`], to the decoder's
    /// roles, each to one role only. `annotations` names classes or rows, separated by `,` or `:`,
    /// with or without the decoder's name before them (`i2c=addr-data,warnings`); `None` keeps all.
    ///
    /// # Errors
    /// Anything is unknown, repeated, missing or out of range; the error says what would be valid.
    pub fn parse(
        protocol: &str,
        map: &[(&str, &str)],
        options: &[(&str, &str)],
        annotations: Option<&str>,
        channel_names: &[String],
    ) -> Result<Self, SpecError> {
        let wanted = Wanted {
            protocol,
            map,
            options,
            annotations,
        };
        Self::parse_with(Parts::built_in(), wanted, channel_names)
    }

    /// The same, with other descriptions of parts than the built-in ones.
    ///
    /// # Errors
    /// As of [`Spec::parse`].
    pub fn parse_with(
        parts: &Parts,
        wanted: Wanted<'_>,
        channel_names: &[String],
    ) -> Result<Self, SpecError> {
        let Wanted {
            protocol,
            map,
            options,
            annotations,
        } = wanted;
        let decoder = find(protocol)?;
        let roles = Roles::parse(&decoder, map, channel_names)?;
        let options = Options::parse(&decoder, options)?;
        let shown = shown(&decoder, annotations)?;
        let protocol = match decoder.id.as_str() {
            "i2c" => {
                let unshifted = options.text("address_format") == "unshifted";
                ProtocolConfig::I2c(i2c_config(&roles, unshifted)?)
            }
            "spi" => ProtocolConfig::Spi(spi_config(&roles, &options)?),
            registers::ID => ProtocolConfig::Registers(registers::Config {
                bus: i2c_config(&roles, false)?,
                parts: parts.named(options.text("parts"))?,
            }),
            conversation::ID => {
                ProtocolConfig::Conversation(conversation_config(&roles, &options)?)
            }
            _ => ProtocolConfig::Uart(uart_config(&roles, &options)?),
        };
        Ok(Self {
            decoder,
            protocol,
            shown,
        })
    }

    /// The same for a decoder from elsewhere. What its options may be beyond its description it says when it begins.
    ///
    /// # Errors
    /// As of [`Spec::parse`].
    pub fn parse_foreign(
        foreign: &Arc<dyn Foreign>,
        map: &[(&str, &str)],
        options: &[(&str, &str)],
        annotations: Option<&str>,
        channel_names: &[String],
    ) -> Result<Self, SpecError> {
        let decoder = foreign.decoder().clone();
        let roles = Roles::parse(&decoder, map, channel_names)?;
        let options = Options::parse(&decoder, options)?;
        let shown = shown(&decoder, annotations)?;
        if roles.channels.iter().all(Option::is_none) {
            let roles = decoder.channels.iter().map(|role| role.id.as_str());
            return Err(SpecError::MissingAll {
                decoder: decoder.id.clone(),
                valid: roles.collect::<Vec<_>>().join(", "),
            });
        }
        let protocol = ProtocolConfig::Foreign(foreign::Config {
            foreign: foreign.clone(),
            channels: roles.channels,
            options: options.pairs(),
        });
        Ok(Self {
            decoder,
            protocol,
            shown,
        })
    }

    /// The decoder's description.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Whether its decoder is from elsewhere.
    pub fn is_foreign(&self) -> bool {
        matches!(self.protocol, ProtocolConfig::Foreign(_))
    }

    /// The words of one of the job's annotations, as every text format has them.
    pub fn words(&self, annotation: &Annotation) -> String {
        let mut text = Vec::new();
        push(&mut text, self, annotation);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The same job, keeping only the annotations that `stream` consists of.
    #[must_use]
    pub fn for_byte_stream(mut self, stream: &ByteStream) -> Self {
        self.shown = stream.classes();
        self
    }

    /// The same job without what only repeats its words bit by bit: single bits, and of a UART the bits around its words
    /// that are as they should be. Of a decoder from elsewhere everything stays.
    #[must_use]
    pub fn without_bits(mut self) -> Self {
        let bits: &[u8] = match self.protocol {
            ProtocolConfig::I2c(_) => &[i2c::BIT],
            ProtocolConfig::Spi(_) => &[spi::MISO_BITS, spi::MOSI_BITS],
            ProtocolConfig::Uart(_) => &uart::BITS,
            ProtocolConfig::Registers(_)
            | ProtocolConfig::Conversation(_)
            | ProtocolConfig::Foreign(_) => &[],
        };
        self.shown = bits
            .iter()
            .fold(self.shown, |shown, class| shown.without(*class));
        self
    }

    /// Whether annotations of a class, an index into the decoder's list, are kept.
    #[must_use]
    pub fn shows(&self, class: u8) -> bool {
        self.shown.has(class)
    }

    pub(crate) fn shown(&self) -> ClassSet {
        self.shown
    }

    /// Highest channel number that the job looks at.
    pub fn last_channel(&self) -> usize {
        let channels = match &self.protocol {
            ProtocolConfig::I2c(bus) => bus.channels(),
            ProtocolConfig::Registers(config) => config.bus.channels(),
            ProtocolConfig::Spi(config) => {
                vec![Some(config.clk), config.miso, config.mosi, config.cs]
            }
            ProtocolConfig::Uart(uart) => uart.channels(),
            ProtocolConfig::Conversation(config) => config.uart.channels(),
            ProtocolConfig::Foreign(config) => config.channels.clone(),
        };
        channels.into_iter().flatten().max().unwrap_or(0)
    }
}

fn shown(decoder: &Decoder, annotations: Option<&str>) -> Result<ClassSet, SpecError> {
    annotations.map_or(Ok(ClassSet::ALL), |text| parse_classes(decoder, text))
}

pub(crate) fn find(protocol: &str) -> Result<Arc<Decoder>, SpecError> {
    let mut all = DECODERS.iter().chain(VIEWS.iter());
    let found = all.clone().find(|decoder| decoder.id == protocol);
    found.cloned().ok_or_else(|| {
        SpecError::unknown_protocol(protocol, all.by_ref().map(|known| known.id.as_str()))
    })
}

/// Capture channels by the decoder's roles.
struct Roles {
    decoder: Arc<Decoder>,
    channels: Vec<Option<usize>>,
}

impl Roles {
    fn parse(
        decoder: &Arc<Decoder>,
        map: &[(&str, &str)],
        names: &[String],
    ) -> Result<Self, SpecError> {
        let mut channels = vec![None; decoder.channels.len()];
        for &(role, channel) in map {
            let Some(index) = decoder.channels.iter().position(|known| known.id == role) else {
                let known = decoder.channels.iter();
                let valid: Vec<&str> = known.map(|known| known.id.as_str()).collect();
                return Err(SpecError::UnknownRole {
                    decoder: decoder.id.clone(),
                    name: role.to_owned(),
                    hint: nearest(role, &valid),
                    valid: valid.join(", "),
                });
            };
            let found = find_channel(channel, names).map_err(|error| error.for_role(role))?;
            if channels[index].replace(found).is_some() {
                return Err(SpecError::RepeatedRole {
                    name: role.to_owned(),
                });
            }
        }
        check_distinct(decoder, &channels, names)?;
        for (role, channel) in decoder.channels.iter().zip(&channels) {
            if role.required && channel.is_none() {
                return Err(SpecError::MissingRole {
                    decoder: decoder.id.clone(),
                    name: role.id.clone(),
                });
            }
        }
        Ok(Self {
            decoder: decoder.clone(),
            channels,
        })
    }

    fn optional(&self, role: &str) -> Option<usize> {
        let index = self
            .decoder
            .channels
            .iter()
            .position(|known| known.id == role)?;
        self.channels[index]
    }

    fn required(&self, role: &str) -> Result<usize, SpecError> {
        let missing = SpecError::MissingRole {
            decoder: self.decoder.id.clone(),
            name: role.to_owned(),
        };
        self.optional(role).ok_or(missing)
    }
}

/// Refuses a channel in two roles: decoding it would give nothing or noise.
fn check_distinct(
    decoder: &Decoder,
    channels: &[Option<usize>],
    names: &[String],
) -> Result<(), SpecError> {
    let roles: Vec<_> = decoder.channels.iter().zip(channels).collect();
    for (at, (role, channel)) in roles.iter().enumerate() {
        let earlier = roles[..at].iter().find(|(_, taken)| taken == channel);
        if let (Some(channel), Some((one, _))) = (channel, earlier) {
            return Err(SpecError::SameChannel {
                one: one.id.clone(),
                other: role.id.clone(),
                channel: names[*channel].clone(),
            });
        }
    }
    Ok(())
}

fn parse_classes(decoder: &Decoder, text: &str) -> Result<ClassSet, SpecError> {
    let list = match text.split_once('=') {
        Some((id, list)) if id.trim() == decoder.id => list,
        Some((id, _)) => {
            return Err(SpecError::OtherDecoder {
                decoder: decoder.id.clone(),
                name: id.trim().to_owned(),
            });
        }
        None => text,
    };
    let mut shown = ClassSet::EMPTY;
    for name in list.split([',', ':']).map(str::trim) {
        if name == decoder.id && list == text {
            return Ok(ClassSet::ALL);
        }
        if let Some(class) = decoder.class(name) {
            shown = shown.with(class);
        } else if let Some(row) = decoder.rows.iter().find(|row| row.id == name) {
            let classes = row.classes.iter().filter_map(|id| decoder.class(id));
            shown = classes.fold(shown, ClassSet::with);
        } else {
            return Err(unknown_class(decoder, name));
        }
    }
    Ok(shown)
}

fn unknown_class(decoder: &Decoder, name: &str) -> SpecError {
    let classes = decoder.classes.iter().map(|class| class.id.as_str());
    let rows = decoder
        .rows
        .iter()
        .map(|row| row.id.as_str())
        .filter(|id| decoder.class(id).is_none());
    let valid: Vec<&str> = classes.chain(rows).collect();
    SpecError::UnknownClass {
        decoder: decoder.id.clone(),
        name: name.to_owned(),
        hint: nearest(name, &valid),
        valid: valid.join(", "),
    }
}

fn i2c_config(roles: &Roles, unshifted: bool) -> Result<i2c::Config, SpecError> {
    Ok(i2c::Config {
        scl: roles.required("scl")?,
        sda: roles.required("sda")?,
        unshifted,
    })
}

fn spi_config(roles: &Roles, options: &Options) -> Result<spi::Config, SpecError> {
    let (miso, mosi) = (roles.optional("miso"), roles.optional("mosi"));
    if miso.is_none() && mosi.is_none() {
        return Err(SpecError::MissingEither {
            decoder: "spi".to_owned(),
            one: "miso".to_owned(),
            other: "mosi".to_owned(),
        });
    }
    Ok(spi::Config {
        clk: roles.required("clk")?,
        miso,
        mosi,
        cs: roles.optional("cs"),
        cs_active_high: options.text("cs_polarity") == "active-high",
        sample_rising: options.text("cpol") == options.text("cpha"),
        lsb_first: options.text("bitorder") == "lsb-first",
        word_bits: u32::try_from(options.integer("wordsize")).expect("1..=64 was checked"),
    })
}

fn uart_config(roles: &Roles, options: &Options) -> Result<uart::Config, SpecError> {
    let mut config = uart_lines(roles, options)?;
    config.format = match options.text("format") {
        "ascii" => uart::WordFormat::Ascii,
        "dec" => uart::WordFormat::Dec,
        "oct" => uart::WordFormat::Oct,
        "bin" => uart::WordFormat::Bin,
        _ => uart::WordFormat::Hex,
    };
    let packets = |line: &mut uart::LineConfig, delim, len| {
        line.packet_delim = u64::try_from(options.integer(delim)).ok();
        let words = usize::try_from(options.integer(len)).ok();
        line.packet_len = words.filter(|&words| words > 0);
    };
    packets(&mut config.rx, "rx_packet_delim", "rx_packet_len");
    packets(&mut config.tx, "tx_packet_delim", "tx_packet_len");
    Ok(config)
}

fn conversation_config(
    roles: &Roles,
    options: &Options,
) -> Result<conversation::Config, SpecError> {
    Ok(conversation::Config {
        uart: uart_lines(roles, options)?,
        gap_bits: options.number("gap_bits"),
        length: usize::try_from(options.integer("length")).expect("at least 1 was checked"),
        delimiter: u64::try_from(options.integer("delimiter")).ok(),
        show: match options.text("show") {
            "hex" => conversation::Show::Hex,
            "ascii" => conversation::Show::Ascii,
            _ => conversation::Show::Both,
        },
    })
}

/// Both lines, without what is said of packets.
fn uart_lines(roles: &Roles, options: &Options) -> Result<uart::Config, SpecError> {
    let (rx, tx) = (roles.optional("rx"), roles.optional("tx"));
    if rx.is_none() && tx.is_none() {
        return Err(SpecError::MissingEither {
            decoder: roles.decoder.id.clone(),
            one: "rx".to_owned(),
            other: "tx".to_owned(),
        });
    }
    let line = |channel, invert| uart::LineConfig {
        channel,
        invert: options.text(invert) == "yes",
        packet_delim: None,
        packet_len: None,
    };
    Ok(uart::Config {
        baud_rate: options.number("baudrate"),
        data_bits: u32::try_from(options.integer("data_bits")).expect("5..=9 was checked"),
        parity: match options.text("parity") {
            "odd" => uart::Parity::Odd,
            "even" => uart::Parity::Even,
            "zero" => uart::Parity::Zero,
            "one" => uart::Parity::One,
            "ignore" => uart::Parity::Ignore,
            _ => uart::Parity::None,
        },
        stop_bits: options.number("stop_bits"),
        msb_first: options.text("bit_order") == "msb-first",
        format: uart::WordFormat::Hex,
        sample_point: options.number("sample_point"),
        rx: line(rx, "invert_rx"),
        tx: line(tx, "invert_tx"),
    })
}
