//! The fourteen logic-analyzer channels: the owner of each, what the pod drives on it, and the bias
//! resistors.

use serde_json::{Value, json};

mod owner;

pub(crate) use owner::{Mode, Owner};

use super::refuse::Refuse;
use super::timeline::Timeline;
use pod_protocol::LA_CHANNELS;

const CHANNELS: usize = LA_CHANNELS as usize;

/// Values of the bias resistors of LA1 to LA8.
const OHMS: [&str; 8] = ["4.7k", "4.7k", "2.2k", "2.2k", "10k", "10k", "10k", "10k"];

/// Channels whose resistor pulls up; LA7 and LA8 pull down.
pub(crate) const PULL_UP_MASK: u16 = 0b0011_1111;

/// Bank voltage at which the resistors work, in millivolts.
const PULL_BANK_MV: u16 = 3300;

/// A running step train.
#[derive(Debug, Clone, Copy)]
struct Train {
    la: u8,
    dir_la: Option<u8>,
    end_ns: u64,
}

#[derive(Debug)]
pub(crate) struct Pins {
    owners: [Owner; CHANNELS],
    drives: [Timeline<Option<bool>>; CHANNELS],
    /// Engaged resistors, bit n−1 for LA n.
    pulls: Timeline<u16>,
    /// In millivolts; 0 until selected.
    bank_mv: u16,
    train: Option<Train>,
}

/// Number of bits in an 8N1 frame.
pub(crate) const FRAME_BITS: u64 = 10;

/// Duration of `bits`, in nanoseconds.
pub(crate) fn bits_ns(bits: u64, baud: u32) -> u64 {
    bits * 1_000_000_000 / u64::from(baud)
}

fn index(la: u8) -> usize {
    usize::from(la) - 1
}

pub(crate) fn bit(la: u8) -> u16 {
    1 << (la - 1)
}

impl Pins {
    pub(crate) fn new(bank_mv: u16) -> Self {
        Self {
            owners: [Owner::Free; CHANNELS],
            drives: std::array::from_fn(|_| Timeline::new(None)),
            pulls: Timeline::new(0),
            bank_mv,
            train: None,
        }
    }

    pub(crate) fn bank_mv(&self) -> u16 {
        self.bank_mv
    }

    /// Refuses commands that need a bank voltage while none is selected.
    pub(crate) fn need_bank(&self) -> Result<(), Refuse> {
        match self.bank_mv() {
            0 => Err(Refuse::LaVoltageUnset),
            _ => Ok(()),
        }
    }

    pub(crate) fn owner(&self, la: u8) -> Owner {
        self.owners[index(la)]
    }

    /// Whether any channel has this function.
    pub(crate) fn has(&self, function: Owner) -> bool {
        self.owners.contains(&function)
    }

    pub(crate) fn drives(&self) -> impl Iterator<Item = (u8, &Timeline<Option<bool>>)> {
        (1..=LA_CHANNELS).zip(&self.drives)
    }

    pub(crate) fn pulls(&self) -> &Timeline<u16> {
        &self.pulls
    }

    pub(crate) fn prune(&mut self, before_ns: u64) {
        self.drives
            .iter_mut()
            .for_each(|line| line.prune(before_ns));
        self.pulls.prune(before_ns);
    }

    /// Frees everything and unselects the bank voltage.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        for la in 1..=LA_CHANNELS {
            self.claim(la, Owner::Free, now_ns);
        }
        self.pulls.set(now_ns, 0);
        self.bank_mv = 0;
        self.train = None;
    }

    /// Ends what has finished by itself: the ownership of a finished step train.
    pub(crate) fn settle(&mut self, now_ns: u64) {
        if let Some(train) = self.train.filter(|train| train.end_ns <= now_ns) {
            self.train = None;
            for la in [Some(train.la), train.dir_la].into_iter().flatten() {
                if matches!(self.owner(la), Owner::Step | Owner::StepDir) {
                    self.owners[index(la)] = Owner::Free;
                }
            }
        }
    }

    /// Selects the bank voltage. At 1.8 V the resistors are released.
    pub(crate) fn select_bank(&mut self, mv: u16, now_ns: u64) -> Result<(), Refuse> {
        if mv == self.bank_mv {
            return Ok(());
        }
        let used: Vec<String> = (1..=LA_CHANNELS)
            .filter(|la| self.owner(*la) != Owner::Free)
            .map(|la| format!("LA{la} ({})", self.owner(la).function()))
            .collect();
        if !used.is_empty() {
            return Err(Refuse::LaVoltageInUse {
                used: used.join(", "),
            });
        }
        self.bank_mv = mv;
        if mv != PULL_BANK_MV {
            self.pulls.set(now_ns, 0);
        }
        Ok(())
    }

    /// Checks whether `la` may get the function `wanted`, without changing anything.
    pub(crate) fn check_claim(&self, la: u8, wanted: Owner, now_ns: u64) -> Result<(), Refuse> {
        let owner = self.owner(la);
        let both_gpio = matches!((owner, wanted), (Owner::Gpio { .. }, Owner::Gpio { .. }));
        if owner != Owner::Free && !both_gpio {
            return Err(Refuse::PinConflict {
                la,
                function: owner.function(),
                hint: owner.hint(la),
            });
        }
        let pulled_down = self.pulls.at(now_ns) & !PULL_UP_MASK & bit(la) != 0;
        if pulled_down && wanted.rejects_pull_down() {
            return Err(Refuse::PullEngaged {
                la,
                function: wanted.function(),
            });
        }
        Ok(())
    }

    /// Makes `wanted` the function of `la`, after [`check_claim`](Self::check_claim).
    pub(crate) fn claim(&mut self, la: u8, wanted: Owner, now_ns: u64) {
        self.owners[index(la)] = wanted;
        let line = &mut self.drives[index(la)];
        line.cancel_after(now_ns);
        if *line.at(now_ns) != wanted.drive() {
            line.set(now_ns, wanted.drive());
        }
    }

    /// Claims several channels, or none of them.
    pub(crate) fn claim_all(&mut self, claims: &[(u8, Owner)], now_ns: u64) -> Result<(), Refuse> {
        for (la, wanted) in claims {
            self.check_claim(*la, *wanted, now_ns)?;
        }
        for (la, wanted) in claims {
            self.claim(*la, *wanted, now_ns);
        }
        Ok(())
    }

    /// Frees the channels that have one of these functions.
    pub(crate) fn free(&mut self, functions: &[Owner], now_ns: u64) {
        for la in 1..=LA_CHANNELS {
            if functions.contains(&self.owner(la)) {
                self.claim(la, Owner::Free, now_ns);
            }
        }
    }

    /// From `at_ns` on the pod drives the channel to this level, or releases it; anything planned
    /// for later is dropped.
    pub(crate) fn drive(&mut self, la: u8, level: Option<bool>, at_ns: u64) {
        let line = &mut self.drives[index(la)];
        line.cancel_after(at_ns);
        if *line.at(at_ns) != level {
            line.set(at_ns, level);
        }
    }

    /// Sends bytes as 8N1 on a channel, from `at_ns` on; returns the end of the last stop bit.
    pub(crate) fn transmit(&mut self, la: u8, bytes: &[u8], baud: u32, at_ns: u64) -> u64 {
        let line = &mut self.drives[index(la)];
        let mut level = true;
        for (frame, byte) in (0_u64..).zip(bytes) {
            // A start bit (low), eight data bits from the lowest on, a stop bit (high).
            let bits = u16::from(*byte) << 1 | 0x200;
            for position in 0..FRAME_BITS {
                let bit = bits >> position & 1 == 1;
                if bit != level {
                    let offset_ns = bits_ns(frame * FRAME_BITS + position, baud);
                    line.set(at_ns + offset_ns, Some(bit));
                    level = bit;
                }
            }
        }
        at_ns + bits_ns(bytes.len() as u64 * FRAME_BITS, baud)
    }

    /// Holds a channel low between two instants.
    pub(crate) fn hold_low(&mut self, la: u8, from_ns: u64, to_ns: u64) {
        let line = &mut self.drives[index(la)];
        line.set(from_ns, Some(false));
        line.set(to_ns, Some(true));
    }

    /// The resistors that are engaged, bit n−1 for LA n.
    pub(crate) fn pull_mask(&self, now_ns: u64) -> u16 {
        *self.pulls.at(now_ns)
    }

    /// Engages or releases a resistor.
    pub(crate) fn set_pull(&mut self, la: u8, on: bool, now_ns: u64) -> Result<(), Refuse> {
        if usize::from(la) > OHMS.len() {
            return Err(Refuse::NoPull { la });
        }
        let pulls = *self.pulls.at(now_ns);
        if !on {
            self.pulls.set(now_ns, pulls & !bit(la));
            return Ok(());
        }
        if self.bank_mv != PULL_BANK_MV {
            return Err(Refuse::PullAt1V8);
        }
        let owner = self.owner(la);
        if bit(la) & PULL_UP_MASK == 0 && owner.rejects_pull_down() {
            return Err(Refuse::PullUnwanted {
                la,
                function: owner.function(),
            });
        }
        self.pulls.set(now_ns, pulls | bit(la));
        Ok(())
    }

    /// Starts a step train: `steps` pulses, high and then low for `half_ns` each.
    pub(crate) fn start_train(
        &mut self,
        la: u8,
        steps: u64,
        half_ns: u64,
        direction: Option<(u8, bool)>,
        now_ns: u64,
    ) -> Result<(), Refuse> {
        if self.train.is_some() {
            return Err(Refuse::Busy);
        }
        self.check_step(la, Owner::Step, now_ns)?;
        if let Some((dir_la, _)) = direction {
            if dir_la == la {
                return Err(Refuse::SameStepPins);
            }
            self.check_step(dir_la, Owner::StepDir, now_ns)?;
        }
        let end_ns = now_ns + 2 * steps * half_ns;
        if let Some((dir_la, level)) = direction {
            self.drive_direction(dir_la, level, now_ns, end_ns);
        }
        let after = self.owner(la).drive();
        let line = &mut self.drives[index(la)];
        for half in 0..2 * steps {
            line.set(now_ns + half * half_ns, Some(half % 2 == 0));
        }
        line.set(end_ns, after);
        if self.owner(la) == Owner::Free {
            self.owners[index(la)] = Owner::Step;
        }
        self.train = Some(Train {
            la,
            dir_la: direction.map(|(dir_la, _)| dir_la),
            end_ns,
        });
        Ok(())
    }

    /// Refuses channels other than free ones and GPIO outputs for a step train.
    fn check_step(&self, la: u8, wanted: Owner, now_ns: u64) -> Result<(), Refuse> {
        match self.owner(la) {
            Owner::Gpio {
                mode: Mode::Output, ..
            } => Ok(()),
            _ => self.check_claim(la, wanted, now_ns),
        }
    }

    fn drive_direction(&mut self, la: u8, level: bool, now_ns: u64, end_ns: u64) {
        let line = &mut self.drives[index(la)];
        line.set(now_ns, Some(level));
        match &mut self.owners[index(la)] {
            Owner::Gpio { level: held, .. } => *held = level,
            owner => {
                *owner = Owner::StepDir;
                line.set(end_ns, None);
            }
        }
    }

    /// What `la` reports about a resistor; null if there is none.
    fn pull(&self, la: u8, now_ns: u64) -> Value {
        let Some(ohms) = OHMS.get(index(la)) else {
            return Value::Null;
        };
        let on = self.pulls.at(now_ns) & bit(la) != 0;
        json!({"dir": direction(la), "ohms": ohms, "on": on})
    }

    /// Reply of the `la` command for one resistor.
    pub(crate) fn pull_report(&self, la: u8, now_ns: u64) -> Result<Value, Refuse> {
        let ohms = OHMS.get(index(la)).ok_or(Refuse::NoPull { la })?;
        let on = self.pulls.at(now_ns) & bit(la) != 0;
        Ok(
            json!({"la": la, "pullup": u8::from(on), "ohms": ohms, "pull": direction(la),
            "pullups_available": self.pulls_available()}),
        )
    }

    /// Reply of the `la` command for all resistors.
    pub(crate) fn pull_mask_report(&self, now_ns: u64) -> Value {
        json!({"la_pullup_mask": self.pulls.at(now_ns),
            "pullups_available": self.pulls_available()})
    }

    fn pulls_available(&self) -> u8 {
        u8::from(self.bank_mv == PULL_BANK_MV)
    }

    /// The pin-table entry of a channel.
    pub(crate) fn entry(&self, la: u8, now_ns: u64) -> Value {
        let owner = self.owner(la);
        let (mode, level) = match owner {
            Owner::Gpio { mode, level } => {
                let commanded = (mode != Mode::Input).then_some(u8::from(level));
                (Some(mode.name()), commanded)
            }
            _ => (None, None),
        };
        json!({"la": la, "function": owner.function(), "gpio": mode, "level": level,
            "pull": self.pull(la, now_ns)})
    }
}

fn direction(la: u8) -> &'static str {
    if bit(la) & PULL_UP_MASK != 0 {
        "up"
    } else {
        "down"
    }
}
