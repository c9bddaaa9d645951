//! Decoding what was recorded.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use decode::{Annotation, Format, Spec, Value};
use jobs::{BenchError, Decoding, Found, Transfer, TransferPart, Until};
use lab::captures::reader::Reader;
use pipeline::Decoder;

use crate::device::{Rig, check, within};
use crate::errors::{lost, of_capture};

/// Batches of results that wait for whoever takes them.
const BATCHES_MAX: usize = 4;

impl Rig {
    pub(crate) fn decode_kept(
        &self,
        capture: &str,
        decoding: &Decoding<'_>,
        until: &Until<'_>,
        found: &mut dyn FnMut(Found),
    ) -> Result<(), BenchError> {
        let captures = &self.lab.captures;
        let (reader, _permit) = within(&self.lab.handle, until, async {
            let reader = captures.read(&self.hold.org, capture).await;
            let reader = reader.map_err(|error| of_capture(&error))?;
            Ok((reader, captures.reader_permit().await))
        })?;
        let spec = spec(&reader, decoding)?;
        let mut transfers = Transfers::new(&spec);
        let mut lines = Vec::new();
        let mut take = |batch: Vec<Annotation>| {
            for annotation in &batch {
                lines.clear();
                // Memory takes all.
                let _ = Format::Sigrok.write(&spec, std::slice::from_ref(annotation), &mut lines);
                let line = String::from_utf8_lossy(&lines);
                found(Found::Line(line.trim_end().to_owned()));
                if let Some(transfer) = transfers.take(annotation) {
                    found(Found::Transfer(transfer));
                }
            }
        };
        decode_in_batches(&reader, &spec, until, &mut take)?;
        if let Some(transfer) = transfers.finish() {
            found(Found::Transfer(transfer));
        }
        Ok(())
    }
}

/// Decodes beside whoever takes the results, who need not be able to change threads.
fn decode_in_batches(
    reader: &Arc<Reader>,
    spec: &Spec,
    until: &Until<'_>,
    take: &mut dyn FnMut(Vec<Annotation>),
) -> Result<(), BenchError> {
    thread::scope(|scope| {
        let (tell, told) = mpsc::sync_channel(BATCHES_MAX);
        let decoding = scope.spawn(move || {
            reader.decode(spec, &mut |batch| match tell.send(batch.to_vec()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            })
        });
        for batch in &told {
            check(until.cancel)?;
            if until.left().is_zero() {
                return Err(BenchError::TimedOut);
            }
            take(batch);
        }
        match decoding.join() {
            Ok(decoded) => decoded.map_err(|error| lost(&error)),
            Err(_) => Err(BenchError::Lost("the decoder failed".to_owned())),
        }
    })
}

fn spec(reader: &Reader, decoding: &Decoding<'_>) -> Result<Spec, BenchError> {
    let protocol = match decoding.decoder {
        Decoder::I2c => "i2c",
        Decoder::Spi => "spi",
        Decoder::Uart => "uart",
    };
    let name = |number: u64| {
        let mut channels = reader.record().channels.iter();
        let found = channels.find(|channel| channel.la.map(u64::from) == Some(number));
        found.map(|channel| channel.name.as_str())
    };
    let map: Vec<(&str, &str)> = decoding
        .channels
        .iter()
        .filter_map(|(role, number)| Some((role.as_str(), name(*number)?)))
        .collect();
    let options: Vec<(&str, &str)> = decoding
        .options
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let spec = Spec::parse(protocol, &map, &options, None, &reader.logic_names());
    spec.map_err(|error| BenchError::Refused(error.to_string()))
}

/// Puts transfers together from what an I²C decoder says.
struct Transfers<'s> {
    spec: &'s Spec,
    open: Transfer,
    /// The next acknowledgement is that of an address.
    awaits: bool,
}

impl<'s> Transfers<'s> {
    fn new(spec: &'s Spec) -> Self {
        Self {
            spec,
            open: Transfer::default(),
            awaits: false,
        }
    }

    /// The transfer that ends with this annotation, if one does.
    fn take(&mut self, annotation: &Annotation) -> Option<Transfer> {
        if self.spec.decoder().id != "i2c" {
            return None;
        }
        let class = self
            .spec
            .decoder()
            .classes
            .get(usize::from(annotation.class))?;
        match (class.id, &annotation.value) {
            ("start" | "stop", _) => return self.finish(),
            ("address-read" | "address-write", Value::Number(address)) => {
                self.open.parts.push(TransferPart {
                    address: u8::try_from(*address).unwrap_or(u8::MAX),
                    ..TransferPart::default()
                });
                self.awaits = true;
            }
            ("ack" | "nack", _) if std::mem::take(&mut self.awaits) => {
                if let Some(part) = self.open.parts.last_mut() {
                    part.is_acknowledged = class.id == "ack";
                }
            }
            ("data-read" | "data-write", Value::Number(byte)) => {
                if let Some(part) = self.open.parts.last_mut() {
                    part.bytes.push(u8::try_from(*byte).unwrap_or(u8::MAX));
                }
            }
            _ => {}
        }
        None
    }

    /// What is open at the end, too: the capture may have ended in the middle of it.
    fn finish(&mut self) -> Option<Transfer> {
        self.awaits = false;
        let transfer = std::mem::take(&mut self.open);
        (!transfer.parts.is_empty()).then_some(transfer)
    }
}
