//! What the server gives an attempt to reach its device with. The driver knows devices by what they can do; how steps
//! drive one is somebody else's.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;

use evidence::redact::Words;
use lab::devices::Device;
use pipeline::Capabilities;

/// Who drives which device, and by what right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The job.
    pub job: String,
    /// The run.
    pub run: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// Organisation of the device and of the user.
    pub org: String,
    /// The user who submitted the job.
    pub user: String,
    /// Id of the device.
    pub device: String,
    /// The lease under which the attempt has it.
    pub lease_id: String,
    /// Who the lease belongs to.
    pub lease_owner: String,
}

/// What a device can do, once that is known.
pub type Looking<'a> = Pin<Box<dyn Future<Output = Capabilities> + Send + 'a>>;

/// A device for the steps of one attempt.
pub struct Opened {
    /// Does what steps ask for.
    pub bench: Box<dyn jobs::Bench>,
    /// What else was made for the attempt, which ends when this is dropped.
    pub guard: Box<dyn Send>,
    /// What must not be seen in its log, by name.
    pub secrets: BTreeMap<String, String>,
    /// What must not be seen either, and comes up while the attempt goes on.
    pub words: Words,
}

/// Makes benches for attempts.
pub trait Benches: Send + Sync {
    /// What a device can do, for matching.
    fn capabilities<'a>(&'a self, device: &'a Device) -> Looking<'a>;

    /// A device for the steps of an attempt, which holds its lease. Called on a thread that may block.
    ///
    /// # Errors
    /// The server cannot make it.
    fn bench(&self, grant: &Grant) -> io::Result<Opened>;
}
