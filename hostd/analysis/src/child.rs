//! The child: one order and one board in, frames out.

use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use emi::Observer;
use store::emi::runs::Progress;

use crate::compute;
use crate::runner::failure;
use crate::wire::{self, Frames};

/// Serves the one run that `input` orders, and says on `output` what came of it. The process must not be able to do
/// anything but compute by then.
///
/// # Errors
/// What is read or written is cut, so that nobody is there to tell.
pub fn serve(input: &mut dyn Read, output: &mut (dyn Write + Send)) -> io::Result<()> {
    let order = wire::read_order(input)?;
    let most = order.file_bytes_max as u64;
    let mut board = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut board)?;
    let frames = Speaker {
        frames: Mutex::new(Frames::new(output)),
    };
    if board.len() as u64 > most {
        let message = format!("The board has more than {most} bytes.");
        return frames.lock().refused(&failure("refused", message));
    }
    let made = compute::compute(&order, board, &frames);
    let mut frames = frames.lock();
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

/// Tells how far it is.
struct Speaker<W> {
    frames: Mutex<Frames<W>>,
}

impl<W: Write> Speaker<W> {
    fn lock(&self) -> MutexGuard<'_, Frames<W>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stages in their order, and the part of the work that is done when each begins, in percent.
const STAGES: [(&str, u8); 6] = [
    ("read", 0),
    ("nets", 30),
    ("copper", 35),
    ("emission", 50),
    ("rules", 60),
    ("report", 90),
];

impl<W: Write + Send> Observer for Speaker<W> {
    fn stage(&self, name: &'static str) {
        let known = STAGES.iter().find(|(stage, _)| *stage == name);
        let progress = Progress {
            stage: name.to_owned(),
            pct: known.map_or(0, |(_, pct)| *pct),
            message: String::new(),
        };
        // Whoever does not listen ends this process.
        let _ = self.lock().progress(&progress);
    }
}
