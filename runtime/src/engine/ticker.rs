//! The engines' clock: one thread for all of them.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use wasmtime::EngineWeak;

/// Time between checks of a running guest's limits.
pub const TICK_MS: u64 = 10;

/// Runs until its last clone is dropped.
#[derive(Clone)]
pub(super) struct Ticker {
    engines: mpsc::Sender<EngineWeak>,
}

impl Ticker {
    pub(super) fn start() -> std::io::Result<Self> {
        let (engines, added) = mpsc::channel::<EngineWeak>();
        thread::Builder::new()
            .name("wasm-ticker".to_owned())
            .spawn(move || {
                let tick = Duration::from_millis(TICK_MS);
                let mut ticking: Vec<EngineWeak> = Vec::new();
                loop {
                    match added.recv_timeout(tick) {
                        Ok(engine) => ticking.push(engine),
                        Err(RecvTimeoutError::Timeout) => ticking.retain(increment),
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            })?;
        Ok(Self { engines })
    }

    pub(super) fn add(&self, engine: &wasmtime::Engine) {
        let added = self.engines.send(engine.weak());
        added.expect("the thread runs while there is a sender");
    }
}

/// False once the engine is gone.
fn increment(engine: &EngineWeak) -> bool {
    let engine = engine.upgrade();
    if let Some(engine) = &engine {
        engine.increment_epoch();
    }
    engine.is_some()
}
