//! The child: one request and one board in, frames out.

use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use emi::Observer;
use store::emi::runs::Progress;

use crate::compute;
use crate::runner::failure;
use crate::solver::FILE_BYTES_MAX;
use crate::wire::{self, Frames};

/// Serves the one run that `input` asks for, and says on `output` what came of it. The process must not be able to do
/// anything but compute by then.
///
/// # Errors
/// What is read or written is cut, so that nobody is there to tell.
pub fn serve(input: &mut dyn Read, output: &mut (dyn Write + Send)) -> io::Result<()> {
    let request = wire::read_request(input)?;
    let most = request.file_bytes_max as u64;
    let mut probes = Vec::new();
    for length in &request.probes {
        let mut probe = vec![0; (*length).min(FILE_BYTES_MAX)];
        input.read_exact(&mut probe)?;
        probes.push(probe);
    }
    let mut board = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut board)?;
    let frames = Speaker(Mutex::new(Spoken {
        frames: Frames::new(output),
        progress: Progress::default(),
    }));
    if board.len() as u64 > most {
        let message = format!("The board has more than {most} bytes.");
        return frames.lock().frames.refused(&failure("refused", message));
    }
    let made = compute::compute(&request, &probes, &board, &frames);
    let frames = &mut frames.lock().frames;
    match made {
        Ok(made) => {
            for artifact in &made.artifacts {
                frames.artifact(artifact)?;
            }
            frames.done(&made.product)
        }
        Err(failure) => frames.refused(&failure),
    }
}

/// Tells how far it is. Called from many threads.
struct Speaker<W>(Mutex<Spoken<W>>);

struct Spoken<W> {
    frames: Frames<W>,
    /// What was told last.
    progress: Progress,
}

/// The part of a run that reading the board takes, in percent, and the part before the report is made.
const READ: u8 = 10;
const CHECKED: u8 = 90;

impl<W: Write> Speaker<W> {
    fn lock(&self) -> MutexGuard<'_, Spoken<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> Spoken<W> {
    fn tell(&mut self) {
        // Whoever does not listen ends this process.
        let _ = self.frames.progress(&self.progress);
    }
}

impl<W: Write + Send> Observer for Speaker<W> {
    fn stage(&self, name: &'static str) {
        let mut spoken = self.lock();
        name.clone_into(&mut spoken.progress.stage);
        spoken.tell();
    }

    fn progress(&self, percent: u8) {
        let checked = u32::from(percent.min(100)) * u32::from(CHECKED - READ) / 100;
        let mut spoken = self.lock();
        spoken.progress.pct = READ + u8::try_from(checked).unwrap_or(0);
        spoken.tell();
    }
}
