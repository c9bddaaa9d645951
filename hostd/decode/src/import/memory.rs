//! An imported file in memory: what its edges take once they are packed.

use std::ops::ControlFlow;

use super::{Import, ImportError, Store};
use crate::analog::AnalogEncoder;
use crate::segment::{Encoder, EncoderError, EncoderSpec};

/// A store in memory.
#[derive(Default)]
pub struct Memory {
    logic: Option<Encoder>,
    analog: Option<AnalogEncoder>,
    files: (Vec<u8>, Vec<u8>),
    error: Option<EncoderError>,
}

impl Memory {
    /// The logic and the analog samples of a file, as segments; empty where it has none.
    ///
    /// # Errors
    /// The file is damaged, or has more samples than a segment holds.
    pub fn of(import: &Import<'_>) -> Result<(Vec<u8>, Vec<u8>), ImportError> {
        let logic = import.logic().map(|logic| {
            Encoder::new(EncoderSpec {
                channels: logic.names.len(),
                sample_rate_hz: logic.sample_rate_hz,
            })
        });
        let analog = import
            .analog()
            .map(|analog| AnalogEncoder::new(analog.sample_rate_hz));
        let mut memory = Self {
            logic: logic.transpose().map_err(|_| ImportError::NoRate)?,
            analog: analog.transpose().map_err(|_| ImportError::NoRate)?,
            ..Self::default()
        };
        import.feed(&mut memory)?;
        let (mut logic, mut analog) = memory.files;
        logic.extend(memory.logic.map(Encoder::finish).unwrap_or_default());
        analog.extend(memory.analog.map(AnalogEncoder::finish).unwrap_or_default());
        Ok((logic, analog))
    }
}

impl Store for Memory {
    fn samples(&mut self, raw: &[u8], unit: usize) -> ControlFlow<()> {
        if let Some(encoder) = &mut self.logic {
            encoder.push_raw(raw, unit);
            self.files.0.extend(encoder.take());
        }
        ControlFlow::Continue(())
    }

    fn edges(&mut self, edges: &[(u64, u64)], upto: u64) -> ControlFlow<()> {
        if let Some(encoder) = &mut self.logic {
            if let Err(error) = encoder.push_edges(edges, upto) {
                self.error = Some(error);
                return ControlFlow::Break(());
            }
            self.files.0.extend(encoder.take());
        }
        ControlFlow::Continue(())
    }

    fn counts(&mut self, counts: &[u16]) -> ControlFlow<()> {
        if let Some(encoder) = &mut self.analog {
            encoder.push(counts);
            self.files.1.extend(encoder.take());
        }
        ControlFlow::Continue(())
    }
}
