//! Addresses of pods: each begins with the scheme of the driver that understands the rest.

use std::sync::Arc;

use crate::connection::Transport;

/// A way to reach pods, by the scheme in front of their address.
pub trait Driver: Sync {
    /// The scheme, without its colon: `sim`, `tcp`, `tls`.
    fn scheme(&self) -> &'static str;

    /// What the rest of the address looks like, for messages and documentation.
    fn address_form(&self) -> &'static str;

    /// Prepares a transport for `address` (what follows the scheme); does not connect yet.
    ///
    /// # Errors
    /// [`AddressError::Malformed`] when the address is not of [`address_form`](Self::address_form).
    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError>;
}

/// Why a pod address could not be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// No driver has this scheme.
    #[error("pod address `{address}` has no known scheme (known: {known})")]
    UnknownScheme {
        /// The address as given.
        address: String,
        /// The known schemes.
        known: String,
    },
    /// The driver does not understand the rest.
    #[error("pod address `{address}` is not of the form `{form}`")]
    Malformed {
        /// The address as given, without the scheme.
        address: String,
        /// The form that was expected.
        form: &'static str,
    },
    /// What the address stands for cannot be used.
    #[error("pod address `{address}` cannot be used: {reason}")]
    Unusable {
        /// The address as given.
        address: String,
        /// Why, as a sentence without its full stop.
        reason: String,
    },
}

/// Prepares a transport for an address such as `tcp:10.0.0.7:8080` or `sim:v3,seed=7`, with the
/// driver that has its scheme.
///
/// # Errors
/// [`AddressError`] for an unknown scheme or a malformed rest.
pub fn transport(
    drivers: &[&dyn Driver],
    address: &str,
) -> Result<Arc<dyn Transport>, AddressError> {
    let (scheme, rest) = parts(address);
    let driver = drivers.iter().find(|driver| driver.scheme() == scheme);
    let found = driver.map(|driver| (driver, rest));
    match found {
        Some((driver, rest)) => driver.transport(rest),
        None => Err(AddressError::UnknownScheme {
            address: address.to_owned(),
            known: drivers
                .iter()
                .map(|driver| driver.scheme())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// The scheme of an address and what follows it, which may be nothing.
#[must_use]
pub fn parts(address: &str) -> (&str, &str) {
    address.split_once(':').unwrap_or((address, ""))
}
