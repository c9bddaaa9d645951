//! Bodies on their way to disk, whole and broken, and what is left of them.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::Frame;
use http_body_util::Full;

use super::*;
use base::space::Space;

const WAIT: Duration = Duration::from_secs(5);

fn pace() -> Pace {
    Pace::within(WAIT)
}

/// SHA-256 of `abc`, FIPS 180-2 appendix B.1.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Gives some bytes, and then fails or never ends.
struct Broken {
    sent: bool,
    fails: bool,
}

impl Body for Broken {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !std::mem::replace(&mut self.sent, true) {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"half")))));
        }
        if self.fails {
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
        }
        Poll::Pending
    }
}

fn files(dir: &Path) -> usize {
    let count = |path: PathBuf| fs::read_dir(path).unwrap().count();
    let folders = fs::read_dir(dir).unwrap();
    folders.map(|f| count(f.unwrap().path())).sum()
}

async fn stage(blobs: &Blobs, bytes: &'static [u8], limit: u64) -> Result<Staged, StageError> {
    blobs
        .stage(&mut Full::new(Bytes::from_static(bytes)), limit, pace())
        .await
}

#[tokio::test]
async fn a_body_is_kept_under_its_digest_once() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap();
    for _ in 0..2 {
        let staged = stage(&blobs, b"abc", 3).await.unwrap();
        assert_eq!((staged.size_bytes(), staged.sha256()), (3, ABC));
        blobs.keep(&blobs.turn().await, &staged).unwrap();
    }
    assert_eq!(files(dir.path()), 1);
    let mut stream = blobs.read(ABC).await.unwrap();
    assert_eq!(stream.recv().await.unwrap().unwrap(), "abc");
    assert!(stream.recv().await.is_none());
    let turn = blobs.turn().await;
    blobs
        .sweep(&turn, &HashSet::from([ABC.to_owned()]))
        .unwrap();
    assert_eq!(files(dir.path()), 1);
    blobs.sweep(&turn, &HashSet::new()).unwrap();
    assert_eq!(files(dir.path()), 0);
    assert!(blobs.read(ABC).await.is_err());
}

#[tokio::test]
async fn nothing_is_left_of_a_body_that_did_not_come_whole() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap();
    let over = stage(&blobs, b"abcd", 3).await;
    assert!(matches!(over, Err(StageError::TooLarge { limit_bytes: 3 })));
    let mut broken = Broken {
        sent: false,
        fails: true,
    };
    let cut = blobs.stage(&mut broken, 100, pace()).await;
    assert!(matches!(cut, Err(StageError::Broken)));
    let mut unsaid = Broken {
        sent: false,
        fails: true,
    };
    let over = blobs.stage(&mut unsaid, 3, pace()).await;
    assert!(matches!(over, Err(StageError::TooLarge { limit_bytes: 3 })));
    drop(stage(&blobs, b"abc", 3).await.unwrap());
    assert_eq!(files(dir.path()), 0);
}

#[tokio::test]
async fn a_body_that_stalls_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap();
    let mut stalled = Broken {
        sent: false,
        fails: false,
    };
    let wait = Duration::from_millis(5);
    let slow = blobs.stage(&mut stalled, 100, Pace::within(wait)).await;
    let whole = TooSlow::Whole { wait_ms: 5 };
    assert!(matches!(slow, Err(StageError::TooSlow(told)) if told == whole));
    assert_eq!(files(dir.path()), 0);
}

/// Far more stalled bodies than there are threads hold none.
#[test]
fn bodies_that_stall_hold_no_thread() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let blobs = Arc::new(Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap());
    runtime.block_on(async {
        let mut stalled = Vec::new();
        for _ in 0..32 {
            let blobs = blobs.clone();
            let (sent, mut seen) = tokio::sync::oneshot::channel();
            let task = tokio::spawn(async move {
                let mut body = Stalled {
                    part: Some(Bytes::from(vec![7; 1 << 20])),
                    sent: Some(sent),
                };
                blobs.stage(&mut body, 2 << 20, pace()).await
            });
            // It has delivered its only part, which is more than a load, and the writer waits for
            // more.
            while seen.try_recv().is_err() {
                tokio::task::yield_now().await;
            }
            stalled.push(task);
        }
        let other = timeout(WAIT, stage(&blobs, b"abc", 3)).await;
        assert_eq!(other.expect("a thread").unwrap().sha256(), ABC);
        for task in stalled {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    });
    // A file being written when its task ends is removed when the write ends.
    drop(runtime);
    assert_eq!(files(dir.path()), 0);
}

/// Delivers one part, reports when more is requested, and never ends.
struct Stalled {
    part: Option<Bytes>,
    sent: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Body for Stalled {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(part) = self.part.take() {
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        if let Some(sent) = self.sent.take() {
            sent.send(()).unwrap();
        }
        Poll::Pending
    }
}

#[test]
fn a_start_clears_what_was_arriving() {
    let dir = tempfile::tempdir().unwrap();
    Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap();
    fs::write(dir.path().join(STAGING).join("x"), b"half").unwrap();
    Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap();
    assert_eq!(files(dir.path()), 0);
}

const FORM: &[u8] =
    b"--XX\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nstm32f0x\r\n--XX\r\n\
Content-Disposition: form-data; name=\"firmware\"; filename=\"fw.bin\"\r\n\r\nabc\r\n--XX--\r\n";

async fn stage_form(
    blobs: &Blobs,
    body: &'static [u8],
    bytes_max: u64,
) -> Result<StagedForm, StageFormError> {
    let files = ["firmware".to_owned()];
    let rules = FormRules {
        files: &files,
        bytes_max,
    };
    let mut body = Full::new(Bytes::from_static(body));
    blobs.stage_form(&mut body, "XX", rules, pace()).await
}

#[tokio::test]
async fn a_form_leaves_its_files_on_disk_and_its_texts_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap();
    let form = stage_form(&blobs, FORM, 3).await.unwrap();
    assert_eq!(form.texts, [("target".to_owned(), "stm32f0x".to_owned())]);
    let [file] = form.files.as_slice() else {
        panic!("{form:?}")
    };
    assert_eq!(file.file_name.as_deref(), Some("fw.bin"));
    assert_eq!(fs::read(file.staged.path()).unwrap(), b"abc");
    assert_eq!(file.staged.sha256(), ABC);
    drop(form);
    assert_eq!(files(dir.path()), 0);
}

#[tokio::test]
async fn a_form_that_fails_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path().to_owned(), Space::boundless()).unwrap();
    let too_large = stage_form(&blobs, FORM, 2).await.unwrap_err();
    assert!(
        matches!(
            too_large,
            StageFormError::Stage(StageError::TooLarge { limit_bytes: 2 })
        ),
        "{too_large:?}"
    );
    let cut = stage_form(&blobs, &FORM[..FORM.len() - 6], 3).await;
    assert!(matches!(cut, Err(StageFormError::Form(_))), "{cut:?}");
    let twice = b"--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n\
--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--XX--";
    let twice = stage_form(&blobs, twice, 3).await;
    assert!(matches!(twice, Err(StageFormError::Twice { .. })));
    let binary = b"--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\xff\r\n--XX--";
    let binary = stage_form(&blobs, binary, 3).await;
    assert!(matches!(binary, Err(StageFormError::NotText { .. })));
    for fails in [true, false] {
        let mut body = Broken { sent: false, fails };
        let rules = FormRules {
            files: &[],
            bytes_max: 10,
        };
        let short = Duration::from_millis(1);
        let staged = blobs
            .stage_form(&mut body, "XX", rules, Pace::within(short))
            .await;
        assert!(matches!(staged, Err(StageFormError::Stage(_))));
    }
    // An abandoned file is removed by the thread that wrote it.
    let deadline = std::time::Instant::now() + WAIT;
    while files(dir.path()) > 0 {
        assert!(std::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
}
