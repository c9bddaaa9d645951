//! The body of a request that a guest sends: it is sent once it is whole.

use tokio::sync::oneshot;

use super::ErrorCode;

/// Bytes of one.
pub const UPLOAD_BYTES_MAX: usize = 1 << 20;

/// The reading end.
#[derive(Debug, Default)]
pub struct Upload(Option<oneshot::Receiver<Vec<u8>>>);

/// The writing end. If it goes before [`Draft::finish`], nothing is sent.
#[derive(Debug)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    whole: oneshot::Sender<Vec<u8>>,
}

/// Both ends.
pub(crate) fn upload() -> (Draft, Upload) {
    let (whole, told) = oneshot::channel();
    let bytes = Vec::new();
    (Draft { bytes, whole }, Upload(Some(told)))
}

impl Upload {
    /// The whole body, as soon as the guest has ended it; empty if it began none.
    ///
    /// # Errors
    /// The guest gave it up.
    pub async fn bytes(self) -> Result<Vec<u8>, ErrorCode> {
        let Some(told) = self.0 else {
            return Ok(Vec::new());
        };
        told.await.map_err(|_| ErrorCode::ConnectionTerminated)
    }
}

impl Draft {
    /// Add bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ErrorCode> {
        if bytes.len() > UPLOAD_BYTES_MAX - self.bytes.len() {
            let most = Some(UPLOAD_BYTES_MAX as u64);
            return Err(ErrorCode::HttpRequestBodySize(most));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Everything was written.
    pub(crate) fn finish(self) {
        // Whoever would send it may be gone.
        let _ = self.whole.send(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_whole_or_not_there() {
        assert!(Upload::default().bytes().await.unwrap().is_empty());
        let (mut draft, read) = upload();
        draft.write(b"a").unwrap();
        let large = vec![0; UPLOAD_BYTES_MAX];
        assert!(draft.write(&large).is_err());
        draft.finish();
        assert_eq!(read.bytes().await.unwrap(), b"a");
        let (draft, read) = upload();
        drop(draft);
        assert!(matches!(
            read.bytes().await,
            Err(ErrorCode::ConnectionTerminated)
        ));
    }
}
