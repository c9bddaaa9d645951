//! A serial port that is a PTY: the test is the target behind it.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, tcgetattr};
use tokio::task::spawn_blocking;
use tokio::time::{Duration, sleep};

/// The target's end of a serial port.
pub(super) struct Port {
    master: OwnedFd,
    /// Where it is found, as below `/dev/serial/by-id`.
    link: PathBuf,
}

impl Port {
    /// Plugs it in: `link` leads to it.
    pub(super) fn plug(link: &Path) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let path = Path::new(OsStr::from_bytes(name.to_bytes()));
        std::os::unix::fs::symlink(path, link).unwrap();
        let link = link.to_owned();
        Self { master, link }
    }

    /// Sends bytes to the server.
    pub(super) fn say(&self, bytes: &[u8]) {
        assert_eq!(rustix::io::write(&self.master, bytes).unwrap(), bytes.len());
    }

    /// Sends bytes until nobody takes any more.
    pub(super) async fn flood(&self) {
        let flags = fcntl_getfl(&self.master).unwrap();
        fcntl_setfl(&self.master, flags | OFlags::NONBLOCK).unwrap();
        let mut refused = 0;
        while refused < 20 {
            if rustix::io::write(&self.master, &[0x55; 1024]).is_ok() {
                refused = 0;
            } else {
                refused += 1;
                sleep(Duration::from_millis(10)).await;
            }
        }
    }

    /// Waits for so many bytes of the server.
    pub(super) async fn hear(&self, count: usize) -> Vec<u8> {
        let master = self.master.try_clone().unwrap();
        let heard = spawn_blocking(move || {
            let mut heard = Vec::new();
            let mut buffer = [0; 256];
            while heard.len() < count {
                let read = rustix::io::read(&master, &mut buffer).unwrap();
                heard.extend(&buffer[..read]);
            }
            heard
        });
        heard.await.unwrap()
    }

    /// How the server has set the port.
    pub(super) fn settings(&self) -> Termios {
        tcgetattr(&self.master).unwrap()
    }
}

impl Drop for Port {
    /// Unplugs it.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.link);
    }
}
