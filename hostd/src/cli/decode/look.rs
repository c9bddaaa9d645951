//! What of a file is decoded: samples, channels, pulses.

use anyhow::{Context, bail};
use decode::analog::AnalogSegment;
use decode::density::Density;
use decode::gaps::Gaps;
use decode::import::{Import, Limits, Memory, Options};
use decode::segment::Segment;
use decode::{DecodeError, Decoding, Spec, Wanted, pulse_samples};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use sigrok::{Sigrok, Stack};

use super::super::assert::source::COUNTS;
use super::{Decode, Engine, pairs};
use crate::plugin::check;
use crate::plugin::decoding::offline::Offline;
use crate::registers;
use crate::summary;

/// The program, on the search path.
const SIGROK: &str = "sigrok-cli";

impl Decode {
    /// Whether all logic samples are decoded as they are.
    pub(super) fn takes_all(&self) -> bool {
        (self.from, self.to) == (0, u64::MAX) && self.glitch.is_none() && self.threshold.is_none()
    }

    /// Begins to decode what is asked for of a segment.
    pub(super) fn decoding<'d>(
        &self,
        segment: &'d Segment<'d>,
        spec: &'d Spec,
    ) -> Result<Decoding<'d>, DecodeError> {
        let decoding = Decoding::of_segment(segment, spec)?.within(self.from..self.to);
        let rate_hz = segment.sample_rate_hz();
        let pulse_min = self.glitch.map_or(0, |ns| pulse_samples(ns, rate_hz));
        Ok(decoding.without_glitches(pulse_min).at_most(self.limit))
    }

    /// How many annotations of each class begin in each of some stretches, as JSON.
    pub(super) fn density(&self, bytes: &[u8], stretches: usize) -> anyhow::Result<String> {
        let (segment, names) = self.imported(bytes)?;
        let segment = Segment::open(&segment)?;
        let spec = self.spec(&names)?;
        let end = self.to.min(segment.samples());
        let range = self.from.min(end)..end;
        let mut density = Density::new(range.clone(), stretches);
        self.decoding(&segment, &spec)?.run(&mut |found| {
            density.add(found);
            ControlFlow::Continue(())
        })?;
        Ok(summary::json(&spec, &range, &density, &Gaps::default()))
    }

    /// The samples of a file as a segment, and the names of its channels: the logic ones, or with a threshold the analog one.
    pub(super) fn imported(&self, bytes: &[u8]) -> anyhow::Result<(Vec<u8>, Vec<String>)> {
        let options = Options {
            rate_hz: self.rate,
            channels: Vec::new(),
        };
        let import = Import::open(bytes, &options, &Limits::default())?;
        let Some(threshold) = self.threshold else {
            let logic = import.logic().context("find logic samples; it has none")?;
            let names = logic.names.clone();
            return Ok((Memory::of(&import)?.0, names));
        };
        let analog = import
            .analog()
            .context("find analog samples; it has none")?;
        let half = self.hysteresis / 2.0;
        let level = |count: u16| match analog.offset + f64::from(count) * analog.full_scale / COUNTS
        {
            value if value >= threshold + half => Some(true),
            value if value <= threshold - half => Some(false),
            _ => None,
        };
        let stored = Memory::of(&import)?.1;
        let logic = AnalogSegment::open(&stored)?.as_logic(level, &|| true)?;
        Ok((logic, vec![analog.name.clone()]))
    }

    pub(super) fn spec(&self, names: &[String]) -> anyhow::Result<Spec> {
        let map = &pairs(&self.map, "--map")?;
        let options = &pairs(&self.option, "--option")?;
        let annotations = self.annotations.as_deref();
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let parsed = match &self.plugin {
            None if self.engine == Engine::Sigrok => {
                let sigrok = Arc::new(Sigrok::new(SIGROK, sigrok::Limits::default()));
                let stack = Stack::find(&sigrok, protocol)?;
                let named: Vec<&str> = map.iter().map(|(role, _)| *role).collect();
                let foreign = stack.foreign(&named)?;
                Spec::parse_foreign(&foreign, map, options, annotations, names)
            }
            None => {
                let parts = registers::load(self.registers.iter().map(PathBuf::as_path))?;
                let wanted = Wanted {
                    protocol,
                    map,
                    options,
                    annotations,
                };
                Spec::parse_with(&parts, wanted, names)
            }
            Some(path) => {
                let package = Offline::open(&check::open(path)?)?;
                let ids: Vec<&str> = package.ids().collect();
                let wanted = match (&self.protocol, ids.as_slice()) {
                    (Some(protocol), _) => protocol.as_str(),
                    (None, [only]) => *only,
                    (None, _) => bail!("choose a decoder; --protocol takes {}", ids.join(", ")),
                };
                let Some(foreign) = package.find(wanted) else {
                    bail!(
                        "find the decoder {wanted} in the package; it has {}",
                        ids.join(", ")
                    );
                };
                Spec::parse_foreign(&foreign, map, options, annotations, names)
            }
        };
        parsed.context("set up the decoder")
    }
}
