//! The files of `/etc` that each jail has of its own.

/// The user and group id of a command, as it sees them itself.
pub(crate) const UID_INSIDE: u32 = 1000;

/// Names below `/etc` with their text: programs look up the name of their user, and the address of localhost. A tree
/// that is to be the [root](crate::Spec::root) has them too.
#[must_use]
pub fn own_files() -> [(&'static str, String); 3] {
    [
        (
            "passwd",
            format!("job:x:{UID_INSIDE}:{UID_INSIDE}::/job:/bin/sh\n"),
        ),
        ("group", format!("job:x:{UID_INSIDE}:\n")),
        ("hosts", "127.0.0.1 localhost\n::1 localhost\n".to_owned()),
    ]
}
