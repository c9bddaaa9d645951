//! What all kinds of files come to: channels, and what happens to them in the order of time.

use super::ImportError;
use super::choice::Choice;
use super::rate::Rate;
use super::scale::Scale;

/// An analog channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnalogName {
    pub(super) name: String,
    pub(super) unit: String,
}

/// A rate that a file says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) rate: Rate,
    /// How many samples each channel has, if the file says that, too.
    pub(super) samples: Option<u64>,
}

/// What a file says before its samples.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Names of the logic channels.
    pub(super) logic: Vec<String>,
    pub(super) analog: Vec<AnalogName>,
    /// How the file counts time.
    pub(super) tick: Rate,
    /// Whether it lists samples, not changes: then a tick is a sample, and the rates are known.
    pub(super) is_sampled: bool,
    /// Whether the last time is that of a sample, rather than the end.
    pub(super) ends_with_sample: bool,
    pub(super) logic_rate: Option<Known>,
    pub(super) analog_rate: Option<Known>,
    /// What counts of its values mean, if that follows from the format.
    pub(super) scale: Option<Scale>,
    pub(super) notes: Vec<String>,
}

/// The kinds of samples that are of interest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) logic: bool,
    pub(super) analog: bool,
}

/// Takes what happens; each of the two kinds of channels in the order of time.
pub(super) trait Sink: Send {
    /// Raw logic samples of `unit` bytes: all channels, in their order.
    fn samples(&mut self, raw: &[u8], unit: usize) -> Result<(), ImportError>;

    /// The chosen logic channels have these levels from tick `at` on.
    fn levels(&mut self, at: u64, levels: u64) -> Result<(), ImportError>;

    /// The chosen analog channel has this value from tick `at` on.
    fn value(&mut self, at: u64, value: f64) -> Result<(), ImportError>;
}

/// A file being imported.
pub(super) trait Source {
    fn shape(&self) -> &Shape;

    /// Which channels `walk` shows from now on.
    fn choose(&mut self, choice: &Choice);

    /// Show the file from its beginning; returns the tick at which it ends.
    fn walk(&self, wanted: Wanted, sink: &mut dyn Sink) -> Result<u64, ImportError>;

    /// What a reader should know that a walk came upon. A sentence.
    fn remark(&self) -> Option<&'static str> {
        None
    }
}
