//! Asks a jail that runs what it takes of the disk.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::usage::Usage;
use crate::wire;

/// Counts what the programs in a jail take of the disk: all below `/job`, whatever rights they took away, and files
/// without a name that they hold open. The count is made on the jail's side, where all of this can be seen whoever the
/// server is.
#[derive(Debug)]
pub struct Gauge {
    socket: OwnedFd,
    asked: u32,
}

impl Gauge {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self { socket, asked: 0 }
    }

    /// What is taken now. Blocks the thread until it is counted; none if the jail has ended before.
    ///
    /// # Errors
    /// It is not counted within the time, or the folder cannot be read.
    pub fn read(&mut self, within: Duration) -> io::Result<Option<Usage>> {
        self.asked = self.asked.wrapping_add(1);
        let until = Instant::now() + within;
        match wire::send_question(&self.socket, self.asked) {
            Err(error) if has_ended(&error) => return Ok(None),
            sent => sent?,
        }
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            set_socket_timeout(&self.socket, Timeout::Recv, Some(left))?;
            match wire::receive_count(&self.socket) {
                Ok(None) => return Ok(None),
                // Others are answers to what was no longer waited for.
                Ok(Some(count)) if count.number == self.asked => {
                    return match (count.usage, count.errno) {
                        (Some(usage), _) => Ok(Some(usage)),
                        (None, errno) => Err(io::Error::from_raw_os_error(errno)),
                    };
                }
                Ok(Some(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The other end is closed.
fn has_ended(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}
