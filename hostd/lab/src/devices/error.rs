//! Why a device cannot be attached or changed.

use store::StoreError;
use store::devices::DeviceWriteError;

/// Longest device name.
pub const NAME_BYTES_MAX: usize = 64;

/// Why a device cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("there is no such device")]
    NotFound,
    #[error("the name {0} is taken")]
    NameTaken(String),
    #[error("its pod belongs to the device {0} now; remove that first")]
    PodTaken(String),
    #[error("this pod cannot be registered here")]
    Foreign,
    #[error(
        "that is no public key: it is 43 characters, which the pod command identity_public tells"
    )]
    BadKey,
    #[error("{0} pods are registered; remove one that nobody needs")]
    TooMany(usize),
    #[error("a name is 1 to {NAME_BYTES_MAX} of A-Z a-z 0-9 . _ -")]
    BadName,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a device cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("device {name}")]
    Address {
        name: String,
        #[source]
        source: pods::AddressError,
    },
    #[error("device {name}")]
    Record {
        name: String,
        #[source]
        source: DeviceError,
    },
}

/// The rule for device names: they appear in URLs, headers and command lines.
///
/// # Errors
/// It breaks the rule, [`DeviceError::BadName`].
pub fn check_name(name: &str) -> Result<(), DeviceError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(plain) {
        return Ok(());
    }
    Err(DeviceError::BadName)
}

pub(super) fn write_error(error: DeviceWriteError, name: &str) -> DeviceError {
    match error {
        DeviceWriteError::NameTaken => DeviceError::NameTaken(name.to_owned()),
        DeviceWriteError::Store(e) => e.into(),
    }
}
