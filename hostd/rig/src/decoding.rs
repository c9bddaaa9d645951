//! Decoding what was recorded.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use decode::{Annotation, DecodeError, Format, Sink, Spec, Value};
use jobs::{BenchError, Decoding, Found, Transfer, TransferPart, Until};
use lab::captures::Captures;
use lab::captures::reader::{ReadError, Reader};
use lab::decoders::{NoSpec, Wanted};
use pipeline::Decoder;

use crate::device::{Rig, check, within};
use crate::errors::{lost, of_capture};

/// Batches of results that wait for whoever takes them. One of a plugin's may have tens of megabytes.
const BATCHES_MAX: usize = 1;

/// How words of a UART are written unless a pipeline says otherwise.
const TEXT: Option<(&str, &str)> = Some(("format", "ascii"));

/// How often a decoding that finds nothing is asked whether to go on.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Rig {
    pub(crate) fn decode_kept(
        &self,
        capture: &str,
        decoding: &Decoding<'_>,
        until: &Until<'_>,
        found: &mut dyn FnMut(Found),
    ) -> Result<(), BenchError> {
        let captures = &self.lab.captures;
        let reader = within(&self.lab.handle, until, async {
            let reader = captures.read(&self.hold.org, capture).await;
            reader.map_err(|error| of_capture(&error))
        })?;
        let spec = spec((&**captures, self.hold.org.as_str()), &reader, decoding)?;
        // A decoding by a plugin may take minutes, and holds a place among those of plugins instead.
        let permit = match spec.is_foreign() {
            true => None,
            false => Some(within(&self.lab.handle, until, async {
                Ok(captures.reader_permit().await)
            })?),
        };
        let mut transfers = Transfers::new(&spec);
        let mut lines = Vec::new();
        let mut take = |batch: Vec<Annotation>| {
            for annotation in &batch {
                lines.clear();
                // Memory takes all.
                let _ = Format::Sigrok.write(&spec, std::slice::from_ref(annotation), &mut lines);
                let line = String::from_utf8_lossy(&lines);
                // A space may be what was said.
                found(Found::Line(line.trim_end_matches('\n').to_owned()));
                if let Some(transfer) = transfers.take(annotation) {
                    found(Found::Transfer(transfer));
                }
            }
        };
        let (own, lab) = (spec.clone(), self.lab.clone());
        in_batches(
            move |sink| {
                let mut permit = permit;
                let mut aside = |batch: &[Annotation]| {
                    // Whoever takes what was found may be slow: others read meanwhile.
                    let held = permit.take();
                    let had_place = held.is_some();
                    drop(held);
                    let flow = sink(batch);
                    if had_place && flow.is_continue() {
                        permit = Some(lab.handle.block_on(lab.captures.reader_permit()));
                    }
                    flow
                };
                reader.decode(&own, &mut aside)
            },
            until,
            &mut take,
        )?;
        if let Some(transfer) = transfers.finish() {
            found(Found::Transfer(transfer));
        }
        Ok(())
    }
}

/// Decodes beside whoever takes the results, who need not be able to change threads. A decoder of a plugin may compute for
/// seconds before it says anything, and a run that is cancelled or out of time does not wait for that: the thread then
/// ends by itself, with the call that it is in.
fn in_batches(
    work: impl FnOnce(Sink<'_>) -> Result<(), ReadError> + Send + 'static,
    until: &Until<'_>,
    take: &mut dyn FnMut(Vec<Annotation>),
) -> Result<(), BenchError> {
    let (tell, told) = mpsc::sync_channel(BATCHES_MAX);
    let thread = thread::Builder::new().name("decode".to_owned());
    let decoding = thread.spawn(move || {
        let mut sink = |batch: &[Annotation]| match tell.send(batch.to_vec()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        work(&mut sink)
    });
    let decoding = decoding.map_err(|error| lost(&error))?;
    loop {
        check(until.cancel)?;
        let left = until.left();
        if left.is_zero() {
            return Err(BenchError::TimedOut);
        }
        match told.recv_timeout(left.min(LOOK_EVERY)) {
            Ok(batch) => take(batch),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match decoding.join() {
        Ok(decoded) => decoded.map_err(|error| failed(&error)),
        Err(_) => Err(BenchError::Lost("the decoder failed".to_owned())),
    }
}

/// What a plugin's decoder did wrong is told; otherwise the capture is damaged.
fn failed(error: &ReadError) -> BenchError {
    let ReadError::Decode(DecodeError::Foreign { title, source }) = error else {
        return lost(error);
    };
    BenchError::Refused(format!("the {title} failed to {source}"))
}

fn spec(
    (captures, org): (&Captures, &str),
    reader: &Reader,
    decoding: &Decoding<'_>,
) -> Result<Spec, BenchError> {
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
    let given = decoding.options.iter();
    let given = given.map(|(name, value)| (name.as_str(), value.as_str()));
    // People read what is kept, and most of what a serial line says is text.
    let own = TEXT.filter(|(name, _)| {
        *decoding.decoder == Decoder::Uart && !decoding.options.contains_key(*name)
    });
    let options: Vec<(&str, &str)> = own.into_iter().chain(given).collect();
    let annotations = decoding.annotations.join(",");
    let wanted = Wanted {
        protocol: decoding.decoder.as_str(),
        map: &map,
        options: &options,
        annotations: Some(&*annotations).filter(|names| !names.is_empty()),
    };
    let spec = captures.decoders().spec(org, wanted, &reader.logic_names());
    let spec = spec.map(|spec| match annotations.is_empty() {
        true => spec.without_bits(),
        false => spec,
    });
    spec.map_err(|refused| {
        BenchError::Refused(match refused {
            NoSpec::Invalid(error) => error.to_string(),
            NoSpec::NotGranted(sentence)
            | NoSpec::Absent(sentence)
            | NoSpec::Engine(_, sentence) => sentence,
        })
    })
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
        match (class.id.as_str(), &annotation.value) {
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

#[cfg(test)]
mod tests;
