//! A target on a board with I2C pull-ups and a sensor, if they are fitted, and its console.

use target_sim::chip::{Drive, Level, Part, Pin, PinChange, Port, STM32F030R8, SentWord};
use target_sim::firmware::{demo_elf, load_elf};
use target_sim::target::{Board, InputChange, Inputs, Target};

use super::sensor::Sensor;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SCL: Pin = Pin::new(Port::B, 8);
pub(crate) const SDA: Pin = Pin::new(Port::B, 9);
const RECEIVE: Pin = Pin::new(Port::A, 10);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fitted {
    Nothing,
    PullUps,
    Sensor,
}

/// Records everything and answers on the bus.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) sent: Vec<SentWord>,
    pub(crate) changes: Vec<PinChange>,
    pub(crate) sensor: Option<Sensor>,
    clock_low: bool,
    data_low: bool,
}

impl Board for Recorder {
    fn pin_changed(&mut self, change: PinChange, inputs: &mut Inputs) {
        self.changes.push(change);
        match change.pin {
            SCL => self.clock_low = change.drive == Drive::Low,
            SDA => self.data_low = change.drive == Drive::Low,
            _ => return,
        }
        let Some(sensor) = &mut self.sensor else {
            return;
        };
        let pulls = sensor.lines(!self.clock_low, !self.data_low);
        inputs.push(InputChange {
            at_ns: change.at_ns,
            pin: SDA,
            level: if pulls { Level::Low } else { Level::High },
        });
    }

    fn word_sent(&mut self, word: SentWord) {
        self.sent.push(word);
    }
}

pub(crate) struct Bench {
    pub(crate) target: Target,
    pub(crate) board: Recorder,
    text_from: usize,
}

impl Bench {
    /// A flashed target, just powered on.
    pub(crate) fn new(fitted: Fitted) -> Self {
        Self::of(STM32F030R8, fitted)
    }

    /// The same with another part.
    pub(crate) fn of(part: Part, fitted: Fitted) -> Self {
        let mut target = Target::new(part);
        load_elf(target.chip(), demo_elf(&part)).expect("the demo fits");
        if fitted != Fitted::Nothing {
            for pin in [SCL, SDA] {
                let level = Level::High;
                target.inputs().push(InputChange {
                    at_ns: 0,
                    pin,
                    level,
                });
            }
        }
        let sensor = (fitted == Fitted::Sensor).then(Sensor::new);
        let mut board = Recorder {
            sensor,
            ..Recorder::default()
        };
        target.set_power(true, &mut board);
        Self {
            target,
            board,
            text_from: 0,
        }
    }

    pub(crate) fn run_ms(&mut self, duration_ms: u64) {
        let until_ns = self.target.now_ns() + duration_ms * MS;
        self.target.run_until(until_ns, &mut self.board);
    }

    /// What was printed since the last `take_text`.
    pub(crate) fn text(&self) -> String {
        let words = &self.board.sent[self.text_from..];
        words
            .iter()
            .map(|word| char::from(u8::try_from(word.value).expect("eight bits")))
            .collect()
    }

    pub(crate) fn take_text(&mut self) -> String {
        let text = self.text();
        self.text_from = self.board.sent.len();
        text
    }

    /// Types a line and returns the output that follows.
    pub(crate) fn command(&mut self, line: &str) -> String {
        self.take_text();
        let now_ns = self.target.now_ns();
        let typed = format!("{line}\r");
        self.target
            .inputs()
            .push_uart(RECEIVE, now_ns, 115_200, typed.as_bytes());
        self.run_ms(100);
        self.take_text()
    }
}
