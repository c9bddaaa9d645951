//! The arguments of `sigrok-cli` for a capture. Each is one word of its own, and none begins with anything that is not
//! written here.

use pod_protocol::capture::{Condition, Edge, Trigger};

use super::driver::Driver;
use super::shown::Shown;
use crate::error::AcquireError;
use crate::instrument::{Facts, Request};

/// How a capture of levels is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// As many samples as are asked for, at once.
    AtOnce,
    /// Samples without an end, in which the trigger is looked for.
    Searched,
    /// The instrument waits by itself for this, as `sigrok-cli` writes it.
    Waiting(String),
}

impl Mode {
    /// The way for this request: where an instrument can sample without an end, the trigger is looked for, which is exact
    /// and the same for all of them.
    pub(super) fn of(
        request: &Request,
        shown: &Shown,
        facts: &Facts,
    ) -> Result<Self, AcquireError> {
        let Some(trigger) = request.trigger else {
            return Ok(Self::AtOnce);
        };
        if shown.is_continuous {
            return Ok(Self::Searched);
        }
        if trigger.pre_samples > 0 || !matches!(trigger.condition, Condition::Edge { .. }) {
            return Err(AcquireError::OwnTrigger {
                model: shown.model.clone(),
            });
        }
        let waiting = waiting(trigger, shown, facts);
        waiting.map(Self::Waiting).ok_or(AcquireError::NoTrigger {
            model: shown.model.clone(),
        })
    }

    /// The same for levels with an analog input beside them. Instruments that wait by themselves give no analog samples
    /// then (the driver `demo`) or do not tell which of them was the first.
    pub(super) fn of_both(request: &Request, shown: &Shown) -> Result<Self, AcquireError> {
        match request.trigger {
            None => Ok(Self::AtOnce),
            Some(_) if shown.is_continuous => Ok(Self::Searched),
            Some(_) => Err(AcquireError::NoTriggerForBoth {
                model: shown.model.clone(),
            }),
        }
    }
}

fn waiting(trigger: Trigger, shown: &Shown, facts: &Facts) -> Option<String> {
    let Condition::Edge { channel, edge } = trigger.condition else {
        return None;
    };
    let letter = match edge {
        Edge::Rising => 'r',
        Edge::Falling => 'f',
        Edge::High => '1',
        Edge::Low => '0',
    };
    let name = facts.logic.get(usize::from(channel).checked_sub(1)?)?;
    shown
        .triggers
        .contains(letter)
        .then(|| format!("{name}={letter}"))
}

/// For levels of all logic channels.
pub(super) fn logic(
    driver: &Driver,
    shown: &Shown,
    mode: &Mode,
    samples: u64,
    rate_hz: u64,
) -> Vec<String> {
    let mut arguments = vec![
        format!("--driver={}", driver.text()),
        format!("--channels={}", shown.logic.join(",")),
        "--output-format=binary".to_owned(),
    ];
    let mut config = format!("--config=samplerate={rate_hz}");
    match mode {
        Mode::AtOnce => arguments.push(format!("--samples={samples}")),
        Mode::Searched => arguments.push("--continuous".to_owned()),
        Mode::Waiting(trigger) => {
            if shown.has_ratio {
                config.push_str(":captureratio=0");
            }
            arguments.extend([
                format!("--samples={samples}"),
                format!("--triggers={trigger}"),
                "--wait-trigger".to_owned(),
            ]);
        }
    }
    arguments.push(config);
    arguments
}

/// For one analog input.
pub(super) fn analog(
    driver: &Driver,
    shown: &Shown,
    input: &str,
    request: &Request,
    rate_hz: Option<u64>,
) -> Vec<String> {
    let mut arguments = vec![
        format!("--driver={}", driver.text()),
        format!("--channels={input}"),
        "--output-format=wav".to_owned(),
    ];
    arguments.push(amount(shown, request.samples));
    arguments.extend(rate_hz.map(|rate_hz| format!("--config=samplerate={rate_hz}")));
    arguments
}

/// For levels of all logic channels and one analog input.
pub(super) fn both(
    driver: &Driver,
    shown: &Shown,
    input: &str,
    mode: &Mode,
    samples: u64,
    rate_hz: Option<u64>,
) -> Vec<String> {
    let mut arguments = vec![
        format!("--driver={}", driver.text()),
        format!("--channels={},{input}", shown.logic.join(",")),
        "--output-format=ols".to_owned(),
    ];
    arguments.push(match mode {
        Mode::Searched => "--continuous".to_owned(),
        _ => amount(shown, samples),
    });
    arguments.extend(rate_hz.map(|rate_hz| format!("--config=samplerate={rate_hz}")));
    arguments
}

/// How much is sampled.
fn amount(shown: &Shown, samples: u64) -> String {
    match shown.has_frames && !shown.has_samples {
        true => "--frames=1".to_owned(),
        false => format!("--samples={samples}"),
    }
}

#[cfg(test)]
mod tests {
    use pod_protocol::AdcFit;

    use super::*;
    use crate::instrument::Input;
    use crate::rates::Rates;

    fn shown() -> Shown {
        Shown {
            model: "Test".into(),
            logic: vec!["D0".into(), "D1".into()],
            analog: vec!["CH1".into()],
            rates: Rates::Own,
            is_continuous: false,
            has_samples: true,
            has_frames: true,
            triggers: "01r".into(),
            has_ratio: true,
        }
    }

    fn facts(shown: &Shown) -> Facts {
        Facts {
            model: shown.model.clone(),
            // Wired the other way round.
            logic: vec!["D1".into(), "D0".into()],
            analog: shown.analog.clone(),
            fit: AdcFit {
                a_volts: 0.0,
                b_volts_per_count: 1.0,
                unwrap: false,
            },
            rates: Rates::Own,
            samples_max: 1_000,
            is_searched: shown.is_continuous,
        }
    }

    fn request(edge: Option<Edge>) -> Request {
        Request {
            input: Input::Logic,
            samples: 7,
            rate_hz: 1e6,
            trigger: edge.map(|edge| Trigger {
                condition: Condition::edge(1, edge),
                timeout_ms: 10,
                pre_samples: 0,
            }),
        }
    }

    #[test]
    fn a_trigger_is_looked_for_or_waited_for_or_refused() {
        let mut shown = shown();
        let facts = facts(&shown);
        let mode = |shown: &Shown, edge| Mode::of(&request(edge), shown, &facts);
        assert_eq!(mode(&shown, None).unwrap(), Mode::AtOnce);
        let waiting = mode(&shown, Some(Edge::Rising)).unwrap();
        assert_eq!(waiting, Mode::Waiting("D1=r".into()));
        let refused = mode(&shown, Some(Edge::Falling)).unwrap_err().to_string();
        assert!(refused.contains("leave the trigger out"), "{refused}");
        let mut before = request(Some(Edge::Rising));
        before.trigger.as_mut().unwrap().pre_samples = 3;
        let refused = Mode::of(&before, &shown, &facts).unwrap_err().to_string();
        assert!(refused.contains("without `pre_samples`"), "{refused}");
        shown.is_continuous = true;
        assert_eq!(Mode::of(&before, &shown, &facts).unwrap(), Mode::Searched);
        let searched = mode(&shown, Some(Edge::Falling)).unwrap();
        assert_eq!(searched, Mode::Searched);
        let both = |shown: &Shown, edge| Mode::of_both(&request(edge), shown);
        assert_eq!(both(&shown, Some(Edge::Low)).unwrap(), Mode::Searched);
        shown.is_continuous = false;
        assert_eq!(both(&shown, None).unwrap(), Mode::AtOnce);
        let refused = both(&shown, Some(Edge::Rising)).unwrap_err().to_string();
        assert!(
            refused.contains("capture logic channels alone"),
            "{refused}"
        );
    }

    #[test]
    fn every_word_is_an_option_of_ours() {
        let driver = Driver::parse("ols:conn=/dev/ttyACM0").unwrap();
        let mut shown = shown();
        let waiting = Mode::Waiting("D1=r".into());
        let words = logic(&driver, &shown, &waiting, 7, 20_000);
        let expected = "--driver=ols:conn=/dev/ttyACM0 --channels=D0,D1 --output-format=binary --samples=7 \
                        --triggers=D1=r --wait-trigger --config=samplerate=20000:captureratio=0";
        assert_eq!(words.join(" "), expected);
        let words = logic(&driver, &shown, &Mode::Searched, 7, 20_000);
        let expected = "--driver=ols:conn=/dev/ttyACM0 --channels=D0,D1 --output-format=binary --continuous \
                        --config=samplerate=20000";
        assert_eq!(words.join(" "), expected);
        let words = analog(&driver, &shown, "CH1", &request(None), Some(5));
        assert_eq!(
            words[1..].join(" "),
            "--channels=CH1 --output-format=wav --samples=7 --config=samplerate=5"
        );
        let words = both(&driver, &shown, "CH1", &Mode::AtOnce, 9, Some(5));
        assert_eq!(
            words[1..].join(" "),
            "--channels=D0,D1,CH1 --output-format=ols --samples=9 --config=samplerate=5"
        );
        let words = both(&driver, &shown, "CH1", &Mode::Searched, 9, None);
        assert_eq!(words[3..], ["--continuous"]);
        shown.has_samples = false;
        let words = analog(&driver, &shown, "CH1", &request(None), None);
        assert_eq!(
            words[1..].join(" "),
            "--channels=CH1 --output-format=wav --frames=1"
        );
    }
}
