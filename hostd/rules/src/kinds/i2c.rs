//! `i2c`: an address is answered, or is not.

use decode::Value;
use pipeline::rules::{I2c, When};

use super::bytes::{Bus, decode};
use crate::evaluate::{Fault, Scene};
use crate::report::{Margin, Place, Sight, Wrong};
use crate::words::{counted, quantity};

/// Counts how an address is answered.
struct Answers {
    address: u64,
    wanted: bool,
    bus: Bus,
    /// Where it was addressed, until the answer comes.
    open: Option<u64>,
    judged: u64,
    right: u64,
    /// Other addresses were seen.
    others: u64,
    shown: [Option<Place>; 2],
    wrong: Wrong,
}

impl Answers {
    fn take(&mut self, class: &str, value: &Value, (start, end): (u64, u64)) {
        match (class, value) {
            ("address-read" | "address-write", Value::Number(address)) => {
                let is_it = *address == self.address && self.bus.has(start);
                self.others += u64::from(*address != self.address);
                self.open = is_it.then_some(start);
            }
            ("ack" | "nack", _) => {
                let Some(from) = self.open.take().filter(|_| self.bus.has(start)) else {
                    return;
                };
                let is_right = (class == "ack") == self.wanted;
                let place = || self.bus.place(from, end);
                self.judged += 1;
                self.right += u64::from(is_right);
                self.shown[usize::from(!is_right)].get_or_insert_with(place);
                if !is_right {
                    self.wrong.add(place);
                }
            }
            ("start" | "repeat-start" | "stop", _) => self.open = None,
            _ => {}
        }
    }

    fn told(self, when: When, lanes: Vec<String>) -> Sight {
        if self.judged == 0 {
            let others = counted(self.others, "other address", "other addresses");
            return Sight {
                seen: format!("it is not addressed; there is {others}"),
                place: Some(self.bus.whole()),
                lanes,
                ..Sight::default()
            };
        }
        let passed = match when {
            When::Always => self.right == self.judged,
            When::Once => self.right > 0,
        };
        let answered = if self.wanted {
            self.right
        } else {
            self.judged - self.right
        };
        let times = counted(self.judged, "time", "times");
        let [right, wrong] = self.shown;
        let place = if passed { right } else { wrong };
        let at = place.as_ref().map_or(0.0, |place| place.from_s);
        let mut seen = format!("addressed {times}, answered {answered}");
        if !passed {
            seen += &format!("; first at {}", quantity(at, "s"));
        }
        let value = match (passed, when) {
            (true, When::Once) => self.right - 1,
            (true, When::Always) => 0,
            (false, _) => self.judged - self.right,
        };
        let sign = if passed { 1.0 } else { -1.0 };
        Sight {
            passed,
            seen,
            place,
            margin: Some(Margin {
                value: sign * value as f64,
                unit: "count",
            }),
            wrong: if passed { Wrong::default() } else { self.wrong },
            lanes,
            ..Sight::default()
        }
    }
}

pub(super) fn sight(scene: &Scene<'_>, rule: &I2c) -> Result<Sight, Fault> {
    let (scl, sda) = (scene.lane(&rule.scl)?, scene.lane(&rule.sda)?);
    let channels = [("scl", scl.name), ("sda", sda.name)];
    let lanes = vec![scl.name.to_owned(), sda.name.to_owned()];
    let mut answers = Answers {
        address: rule.address().into(),
        wanted: rule.answered,
        bus: Bus::new(sda.name, sda.range),
        open: None,
        judged: 0,
        right: 0,
        others: 0,
        shown: [None, None],
        wrong: Wrong::default(),
    };
    let end = sda.range.to;
    decode(scene, "i2c", &channels, &[], &mut |class, note| {
        answers.take(class, &note.value, (note.start, note.end));
        note.start < end
    })?;
    Ok(answers.told(rule.when, lanes))
}
