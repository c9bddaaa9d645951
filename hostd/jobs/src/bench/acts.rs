//! What each action of a step does.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pipeline::Decoder;
use pipeline::plan::{Action, Assertion, Capture, Decode, Flash, Step, Uart};

use super::assert::Count;
use super::course::{Course, find};
use super::decoded::Decoded;
use super::line::{Hearing, Line, Over};
use super::{Decoding, Found};
use crate::attempt::Stop;
use crate::judge::{failed, text_judged};
use crate::outcome::{Failure, Outcome};
use crate::results::{CaptureEnd, StepEnd};
use crate::step::Deadline;

/// Characters that are told of what came instead of what was expected.
const SEEN_CHARS: usize = 200;

impl<'s> Course<'s, '_> {
    /// Does the step with this index. It has passed unless `end` or the error says otherwise.
    pub(super) fn act(&mut self, index: usize, own: Deadline, end: &mut StepEnd) -> Stop<()> {
        let step = self.steps[index];
        let cancel = self.attempt.cancel;
        let until = own.until(cancel);
        let bench = self.bench;
        match &step.action {
            Action::Run { .. } | Action::Pytest { .. } => {
                self.close_line();
                let attempt = self.attempt;
                let scene = attempt.scene(self.relay);
                self.judge.step(&attempt, &scene, index, own, end);
                Ok(())
            }
            Action::Power(power) => {
                self.listen_ahead(index, &until);
                let done = bench.power(power, &until, &mut || self.forget());
                done.map_err(|error| error.outcome(own))
            }
            Action::Reset { pulse_ms } => {
                self.listen_ahead(index, &until);
                let pulse = Duration::from_millis(*pulse_ms);
                let done = bench.reset(pulse, &until, &mut || self.forget());
                done.map_err(|error| error.outcome(own))
            }
            Action::Flash(flash) => self.flash(index, flash, own),
            Action::Uart(uart) => self.uart(index, (step, uart), own, end),
            Action::Capture(capture) => self.capture(index, step, capture, own, end),
            Action::Assert { on, that } => self.assert(index, (on, that), own, end),
            Action::Measure(measure) => self.measure(measure, own, end),
            Action::Decode(decode) => self.decode(index, decode, own, end),
            Action::Replay(replay) => {
                let done = bench.replay(replay, &until);
                done.map_err(|error| error.outcome(own))
            }
            Action::Wait { ms } => {
                let at = Instant::now() + Duration::from_millis(*ms);
                if cancel.wait_until(at.min(own.at)) {
                    return Err(Outcome::Cancelled);
                }
                if own.at < at {
                    Err(own.passed())
                } else {
                    Ok(())
                }
            }
        }
    }

    /// What the target said before it began anew is no answer to a later step.
    fn forget(&self) {
        if let Some(line) = &self.line {
            line.forget();
        }
    }

    fn flash(&mut self, index: usize, flash: &Flash, own: Deadline) -> Stop<()> {
        let until = own.until(self.attempt.cancel);
        let file = find(&self.attempt, &flash.artifact.run, &flash.artifact.name)?;
        self.listen_ahead(index, &until);
        let flashed = self
            .bench
            .flash(&file, flash, &until, &mut || self.forget())
            .map_err(|error| error.outcome(own))?;
        let verified = if flash.verify {
            "and read back"
        } else {
            "and not read back"
        };
        self.attempt.log.note(&format!(
            "{} bytes written to {} {verified} in {:.1?}",
            flashed.bytes, flashed.chip, flashed.time
        ));
        for place in &flashed.places {
            self.attempt.log.note(place);
        }
        Ok(())
    }

    fn uart(
        &mut self,
        index: usize,
        (step, uart): (&'s Step, &'s Uart),
        own: Deadline,
        end: &mut StepEnd,
    ) -> Stop<()> {
        let until = own.until(self.attempt.cancel);
        let mut texts = self.judge.texts_about(step);
        texts.extend(uart.expect.as_deref());
        let wanted = uart.until.as_deref().or(uart.expect.as_deref());
        let hearing = Hearing::new(wanted, &texts, own.at, self.attempt.grounds.secrets);
        let log = self.attempt.log;
        let line = self
            .open_line(uart, &until)
            .map_err(|error| error.outcome(own))?;
        log.note(&format!("the serial line: {}", line.what()));
        if let Some(text) = &uart.send {
            line.send(text, &until)
                .map_err(|error| error.outcome(own))?;
        }
        if step.background {
            line.hear_beside(index, hearing);
            self.beside.push(index);
            return Ok(());
        }
        if wanted.is_none() {
            return Ok(());
        }
        let heard = line.hear(hearing, &until);
        let (outcome, tail) = self.heard(step, uart, own, heard);
        end.tail = tail;
        outcome
    }

    /// What came of reading for a step, and the end of what it read.
    fn heard(
        &mut self,
        step: &'s Step,
        uart: &'s Uart,
        own: Deadline,
        (hearing, over): (Hearing<'s>, Over),
    ) -> (Stop<()>, String) {
        let texts = hearing.texts();
        let lacks = |wanted: &&String| {
            let has = |(text, is_found): &(&str, bool)| *text == wanted.as_str() && *is_found;
            !texts.iter().any(has)
        };
        let lacking = uart.expect.as_ref().filter(lacks).cloned();
        self.judge.note(step, None, texts);
        self.mark_found(&hearing);
        let tail = hearing.tail();
        let outcome = match (over, lacking) {
            (Over::Failed(error), _) => error.outcome(own),
            (_, Some(text)) => {
                let seen = tail.chars().rev().take(SEEN_CHARS).collect::<Vec<_>>();
                let seen = seen.into_iter().rev().collect();
                let line = self.line.as_ref().map(Line::what);
                Outcome::Failed(Failure::Expect(text, seen, line.unwrap_or_default()))
            }
            (Over::Time, None) if own.at <= Instant::now() && !own.is_step() => own.passed(),
            _ => return (Ok(()), tail),
        };
        (Err(outcome), tail)
    }

    /// Marks in the timeline what a step found on the line.
    fn mark_found(&self, hearing: &Hearing<'_>) {
        for (text, at) in hearing.found() {
            self.attempt.log.mark(*at, format!("found {text:?}"));
        }
    }

    /// Ends a step that read in the background. One that expects something is waited for, if nothing has failed.
    pub(super) fn finish_uart(&mut self, index: usize, may_wait: bool) -> Stop<()> {
        let step = self.steps[index];
        let (Action::Uart(uart), Some(line)) = (&step.action, &self.line) else {
            return Ok(());
        };
        // It has its own time, which has been going on.
        let mut own = Deadline::of(crate::Clock::Step, Duration::from_millis(step.timeout_ms));
        if !may_wait || uart.expect.is_none() {
            own.at = Instant::now();
        }
        let until = own.until(self.attempt.cancel);
        match line.finish(index, &until) {
            Some(heard) if may_wait && uart.expect.is_some() => {
                self.heard(step, uart, own, heard).0
            }
            Some((hearing, _)) => {
                self.mark_found(&hearing);
                self.judge.note(step, None, hearing.texts());
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn capture(
        &mut self,
        index: usize,
        step: &'s Step,
        capture: &'s Capture,
        own: Deadline,
        end: &mut StepEnd,
    ) -> Stop<()> {
        let attempt = self.attempt;
        self.recordings.start(
            self.bench,
            (index, step, capture),
            own,
            attempt.task.begun,
            attempt.cancel,
        )?;
        if !step.background {
            let (_, kept) = self.collect(index, own)?;
            end.captures.push(kept);
        }
        Ok(())
    }

    /// Waits for a step's capture.
    pub(super) fn collect(
        &mut self,
        index: usize,
        deadline: Deadline,
    ) -> Stop<(&'s Capture, CaptureEnd)> {
        let attempt = self.attempt;
        let begun = attempt.task.begun;
        let is_new = self.recordings.running().contains(&index);
        let kept = self
            .recordings
            .collect(index, deadline, begun, attempt.cancel)?;
        if is_new {
            for warning in &kept.1.warnings {
                attempt.log.note(&format!("{}: {warning}", kept.1.name));
            }
        }
        Ok(kept)
    }

    fn assert(
        &mut self,
        index: usize,
        (on, that): (&'s str, &'s Assertion),
        own: Deadline,
        end: &mut StepEnd,
    ) -> Stop<()> {
        let target = self.steps[..index]
            .iter()
            .position(|step| step.id.as_deref() == Some(on));
        let outcome = match (that, target) {
            (Assertion::Text(text), Some(target)) if self.beside.contains(&target) => {
                let until = own.until(self.attempt.cancel);
                let line = self.line.as_ref();
                let has_come = line.is_some_and(|line| line.wait_for_text(target, text, &until));
                if self.attempt.cancel.is_set() {
                    return Err(Outcome::Cancelled);
                }
                text_judged(on, text, has_come)
            }
            (Assertion::Bus { .. }, Some(target)) => self.bus(target, that, own, end)?,
            (Assertion::Rules(_) | Assertion::RuleFile(_), Some(_)) => {
                return self.rules(index, (on, that), own, end);
            }
            _ => self.judge.assertion(&self.steps[index].action),
        };
        if outcome.has_passed() {
            Ok(())
        } else {
            Err(outcome)
        }
    }

    /// Judges the traffic that a capture has, or that a step decodes of one.
    fn bus(
        &mut self,
        target: usize,
        that: &'s Assertion,
        own: Deadline,
        end: &mut StepEnd,
    ) -> Stop<Outcome> {
        let step = self.steps[target];
        let same = ["scl", "sda"].map(|role| (role.to_owned(), role.to_owned()));
        let (on, channels) = match &step.action {
            Action::Decode(decode) => (decode.on.clone(), decode.channels.clone()),
            _ => (step.id.clone().unwrap_or_default(), BTreeMap::from(same)),
        };
        let bus = Decode {
            on,
            decoder: Decoder::I2c,
            channels,
            options: BTreeMap::new(),
            annotations: Vec::new(),
        };
        let mut count = Count::new(that);
        self.decode_capture(&bus, own, end, &mut |found| {
            if let Found::Transfer(transfer) = found {
                count.take(transfer);
            }
        })?;
        Ok(count.judged(&bus.on))
    }

    fn decode(
        &mut self,
        index: usize,
        decode: &'s Decode,
        own: Deadline,
        end: &mut StepEnd,
    ) -> Stop<()> {
        let most = self.attempt.limits().disk_bytes;
        let id = self.steps[index].id.clone();
        let name = id.unwrap_or_else(|| format!("step-{}", index + 1));
        let folder = self.attempt.task.artifacts();
        let mut decoded = Decoded::create(&folder, &format!("decoded/{name}.txt"), most)?;
        let outcome = self.decode_capture(decode, own, end, &mut |found| {
            if let Found::Line(line) = found {
                decoded.push(&line);
            }
        });
        let finished = decoded.finish();
        // What came before an error may show why; that there is nothing shows nothing.
        if let Ok((artifact, lines)) = &finished
            && (outcome.is_ok() || *lines > 0)
        {
            let log = self.attempt.log;
            log.note(&format!("{lines} lines, as the artifact {}", artifact.name));
            self.artifacts.push(artifact.clone());
        }
        outcome.and(finished.map(drop))
    }

    /// Decodes the capture of a step, once it is there.
    fn decode_capture(
        &mut self,
        decode: &Decode,
        own: Deadline,
        end: &mut StepEnd,
        found: &mut dyn FnMut(Found),
    ) -> Stop<()> {
        let Some(index) = self.recordings.find(&decode.on) else {
            return Err(failed(
                format!("the capture {}", decode.on),
                "it was not made".to_owned(),
            ));
        };
        let (capture, kept) = self.collect(index, own)?;
        let id = kept.id.clone();
        end.captures.push(kept);
        let decoding = Decoding {
            decoder: &decode.decoder,
            capture,
            channels: &channels_of(&decode.decoder, &decode.channels, capture),
            options: &decode.options,
            annotations: &decode.annotations,
        };
        let until = own.until(self.attempt.cancel);
        let decoded = self.bench.decode(&id, &decoding, &until, found);
        decoded.map_err(|error| error.outcome(own))
    }
}

/// Channels of the logic analyzer by the decoder's roles.
fn channels_of(
    decoder: &Decoder,
    given: &BTreeMap<String, String>,
    capture: &Capture,
) -> BTreeMap<String, u64> {
    let given = given.iter();
    let given = given.map(|(role, name)| (role.as_str(), name.as_str()));
    let names = decoder.channels(given, |name| capture.channels.contains_key(name));
    let names = names.into_iter();
    let numbers = names.filter_map(|(role, name)| Some((role, *capture.channels.get(&name)?)));
    numbers.collect()
}
