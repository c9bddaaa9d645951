//! The bytes on the wire without their annotations, as sigrok-cli's `-B` prints them.

use crate::annotation::{Annotation, ClassSet, Value};
use crate::spec::ProtocolConfig;
use crate::spec::{self, Spec, SpecError, nearest};
use std::io::{self, Write};

/// One byte stream of one decoder.
#[derive(Clone, Debug)]
pub struct ByteStream {
    classes: ClassSet,
}

impl ByteStream {
    /// Finds a stream by name, with or without the decoder's name before it (`i2c=data-read`).
    ///
    /// # Errors
    /// The decoder or the stream is not known.
    pub fn parse(protocol: &str, text: &str) -> Result<Self, SpecError> {
        let decoder = spec::find(protocol)?;
        let name = match text.split_once('=') {
            Some((id, name)) if id.trim() == decoder.id => name,
            Some((id, _)) => {
                let name = id.trim().to_owned();
                return Err(SpecError::OtherDecoder {
                    decoder: decoder.id.clone(),
                    name,
                });
            }
            None => text,
        };
        let name = name.trim();
        let Some(stream) = decoder.byte_streams.iter().find(|stream| stream.id == name) else {
            let valid: Vec<&str> = decoder
                .byte_streams
                .iter()
                .map(|stream| stream.id.as_str())
                .collect();
            return Err(SpecError::UnknownByteStream {
                decoder: decoder.id.clone(),
                name: name.to_owned(),
                hint: nearest(name, &valid),
                valid: valid.join(", "),
            });
        };
        let classes = stream.classes.iter().filter_map(|id| decoder.class(id));
        Ok(Self {
            classes: classes.fold(ClassSet::EMPTY, ClassSet::with),
        })
    }

    pub(crate) fn classes(&self) -> ClassSet {
        self.classes
    }

    /// Writes the stream's bytes. Words of more than eight bits take as many bytes as they need,
    /// highest first.
    ///
    /// # Errors
    /// A write to `out` fails.
    pub fn write(
        &self,
        spec: &Spec,
        annotations: &[Annotation],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let bits = match &spec.protocol {
            ProtocolConfig::I2c(_) | ProtocolConfig::Registers(_) => 8,
            ProtocolConfig::Spi(config) => config.word_bits,
            ProtocolConfig::Uart(config) => config.data_bits,
            ProtocolConfig::Conversation(config) => config.uart.data_bits,
            ProtocolConfig::Foreign(_) => u64::BITS,
        };
        let skipped = 8 - bits.div_ceil(8) as usize;
        let shown = annotations
            .iter()
            .filter(|annotation| self.classes.has(annotation.class));
        for annotation in shown {
            if let Value::Number(number) = annotation.value {
                out.write_all(&number.to_be_bytes()[skipped..])?;
            }
        }
        Ok(())
    }
}
