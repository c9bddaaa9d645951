//! `hostd:host/uploads`: request bodies written to disk for a handler that never sees their bytes.
//!
//! A handler is called twice for such a request. The first time it decides whether to accept the body
//! and in what form, and returns at once; then the body arrives, at its sender's pace, and holds no
//! instance; then the handler is called again with the same request, and the body is ready.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use admission::Requester;
use bytes::Bytes;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::uploads::{Error, Form, FormFile, Host, HostUpload};
use super::{CallLinker, Context, internal, wit};
use base::multipart;
use lab::blobs::{Staged, StagedForm};

/// Largest body that a guest may read.
const READ_BYTES_MAX: u32 = 1 << 20;

/// The form in which a handler wants a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// All of it as a file.
    File { bytes_max: u64 },
    /// A form's texts, and files of its parts with these names.
    Form {
        boundary: String,
        files: Vec<String>,
        bytes_max: u64,
    },
    /// All of it in memory.
    Bytes { bytes_max: u32 },
}

/// The body in that form.
#[derive(Debug)]
pub enum Arrived {
    File(Staged),
    Form(StagedForm),
    Bytes(Bytes),
}

/// The state of a body.
#[derive(Debug, Default)]
enum State {
    /// There is no body, or the handler has it.
    #[default]
    None,
    /// The handler has not asked for it.
    Unread,
    Wanted(Wanted),
    Arrived(Arrived),
}

/// A request's body, shared by the handler and the gateway.
#[derive(Debug, Clone, Default)]
pub struct Inbound {
    state: Arc<Mutex<State>>,
    /// Whose it is, where no credential says so.
    owner: Arc<OnceLock<Requester>>,
}

impl Inbound {
    /// A body that the handler may ask for.
    #[must_use]
    pub fn unread() -> Self {
        Self {
            state: Arc::new(Mutex::new(State::Unread)),
            owner: Arc::default(),
        }
    }

    /// What the handler asked for, if it did.
    #[must_use]
    pub fn wanted(&self) -> Option<Wanted> {
        match &*self.lock() {
            State::Wanted(wanted) => Some(wanted.clone()),
            _ => None,
        }
    }

    /// It takes a place of this requester, whatever its address. The first one stays.
    pub fn attribute(&self, owner: Requester) {
        let _ = self.owner.set(owner);
    }

    /// Whose place it takes, if something other than a credential says so.
    #[must_use]
    pub fn owner(&self) -> Option<&Requester> {
        self.owner.get()
    }

    /// Whether it is there, and the handler does not have it yet: this is the second call.
    #[must_use]
    pub fn has_arrived(&self) -> bool {
        matches!(*self.lock(), State::Arrived(_))
    }

    /// It is there.
    pub fn arrive(&self, arrived: Arrived) {
        *self.lock() = State::Arrived(arrived);
    }

    /// Take what has arrived; if nothing was asked for yet, ask for it now.
    fn receive(&self, wanted: Wanted) -> Result<Arrived, Error> {
        let mut state = self.lock();
        match std::mem::take(&mut *state) {
            State::None => Err(Error::NoBody),
            State::Unread | State::Wanted(_) => {
                *state = State::Wanted(wanted);
                Err(Error::Later)
            }
            State::Arrived(arrived) => Ok(arrived),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    inbound: &'a Inbound,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::uploads::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        inbound: &state.data.inbound,
    })
}

impl Host for View<'_> {
    async fn receive(&mut self, bytes_max: u64) -> Result<Resource<Staged>, Error> {
        match self.inbound.receive(Wanted::File { bytes_max })? {
            // There may be less room by now.
            Arrived::File(staged) if staged.size_bytes() > bytes_max => {
                Err(Error::TooLarge(bytes_max))
            }
            Arrived::File(staged) => self.hand_over(staged),
            _ => Err(Error::NoBody),
        }
    }

    async fn receive_form(
        &mut self,
        content_type: String,
        files: Vec<String>,
        bytes_max: u64,
    ) -> Result<Form, Error> {
        let boundary = multipart::boundary(&content_type)
            .map_err(|error| Error::Malformed(error.to_string()))?
            .ok_or_else(|| Error::Malformed("its media type is no form's".to_owned()))?;
        let wanted = Wanted::Form {
            boundary,
            files,
            bytes_max,
        };
        match self.inbound.receive(wanted)? {
            Arrived::Form(form) => self.hand_over_form(form),
            _ => Err(Error::NoBody),
        }
    }

    async fn read(&mut self, bytes_max: u32) -> Result<Vec<u8>, Error> {
        let bytes_max = bytes_max.min(READ_BYTES_MAX);
        match self.inbound.receive(Wanted::Bytes { bytes_max })? {
            Arrived::Bytes(bytes) => Ok(bytes.into()),
            _ => Err(Error::NoBody),
        }
    }
}

/// The file behind an upload that a handler passes on.
pub(super) fn given(
    context: &Context,
    table: &mut ResourceTable,
    upload: Resource<Staged>,
) -> Result<Staged, String> {
    let staged = table.delete(upload);
    staged.map_err(|e| internal(context, "uploads", &e))
}

impl View<'_> {
    fn hand_over(&mut self, staged: Staged) -> Result<Resource<Staged>, Error> {
        let pushed = self.table.push(staged);
        pushed.map_err(|e| Error::Other(internal(self.context, "uploads", &e)))
    }

    fn hand_over_form(&mut self, form: StagedForm) -> Result<Form, Error> {
        let mut files = Vec::new();
        for file in form.files {
            files.push(FormFile {
                name: file.name,
                file_name: file.file_name,
                content_type: file.content_type,
                content: self.hand_over(file.staged)?,
            });
        }
        let texts = form.texts;
        Ok(Form { texts, files })
    }
}

impl HostUpload for View<'_> {
    async fn size_bytes(&mut self, upload: Resource<Staged>) -> u64 {
        self.table.get(&upload).map_or(0, Staged::size_bytes)
    }

    async fn sha256(&mut self, upload: Resource<Staged>) -> String {
        let staged = self.table.get(&upload);
        staged.map_or_else(|_| String::new(), |s| s.sha256().to_owned())
    }

    async fn drop(&mut self, upload: Resource<Staged>) -> wasmtime::Result<()> {
        self.table.delete(upload)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_asked_for_once_and_then_there_once() {
        let wanted = || Wanted::Bytes { bytes_max: 3 };
        let none = Inbound::default();
        assert!(matches!(none.receive(wanted()), Err(Error::NoBody)));
        let inbound = Inbound::unread();
        assert_eq!(inbound.wanted(), None);
        assert!(matches!(inbound.receive(wanted()), Err(Error::Later)));
        assert_eq!(inbound.wanted(), Some(wanted()));
        assert!(!inbound.has_arrived());
        inbound.arrive(Arrived::Bytes(Bytes::from_static(b"abc")));
        assert_eq!(inbound.wanted(), None);
        assert!(inbound.has_arrived());
        assert!(matches!(inbound.receive(wanted()), Ok(Arrived::Bytes(b)) if b == "abc"));
        assert!(matches!(inbound.receive(wanted()), Err(Error::NoBody)));
    }

    #[test]
    fn the_first_owner_stays() {
        let owner = |user: &str| Requester {
            org: "acme".into(),
            user: user.into(),
        };
        let inbound = Inbound::unread();
        assert!(inbound.owner().is_none());
        let shared = inbound.clone();
        shared.attribute(owner("ada"));
        shared.attribute(owner("eve"));
        assert_eq!(&*inbound.owner().unwrap().user, "ada");
    }
}
