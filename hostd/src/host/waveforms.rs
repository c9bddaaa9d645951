//! `hostd:host/waveforms`: waveforms of the caller's organisation.

use runtime::BodyStream;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::waveforms::{
    Error, Host, Kind as WitKind, Mapping as WitMapping, Output as WitOutput, Page, Previewed,
    Segment as WitSegment, Shape as WitShape, Unit as WitUnit, Waveform,
};
use super::uploads::given;
use super::{CallLinker, Context, cursor_rule, internal, wit};
use base::clock;
use identity::Verified;
use lab::blobs::Staged;
use lab::waveforms::signal::Mapping;
use lab::waveforms::{Label, Preview, Recorded, WaveformError, Waveforms};
use store::waveforms::{Kind, Output, Segment, Shape, Unit, WaveformRecord};

/// Longest page of the list.
const LIST_MAX: u32 = 200;

/// Most points of a preview.
const POINTS_MAX: u32 = 65_536;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    waveforms: &'a Waveforms,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::waveforms::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        waveforms: &state.data.services.waveforms,
    })
}

impl Host for View<'_> {
    async fn list(&mut self, cursor: Option<String>, limit: u32) -> Result<Page, Error> {
        let org = self.waveform_caller()?.org();
        let limit = limit.clamp(1, LIST_MAX) as usize;
        if let Some(rule) = cursor.as_deref().and_then(cursor_rule) {
            return Err(Error::Invalid(("cursor".to_owned(), rule.to_owned())));
        }
        let waveforms = self.waveforms;
        let found = waveforms.list(org, cursor.as_deref(), limit).await;
        let found = found.map_err(|e| self.waveform_error(e))?;
        let next = (found.len() == limit).then(|| found.last().map(|w| w.id.clone()));
        Ok(Page {
            items: found.into_iter().map(to_wit).collect(),
            next: next.flatten(),
        })
    }

    async fn get(&mut self, id: String) -> Result<Waveform, Error> {
        let org = self.waveform_caller()?.org();
        let found = self.waveforms.get(org, &id).await;
        found.map(to_wit).map_err(|e| self.waveform_error(e))
    }

    async fn samples_b64(&mut self, id: String) -> Result<String, Error> {
        let org = self.waveform_caller()?.org();
        let samples = self.waveforms.samples_b64(org, &id).await;
        samples.map_err(|e| self.waveform_error(e))
    }

    async fn read(&mut self, id: String) -> Result<Resource<BodyStream>, Error> {
        let org = self.waveform_caller()?.org();
        let stream = self.waveforms.read(org, &id).await;
        let stream = stream.map_err(|e| self.waveform_error(e))?;
        let pushed = self.table.push(BodyStream::new(None, stream));
        pushed.map_err(|e| Error::Other(internal(self.context, "waveforms", &e)))
    }

    async fn preview(
        &mut self,
        id: String,
        mapping: WitMapping,
        output: WitOutput,
        points: u32,
    ) -> Result<Previewed, Error> {
        let org = self.waveform_caller()?.org();
        let points = points.clamp(1, POINTS_MAX) as usize;
        let output = Output::from(output);
        let waveforms = self.waveforms;
        let shown = waveforms.preview(org, &id, mapping.into(), output, points);
        let shown = shown.await.map_err(|e| self.waveform_error(e))?;
        Ok(preview(shown, output.unit()))
    }

    async fn room(&mut self) -> Result<u64, Error> {
        let org = self.waveform_caller()?.org();
        let room = self.waveforms.room(org).await;
        room.map_err(|e| self.waveform_error(e))
    }

    async fn save_codes(
        &mut self,
        name: String,
        samples_b64: String,
        bits: u8,
        sample_rate_hz: f64,
        full_scale: Option<f64>,
    ) -> Result<Waveform, Error> {
        let label = self.label(&name)?;
        let waveforms = self.waveforms;
        let saved = waveforms.save_codes(label, &samples_b64, bits, sample_rate_hz, full_scale);
        let saved = saved.await;
        saved.map(to_wit).map_err(|e| self.waveform_error(e))
    }

    async fn save_recording(
        &mut self,
        name: String,
        file: Resource<Staged>,
        sample_rate_hz: f64,
        full_scale: f64,
        unit: WitUnit,
        samples: Option<u64>,
    ) -> Result<Waveform, Error> {
        let staged = given(self.context, self.table, file).map_err(Error::Other)?;
        let label = self.label(&name)?;
        let told = Recorded {
            sample_rate_hz,
            full_scale,
            unit: unit.into(),
            samples,
        };
        let waveforms = self.waveforms;
        let saved = waveforms.save_recording(label, &staged, told).await;
        saved.map(to_wit).map_err(|e| self.waveform_error(e))
    }

    async fn save_segments(
        &mut self,
        name: String,
        output: WitOutput,
        segments: Vec<WitSegment>,
    ) -> Result<Waveform, Error> {
        let label = self.label(&name)?;
        let segments = segments.into_iter().map(segment_from).collect();
        let waveforms = self.waveforms;
        let saved = waveforms
            .save_segments(label, output.into(), segments)
            .await;
        saved.map(to_wit).map_err(|e| self.waveform_error(e))
    }

    async fn rename(&mut self, id: String, name: String) -> Result<Waveform, Error> {
        let label = self.label(&name)?;
        let renamed = self.waveforms.rename(label, &id).await;
        renamed.map(to_wit).map_err(|e| self.waveform_error(e))
    }

    async fn delete(&mut self, id: String) -> Result<(), Error> {
        let org = self.waveform_caller()?.org();
        let deleted = self.waveforms.delete(org, &id).await;
        deleted.map_err(|e| self.waveform_error(e))
    }
}

impl View<'_> {
    fn waveform_caller(&self) -> Result<&Verified, Error> {
        self.context.caller.as_ref().ok_or(Error::NotFound)
    }

    fn label<'a>(&'a self, name: &'a str) -> Result<Label<'a>, Error> {
        let caller = self.waveform_caller()?;
        Ok(Label {
            org: caller.org(),
            user: caller.user(),
            name,
        })
    }

    fn waveform_error(&self, error: WaveformError) -> Error {
        match error {
            WaveformError::NotFound => Error::NotFound,
            WaveformError::Full { .. } => Error::Full(error.to_string()),
            WaveformError::WrongKind(text) => Error::WrongKind(text.to_owned()),
            WaveformError::Invalid { field, message } => {
                Error::Invalid((field.to_owned(), message))
            }
            other => Error::Other(internal(self.context, "waveforms", &other)),
        }
    }
}

fn preview(preview: Preview, unit: Unit) -> Previewed {
    Previewed {
        codes: preview.codes,
        low: preview.span.low,
        high: preview.span.high,
        unit: unit.into(),
        sample_rate_hz: preview.sample_rate_hz,
        averaged: preview.averaged as u64,
    }
}

fn to_wit(record: WaveformRecord) -> Waveform {
    Waveform {
        size_bytes: record.size_bytes(),
        id: record.id,
        name: record.name,
        kind: match record.kind {
            Kind::Codes => WitKind::Codes,
            Kind::Recording => WitKind::Recording,
            Kind::Segments => WitKind::Segments,
        },
        samples: record.count,
        sample_rate_hz: record.sample_rate_hz,
        bits: record.bits,
        full_scale: record.full_scale,
        unit: record.unit.into(),
        output: record.output.map(Into::into),
        segments: record.segments.into_iter().map(segment_to).collect(),
        created_at: clock::text(record.created_ms),
    }
}

fn segment_from(segment: WitSegment) -> Segment {
    Segment {
        shape: match segment.shape {
            WitShape::Ramp => Shape::Ramp,
            WitShape::Hold => Shape::Hold,
            WitShape::Step => Shape::Step,
        },
        duration_ms: segment.duration_ms,
        from_level: segment.from_level,
        to_level: segment.to_level,
    }
}

fn segment_to(segment: Segment) -> WitSegment {
    WitSegment {
        shape: match segment.shape {
            Shape::Ramp => WitShape::Ramp,
            Shape::Hold => WitShape::Hold,
            Shape::Step => WitShape::Step,
        },
        duration_ms: segment.duration_ms,
        from_level: segment.from_level,
        to_level: segment.to_level,
    }
}

impl From<WitMapping> for Mapping {
    fn from(mapping: WitMapping) -> Self {
        match mapping {
            WitMapping::Faithful => Self::Faithful,
            WitMapping::Fit => Self::Fit,
        }
    }
}

impl From<WitOutput> for Output {
    fn from(output: WitOutput) -> Self {
        match output {
            WitOutput::V3 => Self::V3,
            WitOutput::V5 => Self::V5,
            WitOutput::V12 => Self::V12,
            WitOutput::Current => Self::Current,
        }
    }
}

impl From<Output> for WitOutput {
    fn from(output: Output) -> Self {
        match output {
            Output::V3 => Self::V3,
            Output::V5 => Self::V5,
            Output::V12 => Self::V12,
            Output::Current => Self::Current,
        }
    }
}

impl From<WitUnit> for Unit {
    fn from(unit: WitUnit) -> Self {
        match unit {
            WitUnit::Volts => Self::Volts,
            WitUnit::Milliamps => Self::Milliamps,
        }
    }
}

impl From<Unit> for WitUnit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Volts => Self::Volts,
            Unit::Milliamps => Self::Milliamps,
        }
    }
}
