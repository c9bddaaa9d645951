//! A decoding by a child.

use crate::error::SigrokError;
use crate::feed::{Feed, Got, Input};
use crate::lines::{Lines, NotUnderstood};
use crate::program::Sigrok;
use crate::stack::Stack;
use decode::foreign::{Ends, Foreign, ForeignDecoding, ForeignError, Input as Shape, Setup};
use decode::{Annotation, Decoder as Description};
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Channels of the samples that the child reads: the bits of a byte.
const CHANNELS: usize = 8;

/// At this level its lines have the class of each annotation.
const LOG_LEVEL: &str = "4";

/// How often a decoding that finds nothing is asked whether to go on.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A stack of decoders as the one decoder that it is for the rest of hostd.
#[derive(Debug)]
pub(crate) struct Decoder {
    stack: Stack,
    description: Arc<Description>,
    title: String,
}

impl Decoder {
    pub(crate) fn new(stack: Stack, description: Description) -> Self {
        let title = format!("decoder {} of sigrok-cli", description.id);
        Self {
            stack,
            description: Arc::new(description),
            title,
        }
    }
}

impl Foreign for Decoder {
    fn decoder(&self) -> &Arc<Description> {
        &self.description
    }

    fn input(&self) -> Shape {
        Shape::Samples
    }

    fn ends(&self) -> Ends {
        Ends::Anywhere
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn begin(&self, setup: &Setup<'_>) -> Result<Box<dyn ForeignDecoding>, ForeignError> {
        let roles = self.description.channels.iter().zip(&setup.connected);
        let channels = roles.enumerate().filter(|(_, (_, connected))| **connected);
        let channels: Vec<(String, usize)> = channels
            .map(|(index, (role, _))| (role.id.clone(), index))
            .collect();
        let decoders = self.stack.argument(&channels, setup.options)?;
        let rate = setup.sample_rate_hz.round().max(1.0);
        let samples = format!("binary:numchannels={CHANNELS}:samplerate={rate:.0}");
        let arguments = [
            "-l",
            LOG_LEVEL,
            "-I",
            &samples,
            "-i",
            "-",
            "-P",
            &decoders,
            "-A",
            &self.stack.top().id,
            "--protocol-decoder-samplenum",
        ];
        let lines = Lines::new(self.stack.classes());
        let running = Running::start(
            self.stack.sigrok().clone(),
            arguments.iter().map(OsString::from).collect(),
            lines,
        )?;
        Ok(Box::new(running))
    }
}

/// A child, and the thread that talks to it. Dropping it ends both.
struct Running {
    feed: Arc<Feed>,
    lines: Arc<Mutex<Lines>>,
    has_begun: bool,
    cancel: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(
        sigrok: Arc<Sigrok>,
        arguments: Vec<OsString>,
        lines: Lines,
    ) -> Result<Self, SigrokError> {
        let failed = |error: io::Error| SigrokError::Failed(format!("start it: {error}"));
        let (cancelled, cancel) = io::pipe().map_err(failed)?;
        let feed = Arc::new(Feed::default());
        let lines = Arc::new(Mutex::new(lines));
        let (shared, read) = (feed.clone(), lines.clone());
        let thread = thread::Builder::new().name("sigrok".to_owned());
        let thread = thread.spawn(move || {
            let mut ending = Ending::new(&shared);
            ending.with = talk(&sigrok, arguments, &shared, &read, &cancelled);
        });
        Ok(Self {
            feed,
            lines,
            has_begun: false,
            cancel: Some(cancel),
            thread: Some(thread.map_err(failed)?),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.feed.leave();
        // The other end is looked at as long as the child runs.
        self.cancel = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Says at the end of a thread how it went, also when it panics: what waits for it would wait for ever.
struct Ending<'f> {
    feed: &'f Feed,
    with: Result<(), SigrokError>,
}

impl<'f> Ending<'f> {
    fn new(feed: &'f Feed) -> Self {
        let panicked = SigrokError::Failed("what reads its output panicked".to_owned());
        Self {
            feed,
            with: Err(panicked),
        }
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.feed.end(std::mem::replace(&mut self.with, Ok(())));
    }
}

fn talk(
    sigrok: &Sigrok,
    arguments: Vec<OsString>,
    feed: &Arc<Feed>,
    lines: &Mutex<Lines>,
    cancelled: &PipeReader,
) -> Result<(), SigrokError> {
    let mut found = Vec::new();
    let mut trouble = None;
    let mut output = |piece: &[u8]| {
        trouble = locked(lines).push(piece, &mut found).err();
        match trouble.is_none() && feed.found(&mut found) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    let mut input = Input::new(feed.clone());
    let ran = sigrok.run(arguments, &mut input, &mut output, cancelled);
    if let Some(NotUnderstood(line)) = trouble {
        return Err(not_understood(&line));
    }
    ran?;
    let rest = locked(lines).finish(&mut found);
    rest.map_err(|NotUnderstood(line)| not_understood(&line))?;
    feed.found(&mut found);
    Ok(())
}

fn locked(lines: &Mutex<Lines>) -> std::sync::MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_understood(line: &str) -> SigrokError {
    let line: String = line.chars().filter(|letter| !letter.is_control()).collect();
    SigrokError::Failed(format!(
        "what it prints is not understood (`{line}`); versions 0.7.x are"
    ))
}

impl ForeignDecoding for Running {
    fn changes(&mut self, _: &[u32]) -> Result<Vec<Annotation>, ForeignError> {
        unreachable!("it takes samples")
    }

    fn samples(&mut self, start: u64, data: &[u8]) -> Result<Vec<Annotation>, ForeignError> {
        if !self.has_begun {
            // The child counts from the first sample that it gets.
            locked(&self.lines).begin_at(start);
            self.has_begun = true;
        }
        match self.feed.push(data.to_vec()) {
            Got::Found(found) => Ok(found),
            Got::Ended(Err(error)) => Err(error.into()),
            Got::Ended(Ok(())) => {
                let early = "it ended before it had all samples".to_owned();
                Err(SigrokError::Failed(early).into())
            }
        }
    }

    fn finish(&mut self, _: u64) -> Result<Vec<Annotation>, ForeignError> {
        self.feed.close();
        Ok(Vec::new())
    }

    fn rest(&mut self) -> Result<Option<Vec<Annotation>>, ForeignError> {
        match self.feed.take(LOOK_EVERY) {
            Got::Found(found) => Ok(Some(found)),
            Got::Ended(Ok(())) => Ok(None),
            Got::Ended(Err(error)) => Err(error.into()),
        }
    }
}
