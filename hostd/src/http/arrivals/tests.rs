//! Who may send what at once, and what a slow sender costs others.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use admission::Crowded;
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;

use super::*;
use base::pace::TooSlow;

const LARGE: u32 = 1 << 20;

/// A body that comes as a test sends it.
struct Sent {
    parts: mpsc::Receiver<usize>,
    declared: u64,
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.parts.poll_recv(cx);
        next.map(|size| size.map(|size| Ok(Frame::data(Bytes::from(vec![b'x'; size])))))
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        hint.set_lower(self.declared);
        hint
    }
}

fn body(declared: u32) -> (mpsc::Sender<usize>, Sent) {
    let (sender, parts) = mpsc::channel(8);
    let declared = declared.into();
    (sender, Sent { parts, declared })
}

fn arrivals() -> Arrivals {
    let http = HttpConfig::default();
    let uploads = UploadsConfig {
        per_user_max: 2,
        per_org_max: 3,
        total_max: 8,
        queue_wait_ms: 1_000,
        ..UploadsConfig::default()
    };
    Arrivals::new(&http, &uploads, Duration::from_secs(60))
}

fn user(org: &str, user: &str) -> Requester {
    Requester {
        org: org.into(),
        user: user.into(),
    }
}

/// What happens to an upload that sends nothing.
async fn stall(arrivals: &Arrivals, who: &Requester) -> Result<Bytes, ReadError> {
    let (_sender, mut body) = body(LARGE);
    let read = arrivals.collect(&mut body, LARGE, who).await;
    read.map(|read| read.bytes)
}

#[tokio::test(start_paused = true)]
async fn uploads_are_bounded_by_user_by_organisation_and_in_all() {
    let arrivals = arrivals();
    let (ann, bob, cid) = (user("a", "ann"), user("a", "bob"), user("a", "cid"));
    let eve = user("b", "eve");
    let first = async {
        tokio::join!(
            stall(&arrivals, &ann),
            stall(&arrivals, &ann),
            stall(&arrivals, &bob),
        )
    };
    let then = async {
        tokio::task::yield_now().await;
        assert_eq!(arrivals.uploads(), 3);
        let one_more = stall(&arrivals, &ann).await;
        assert!(matches!(one_more, Err(ReadError::Crowded(Crowded::User))));
        let colleague = stall(&arrivals, &cid).await;
        assert!(matches!(colleague, Err(ReadError::Crowded(Crowded::Org))));
        // Small bodies are not uploads.
        let (sender, mut small) = body(2);
        sender.send(2).await.unwrap();
        drop(sender);
        let small = arrivals.collect(&mut small, LARGE, &ann).await;
        assert_eq!(small.unwrap().bytes, "xx");
        // Another organisation is not affected.
        let (sender, mut whole) = body(LARGE);
        sender.send(LARGE as usize).await.unwrap();
        drop(sender);
        let read = arrivals.collect(&mut whole, LARGE, &eve).await.unwrap();
        assert_eq!(read.bytes.len(), LARGE as usize);
        // It keeps its place for as long as it is in memory.
        assert_eq!(arrivals.uploads(), 4);
        drop(read);
        assert_eq!(arrivals.uploads(), 3);
    };
    let ((one, two, three), ()) = tokio::join!(first, then);
    for stalled in [one, two, three] {
        let too_slow = matches!(stalled, Err(ReadError::TooSlow(TooSlow::Rate { .. })));
        assert!(too_slow);
    }
    assert_eq!(arrivals.uploads(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_say_its_length_becomes_an_upload_as_it_grows() {
    let arrivals = arrivals();
    let ann = user("a", "ann");
    let (sender, mut growing) = body(0);
    let reading = arrivals.collect(&mut growing, LARGE, &ann);
    let sending = async {
        sender.send(SMALL_BYTES_MAX).await.unwrap();
        tokio::task::yield_now().await;
        let small = (arrivals.small.taken(), arrivals.uploads());
        sender.send(1).await.unwrap();
        tokio::task::yield_now().await;
        let large = (arrivals.small.taken(), arrivals.uploads());
        drop(sender);
        (small, large)
    };
    let (read, (small, large)) = tokio::join!(reading, sending);
    assert_eq!((small, large), ((1, 0), (0, 1)));
    assert_eq!(read.unwrap().bytes.len(), SMALL_BYTES_MAX + 1);
}

#[tokio::test(start_paused = true)]
async fn too_much_is_refused_before_and_while_it_comes() {
    let arrivals = arrivals();
    let ann = user("a", "ann");
    for declared in [4, 0] {
        let (sender, mut body) = body(declared);
        sender.send(4).await.unwrap();
        let read = arrivals.collect(&mut body, 3, &ann).await;
        let limit_bytes = 3;
        assert!(matches!(read, Err(ReadError::TooLarge { limit_bytes: l }) if l == limit_bytes));
    }
    assert_eq!(arrivals.small.taken(), 0);
}
