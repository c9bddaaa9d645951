//! `--usb-console`: the simulated pod's text console on a pseudo-terminal, which programs open like
//! the serial port of a real pod.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A pseudo-terminal whose other end is a path that others open.
pub(super) struct Terminal {
    master: AsyncFd<OwnedFd>,
    path: PathBuf,
    link: Option<PathBuf>,
    /// Kept open here, so that a client that closes its end does not end the terminal.
    _kept_open: OwnedFd,
}

impl Terminal {
    /// Opens one, and makes `link` point to it: a symbolic link there is replaced, anything else is
    /// left alone. Needs a tokio runtime.
    ///
    /// # Errors
    /// The system has no pseudo-terminal left, or the link cannot be made.
    pub(super) fn open(link: Option<&Path>) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        rustix::io::ioctl_fionbio(&master, true)?;
        let path = PathBuf::from(OsStr::from_bytes(ptsname(&master, Vec::new())?.to_bytes()));
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(&path, flags, Mode::empty())?;
        // A serial port passes bytes on as they are; the console echoes them itself.
        let mut attributes = tcgetattr(&slave)?;
        attributes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &attributes)?;
        if let Some(link) = link {
            point(link, &path)?;
        }
        #[expect(unsafe_code, reason = "the way to wait for a descriptor of one's own")]
        // SAFETY: an `OwnedFd` is open, stays the same one, and closes only when it is dropped.
        let master = unsafe { AsyncFd::register(master) }?;
        Ok(Self {
            master,
            path,
            link: link.map(Path::to_owned),
            _kept_open: slave,
        })
    }

    /// What clients open.
    pub(super) fn path(&self) -> &Path {
        self.link.as_deref().unwrap_or(&self.path)
    }
}

fn point(link: &Path, target: &Path) -> io::Result<()> {
    if link.is_symlink() {
        std::fs::remove_file(link)?;
    }
    std::os::unix::fs::symlink(target, link)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(link) = &self.link
            && std::fs::read_link(link).is_ok_and(|target| target == self.path)
        {
            // A link to nowhere does no harm.
            let _ = std::fs::remove_file(link);
        }
    }
}

impl AsyncRead for Terminal {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.master.poll_read_ready(cx))?;
            let room = buffer.initialize_unfilled();
            let read = ready.try_io(|fd| Ok(rustix::io::read(fd, &mut *room)?));
            if let Ok(read) = read {
                buffer.advance(read?);
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for Terminal {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.master.poll_write_ready(cx))?;
            if let Ok(written) = ready.try_io(|fd| Ok(rustix::io::write(fd, bytes)?)) {
                return Poll::Ready(written);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::{Read, Write};

    use pod_sim::{SimConfig, SimPod};

    use super::*;

    fn ask(port: &mut File, text: &str) -> String {
        port.write_all(text.as_bytes()).unwrap();
        let mut shown = Vec::new();
        while !shown.ends_with(b"\r\n> ") {
            let mut byte = [0];
            port.read_exact(&mut byte).unwrap();
            shown.push(byte[0]);
        }
        String::from_utf8(shown).unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn one_client_after_another_opens_it_and_the_link_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("console");
        // A link that an earlier process left behind.
        std::os::unix::fs::symlink("/nowhere", &link).unwrap();
        let terminal = Terminal::open(Some(&link)).unwrap();
        assert_eq!(terminal.path(), link);
        let pod = SimPod::new(SimConfig::default());
        let served = tokio::spawn(async move { pod.console(terminal).await });
        let path = link.clone();
        let clients = tokio::task::spawn_blocking(move || {
            for _ in 0..3 {
                let mut port = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(&path)
                    .unwrap();
                let shown = ask(&mut port, "ping\n");
                assert!(shown.starts_with("ping\r\n  PING ok"), "{shown:?}");
            }
        });
        clients.await.unwrap();
        assert!(!served.is_finished());
        served.abort();
        assert!(served.await.unwrap_err().is_cancelled());
        assert!(!link.is_symlink());
    }

    #[tokio::test]
    async fn a_file_in_the_links_place_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("console");
        std::fs::write(&file, "mine").unwrap();
        assert!(Terminal::open(Some(&file)).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }
}
