//! The analog hardware as it really is: slightly different from the fits that are built into the
//! firmware, depending on the seed, as one board differs from the next. Calibration finds these
//! errors.

use super::analog::{AnalogSource, Input, Signal, Switches};
use super::board::{Board, Fit, OutputPath};
use super::noise::{gaussian, mix};
use super::timeline::Pieces;

/// Noise of the converter, in counts.
pub(crate) const NOISE_COUNTS: f64 = 1.2;

/// Sense resistor of the 4-20 mA input, in ohms.
pub(crate) const SENSE_OHMS: f64 = 249.0;

/// Time constant of the output stage: a step is within an ADC count after about 10 µs.
pub(crate) const OUTPUT_TAU_NS: f64 = 1_000.0;

/// Range of the inputs' common offset, in volts. Always positive: the open 4-20 mA input must stay
/// clear of the count where the front end wraps.
const ADC_OFFSET_V: [f64; 2] = [0.003, 0.008];

/// Largest gain error of an input or output, as a fraction.
const GAIN_ERROR: f64 = 400e-6;

/// Largest offset error of an output, as a fraction of its span: 3 mV on the 5 V output.
const OUTPUT_OFFSET: f64 = 0.000_6;

/// Lowest voltages of the unloaded 3.3 V and 5 V outputs.
const FLOOR_3V3: f64 = 0.008;
const FLOOR_5V: f64 = 0.012;

/// The fit of an input that is built into the firmware.
pub(crate) fn built_in_input(board: Board, input: Input) -> Fit {
    let fits = board.adc_fits();
    match input {
        Input::Ext => fits.ext,
        Input::Cal1 | Input::CurrentIn => fits.cal1,
        Input::Cal2 => fits.cal2,
    }
}

/// The true lines of one board's converters.
#[derive(Debug, Clone)]
pub(crate) struct Hardware {
    board: Board,
    /// Added to what the inputs read, in volts.
    adc_offset_v: f64,
    /// Gain errors of inputs and outputs as fractions, in the order of their enums.
    adc_gain: [f64; 3],
    dac_gain: [f64; 3],
    dac_offset: [f64; 3],
}

impl Hardware {
    pub(crate) fn new(board: Board, seed: u64) -> Self {
        let share = |salt: u64| {
            let bits = u16::try_from(mix(seed ^ mix(salt)) >> 48).expect("16 bits");
            f64::from(bits) / 65_535.0
        };
        let signed = |salt: u64, most: f64| (2.0 * share(salt) - 1.0) * most;
        let [low, high] = ADC_OFFSET_V;
        Self {
            board,
            adc_offset_v: low + (high - low) * share(0xadc0),
            adc_gain: [1, 2, 3].map(|salt| signed(0xadc0 + salt, GAIN_ERROR)),
            dac_gain: [1, 2, 3].map(|salt| signed(0xdac0 + salt, GAIN_ERROR)),
            dac_offset: [4, 5, 6].map(|salt| signed(0xdac0 + salt, OUTPUT_OFFSET)),
        }
    }

    /// The count that an input shows for a voltage, without noise.
    pub(crate) fn count(&self, input: Input, volts: f64) -> u16 {
        let gain = match input {
            Input::Ext => self.adc_gain[0],
            Input::Cal1 | Input::CurrentIn => self.adc_gain[1],
            Input::Cal2 => self.adc_gain[2],
        };
        let fit = built_in_input(self.board, input);
        fit.count(volts * (1.0 + gain) + self.adc_offset_v)
    }

    /// The voltage of an output at a level in codes.
    pub(crate) fn volts(&self, path: OutputPath, level: f64) -> f64 {
        let fit = path.built_in(self.board);
        let index = path.index();
        let span = fit.b * 256.0;
        let ideal = fit.a + fit.b * level / 256.0;
        let volts = ideal * (1.0 + self.dac_gain[index]) + span * self.dac_offset[index];
        match path {
            OutputPath::V3 => volts.max(FLOOR_3V3),
            OutputPath::V5 => volts.max(FLOOR_5V),
            OutputPath::V12 => volts,
        }
    }
}

/// Everything that determines what the ADC sees, for a span of time.
#[derive(Debug, Clone)]
pub(crate) struct Wires {
    pub(crate) hardware: Hardware,
    pub(crate) seed: u64,
    pub(crate) ext: AnalogSource,
    pub(crate) current_in: AnalogSource,
    pub(crate) switches: Pieces<Switches>,
}

impl Wires {
    /// The count at an instant, with the DAC's output at `level`, in codes.
    pub(crate) fn count(&mut self, level: f64, at_ns: u64) -> u16 {
        let switches = *self.switches.at(at_ns);
        let input = switches.input();
        let volts = match input {
            Input::Ext => self.ext_volts(switches, level, at_ns),
            Input::CurrentIn => self.current_in.volts(!self.seed, at_ns),
            Input::Cal1 if switches.out_5v_on() => self.hardware.volts(OutputPath::V5, level),
            Input::Cal2 if switches.out_12v_on_adc() => self.hardware.volts(OutputPath::V12, level),
            Input::Cal1 | Input::Cal2 => 0.0,
        };
        let slope = built_in_input(self.hardware.board, input).b;
        let noise = gaussian(self.seed.rotate_left(17), at_ns) * NOISE_COUNTS * slope;
        self.hardware.count(input, volts + noise)
    }

    fn ext_volts(&self, switches: Switches, level: f64, at_ns: u64) -> f64 {
        match self.ext.signal {
            Signal::Output => {
                let routed = switches.output();
                let volts = routed.map_or(0.0, |path| self.hardware.volts(path, level));
                volts + self.ext.noise_v * gaussian(self.seed, at_ns)
            }
            Signal::Dc { .. } | Signal::Sine { .. } | Signal::Square { .. } => {
                self.ext.volts(self.seed, at_ns)
            }
        }
    }
}
