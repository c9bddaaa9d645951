//! What a server's configuration allows, and what a pipeline gets that says nothing.

/// What a server's configuration allows a pipeline to ask for. [`parse`](crate::parse) refuses what is
/// more; what a pipeline leaves open has the format's default or the cap, whichever is lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Wait for a device, in milliseconds.
    pub queue_ms: u64,
    /// One run of a build, in milliseconds.
    pub build_ms: u64,
    /// One `flash` step, in milliseconds.
    pub flash_ms: u64,
    /// One run of a bench, in milliseconds.
    pub test_ms: u64,
    /// The whole job from its first run on, in milliseconds.
    pub job_ms: u64,
    /// Memory of one run, in bytes.
    pub memory_bytes: u64,
    /// Processes of one run.
    pub processes: u64,
    /// Files of one run, in bytes.
    pub disk_bytes: u64,
    /// Log of one run, in bytes.
    pub log_bytes: u64,
    /// Repetitions after an infrastructure failure.
    pub infra_retries: u64,
}

/// What a pipeline gets that says nothing.
pub(crate) const DEFAULTS: Caps = Caps {
    queue_ms: 30 * MINUTE_MS,
    build_ms: 10 * MINUTE_MS,
    flash_ms: 2 * MINUTE_MS,
    test_ms: 10 * MINUTE_MS,
    job_ms: 60 * MINUTE_MS,
    memory_bytes: 1 << 30,
    processes: 256,
    disk_bytes: 2 << 30,
    log_bytes: 64 << 20,
    infra_retries: 1,
};

const MINUTE_MS: u64 = 60_000;

impl Caps {
    /// For whoever reads a pipeline for a server whose caps are not known.
    pub const UNLIMITED: Self = Self {
        queue_ms: u64::MAX,
        build_ms: u64::MAX,
        flash_ms: u64::MAX,
        test_ms: u64::MAX,
        job_ms: u64::MAX,
        memory_bytes: u64::MAX,
        processes: u64::MAX,
        disk_bytes: u64::MAX,
        log_bytes: u64::MAX,
        infra_retries: u64::MAX,
    };
}

impl Default for Caps {
    /// What a server allows that configures nothing.
    fn default() -> Self {
        Self {
            queue_ms: 24 * 60 * MINUTE_MS,
            build_ms: 60 * MINUTE_MS,
            flash_ms: 10 * MINUTE_MS,
            test_ms: 60 * MINUTE_MS,
            job_ms: 6 * 60 * MINUTE_MS,
            memory_bytes: 4 << 30,
            processes: 1024,
            disk_bytes: 8 << 30,
            log_bytes: 256 << 20,
            infra_retries: 3,
        }
    }
}

impl Caps {
    /// A time of a run or step as these caps leave it.
    pub(crate) fn step_ms(&self, ms: u64, is_build: bool, is_flash: bool) -> u64 {
        let cap = if is_build {
            self.build_ms
        } else {
            self.test_ms
        };
        ms.min(if is_flash {
            cap.min(self.flash_ms)
        } else {
            cap
        })
    }
}
