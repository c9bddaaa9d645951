//! Forms: as they arrive, texts go to memory and files to disk.

use bytes::Bytes;
use http_body::Body;
use tokio::time::timeout;

use super::writer::Writer;
use super::{Blobs, StageError, Staged};
use base::multipart::{Event, Form, FormError, Head};
use base::pace::{Pace, Paced};

/// All texts of a form together, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// What a form may hold besides its files: texts, part headers, and what follows its end.
const BESIDE_BYTES_MAX: u64 = 2 << 20;

/// What a form may contain.
#[derive(Debug, Clone, Copy)]
pub struct FormRules<'r> {
    /// Names of the parts that are files. Any other part is text.
    pub files: &'r [String],
    /// All files together, in bytes.
    pub bytes_max: u64,
}

/// A form that has arrived.
#[derive(Debug, Default)]
pub struct StagedForm {
    /// Names and contents, in order.
    pub texts: Vec<(String, String)>,
    pub files: Vec<StagedFile>,
}

/// A file of a form.
#[derive(Debug)]
pub struct StagedFile {
    /// Name of its part.
    pub name: String,
    /// Name of the file, without folders.
    pub file_name: Option<String>,
    /// Media type; empty when none was sent.
    pub content_type: String,
    pub staged: Staged,
}

/// Why a form did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum StageFormError {
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error("the form is malformed: {0}")]
    Form(#[from] FormError),
    #[error("the form has two parts named {name}")]
    Twice { name: String },
    #[error("the texts of the form are over {TEXT_BYTES_MAX} bytes together")]
    TextTooLong,
    #[error("the part {name} is not UTF-8 text")]
    NotText { name: String },
}

/// The part that is arriving.
enum Open {
    Text(String, Vec<u8>),
    File(Head, Writer),
}

/// A form being received.
struct Taking<'t> {
    blobs: &'t Blobs,
    rules: FormRules<'t>,
    taken: StagedForm,
    open: Option<Open>,
    files_left: u64,
    text_left: usize,
}

impl Blobs {
    /// Receive the form in `body`, whose parts are separated by `boundary`, at this pace.
    ///
    /// # Errors
    /// A limit is exceeded, the form is malformed, the connection breaks, or the disk fails. Files
    /// that had arrived are removed.
    pub async fn stage_form<B>(
        &self,
        body: &mut B,
        boundary: &str,
        rules: FormRules<'_>,
        pace: Pace,
    ) -> Result<StagedForm, StageFormError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let limit_bytes = rules.bytes_max;
        let most = limit_bytes.saturating_add(BESIDE_BYTES_MAX);
        if body.size_hint().lower() > most {
            return Err(StageError::TooLarge { limit_bytes }.into());
        }
        self.admit(body.size_hint().lower())?;
        let taking = Taking {
            blobs: self,
            rules,
            taken: StagedForm::default(),
            open: None,
            files_left: limit_bytes,
            text_left: TEXT_BYTES_MAX,
        };
        let body = Paced::new(body, pace);
        match timeout(pace.wait, taking.take(body, boundary, most)).await {
            Ok(taken) => taken,
            Err(_) => Err(StageError::from(pace.exceeded()).into()),
        }
    }
}

impl Taking<'_> {
    async fn take<B>(
        mut self,
        mut body: Paced<'_, B>,
        boundary: &str,
        most: u64,
    ) -> Result<StagedForm, StageFormError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let mut form = Form::new(boundary);
        let mut left = most;
        while let Some(frame) = body.frame().await.map_err(StageError::from)? {
            let Ok(piece) = frame.map_err(|_| StageError::Broken)?.into_data() else {
                continue;
            };
            left = left
                .checked_sub(piece.len() as u64)
                .ok_or_else(|| self.too_large())?;
            form.push(&piece);
            while let Some(event) = form.next_event()? {
                self.note(event).await?;
            }
        }
        form.finish()?;
        Ok(self.taken)
    }

    async fn note(&mut self, event: Event) -> Result<(), StageFormError> {
        match event {
            Event::Part(head) => self.begin(head),
            Event::Data(bytes) => match &mut self.open {
                Some(Open::Text(_, text)) => {
                    let left = self.text_left.checked_sub(bytes.len());
                    self.text_left = left.ok_or(StageFormError::TextTooLong)?;
                    text.extend_from_slice(&bytes);
                    Ok(())
                }
                Some(Open::File(_, writer)) => {
                    let Some(left) = self.files_left.checked_sub(bytes.len() as u64) else {
                        return Err(self.too_large());
                    };
                    self.files_left = left;
                    writer.push(bytes).await?;
                    Ok(())
                }
                None => Ok(()),
            },
            Event::End => self.end().await,
        }
    }

    fn begin(&mut self, head: Head) -> Result<(), StageFormError> {
        let name = head.name.clone();
        let mut texts = self.taken.texts.iter().map(|(known, _)| known);
        let mut files = self.taken.files.iter().map(|file| &file.name);
        if texts.any(|known| *known == name) || files.any(|known| *known == name) {
            return Err(StageFormError::Twice { name });
        }
        self.open = Some(if self.rules.files.contains(&name) {
            Open::File(head, self.blobs.begin())
        } else {
            Open::Text(name, Vec::new())
        });
        Ok(())
    }

    async fn end(&mut self) -> Result<(), StageFormError> {
        match self.open.take() {
            Some(Open::Text(name, text)) => match String::from_utf8(text) {
                Ok(text) => self.taken.texts.push((name, text)),
                Err(_) => return Err(StageFormError::NotText { name }),
            },
            Some(Open::File(head, writer)) => self.taken.files.push(StagedFile {
                name: head.name,
                file_name: head.file_name,
                content_type: head.content_type,
                staged: writer.finish().await?,
            }),
            None => {}
        }
        Ok(())
    }

    fn too_large(&self) -> StageFormError {
        let limit_bytes = self.rules.bytes_max;
        StageError::TooLarge { limit_bytes }.into()
    }
}
