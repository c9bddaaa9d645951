//! Bounds of the format, the same everywhere. What a server's configuration bounds is [`Caps`](crate::Caps).

/// Longest document, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 256 << 10;

/// Deepest nesting of a document. The format itself needs 7.
pub const DEPTH_MAX: usize = 16;

/// Values of a document: maps, lists and scalars.
pub(crate) const NODES_MAX: usize = 20_000;

/// Problems that one report tells; it says when there are more.
pub const PROBLEMS_MAX: usize = 50;

/// Builds of a pipeline.
pub(crate) const BUILDS_MAX: usize = 32;

/// Benches of a pipeline.
pub(crate) const BENCHES_MAX: usize = 32;

/// Runs of one build: its variants times its packs.
pub const CELLS_MAX: usize = 64;

/// Runs of a whole job, builds and benches together.
pub(crate) const RUNS_MAX: usize = 512;

/// All runs together with their steps and environments, in bytes of compact JSON.
pub(crate) const PLAN_BYTES_MAX: usize = 32 << 20;

/// One run with its steps and environment, in bytes of compact JSON: what is in memory while it is carried out.
pub(crate) const RUN_BYTES_MAX: usize = 1 << 20;

/// Steps of one build or bench.
pub const STEPS_MAX: usize = 100;

/// Steps under `always`, which have 60 s together.
pub(crate) const ALWAYS_STEPS_MAX: usize = 20;

/// Milliseconds that all steps under `always` have together.
pub const ALWAYS_MS_MAX: u64 = 60_000;

/// Artifacts of one pack.
pub const ARTIFACTS_MAX: usize = 32;

/// Chips that one pack is for.
pub(crate) const TARGETS_MAX: usize = 16;

/// Entries of any other list: arguments, patterns, `needs`.
pub const LIST_MAX: usize = 64;

/// Entries of any map: variables, channels, predicates.
pub const ENTRIES_MAX: usize = 64;

/// Longest script of a `run` step, in characters.
pub(crate) const SCRIPT_CHARS_MAX: usize = 16 << 10;

/// Longest text of any other value, in characters.
pub const TEXT_CHARS_MAX: usize = 4 << 10;

/// Longest id, in characters.
pub const ID_CHARS_MAX: usize = 40;

/// Longest name of a pipeline or a case, in characters.
pub const LABEL_CHARS_MAX: usize = 120;

/// Longest name of a secret, in characters.
pub(crate) const SECRET_NAME_CHARS_MAX: usize = 64;

/// Longest path or pattern, in characters.
pub const PATH_CHARS_MAX: usize = 255;

/// Channels of a pod's logic analyzer, numbered from 1.
pub const LA_CHANNELS: u64 = 14;

/// Samples of one capture.
pub const SAMPLES_MAX: u64 = 4_194_304;

/// Highest rate of a logic capture, in Hz: the clock that pods divide.
pub(crate) const LA_RATE_HZ_MAX: u64 = 24_000_000;

/// Highest rate of an analog capture, in Hz.
pub(crate) const ADC_RATE_HZ_MAX: u64 = 1_000_000;

/// Bits per second of a serial line, least and most.
pub const BAUD: (u64, u64) = (300, 4_000_000);

/// Longest pulse on the reset line, in milliseconds.
pub(crate) const RESET_PULSE_MS_MAX: u64 = 1_000;

/// Longest `wait`, and longest time of a trigger, in milliseconds.
pub const WAIT_MS_MAX: u64 = 600_000;

/// Rules of one list.
pub const RULES_MAX: usize = 100;

/// Bytes of a sequence that a rule looks for.
pub const PATTERN_BYTES_MAX: usize = 64;

/// Largest golden file that a rule compares with, in bytes.
pub const GOLDEN_BYTES_MAX: usize = 4 << 20;

/// Greatest size of a limit of a measurement.
pub const DECIMAL_MAX: f64 = 1e100;

/// Largest number of any quantity, in its smallest unit: what JSON numbers hold exactly.
pub(crate) const QUANTITY_MAX: u64 = (1 << 53) - 1;
