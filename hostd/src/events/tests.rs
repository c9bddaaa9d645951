//! Streams: what they begin with, what they leave out, and how they end.

use base::news::{Happening, Kind};
use serde_json::json;

use super::*;

struct Bench {
    news: News,
    events: Events,
}

impl Bench {
    fn new(streams_max: u32) -> Self {
        let news = News::default();
        let events = Events::new(&news, streams_max);
        Self { news, events }
    }

    fn tell(&self, kind: Kind, devices: &[&str], subject: &str) {
        self.news.tell(&Happening {
            kind,
            at_ms: 0,
            org: "o".into(),
            devices: devices.iter().map(|id| (*id).to_owned()).collect(),
            subject: subject.into(),
            told: json!({}),
        });
    }

    fn stream(&self, caller: &Verified, asked: Asked) -> Result<Reader, Crowded> {
        let never = Box::pin(std::future::pending());
        let requester = caller.requester();
        let parts = self.events.stream(caller, &requester, asked, never)?;
        Ok(Reader {
            parts,
            text: String::new(),
        })
    }
}

struct Reader {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    text: String,
}

impl Reader {
    /// Names of the events and the subjects of those that have one, until there are this many.
    async fn read(&mut self, count: usize) -> Vec<String> {
        loop {
            let found = self.found();
            if found.len() >= count {
                return found;
            }
            let part = self.parts.recv().await.expect("more").unwrap();
            self.text.push_str(std::str::from_utf8(&part).unwrap());
        }
    }

    async fn read_to_end(&mut self) -> Vec<String> {
        while let Some(part) = self.parts.recv().await {
            self.text
                .push_str(std::str::from_utf8(&part.unwrap()).unwrap());
        }
        self.found()
    }

    fn found(&self) -> Vec<String> {
        let whole = self.text.rfind("\n\n").map_or("", |end| &self.text[..end]);
        let events = whole.split("\n\n").filter(|event| event.contains("data: "));
        events
            .map(|event| {
                let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let data: serde_json::Value =
                    serde_json::from_str(line("data: ").unwrap()).unwrap();
                let name = line("event: ").unwrap();
                match data["subject"].as_str() {
                    Some(subject) => format!("{name} {subject}"),
                    None => name.to_owned(),
                }
            })
            .collect()
    }

    fn last_place(&self) -> String {
        let mut ids = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("id: "));
        ids.next_back().unwrap().to_owned()
    }
}

fn at_once(after: &str) -> Asked {
    Asked {
        after: Some(after.to_owned()),
        lasts: Some(Duration::ZERO),
    }
}

fn key(scopes: &[Scope], devices: Option<&[&str]>) -> Verified {
    let devices = devices.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
    Verified::of_plugin("o", "p", scopes.to_vec(), devices)
}

#[tokio::test]
async fn a_stream_begins_says_what_happens_and_goes_on_later() {
    let bench = Bench::new(8);
    let caller = key(&[Scope::BenchControl], None);
    bench.tell(Kind::DeviceOnline, &["d"], "before");
    let mut reader = bench.stream(&caller, Asked::default()).unwrap();
    assert_eq!(reader.read(1).await, ["ready"]);
    assert!(
        reader.text.starts_with("retry: 1000\nid: "),
        "{}",
        reader.text
    );
    bench.tell(Kind::LeaseTaken, &["d"], "d");
    assert_eq!(reader.read(2).await, ["ready", "lease.taken d"]);
    let place = reader.last_place();
    drop(reader);
    bench.tell(Kind::CaptureDone, &["d"], "c");
    let mut again = bench.stream(&caller, at_once(&place)).unwrap();
    assert_eq!(again.read_to_end().await, ["capture.done c"]);
    let mut lost = bench.stream(&caller, at_once("elsewhere-1")).unwrap();
    assert_eq!(lost.read_to_end().await, ["reset"]);
    // The place that came with the reset is one to go on from.
    bench.tell(Kind::CaptureDone, &["d"], "e");
    let mut again = bench.stream(&caller, at_once(&lost.last_place())).unwrap();
    assert_eq!(again.read_to_end().await, ["capture.done e"]);
}

#[tokio::test]
async fn nobody_sees_more_than_their_credential_opens() {
    let bench = Bench::new(8);
    let bare = key(&[Scope::BenchControl], None);
    let jobs = key(&[Scope::BenchControl, Scope::JobsSubmit], None);
    let narrow = key(&[Scope::BenchControl, Scope::JobsSubmit], Some(&["a"]));
    let mut first = bench.stream(&bare, Asked::default()).unwrap();
    first.read(1).await;
    let place = first.last_place();
    bench.tell(Kind::CaptureStarted, &["a"], "1");
    bench.tell(Kind::CaptureStarted, &["b"], "2");
    bench.tell(Kind::CaptureImported, &[], "3");
    bench.tell(Kind::JobStarted, &["a", "b"], "4");
    bench.tell(Kind::JobFinished, &["a"], "5");
    let mut seen = Vec::new();
    for caller in [&bare, &jobs, &narrow] {
        let mut reader = bench.stream(caller, at_once(&place)).unwrap();
        let found = reader.read_to_end().await;
        let subjects = found.iter().filter_map(|event| event.split(' ').nth(1));
        seen.push(subjects.map(str::to_owned).collect::<String>());
    }
    assert_eq!(seen, ["123", "12345", "15"]);
    let foreign = Verified::of_plugin("other", "p", vec![Scope::JobsSubmit], None);
    let mut reader = bench.stream(&foreign, at_once(&place)).unwrap();
    assert_eq!(reader.read_to_end().await, ["reset"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_client_may_not_see_moves_its_place_on_with_the_heartbeat() {
    let bench = Bench::new(8);
    let narrow = key(&[Scope::BenchControl], Some(&["a"]));
    let mut reader = bench.stream(&narrow, Asked::default()).unwrap();
    reader.read(1).await;
    let place = reader.last_place();
    bench.tell(Kind::LeaseTaken, &["b"], "b");
    let beat = reader.parts.recv().await.unwrap().unwrap();
    let beat = std::str::from_utf8(&beat).unwrap();
    assert!(
        beat.starts_with(":\nid: ") && !beat.contains("data"),
        "{beat}"
    );
    assert_ne!(beat.trim(), format!(":\nid: {place}"));
    let beat = reader.parts.recv().await.unwrap().unwrap();
    assert_eq!(beat, ":\n\n");
}

#[tokio::test]
async fn a_reader_that_is_too_slow_is_told_to_load_again() {
    let bench = Bench::new(8);
    let caller = key(&[Scope::BenchControl], None);
    let mut slow = bench.stream(&caller, Asked::default()).unwrap();
    slow.read(1).await;
    let most = base::news::recent::EVENTS_MAX * 3;
    for n in 0..most {
        bench.tell(Kind::CaptureDone, &["d"], &n.to_string());
        // Others see each at once.
        if n % 500 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let last = format!("capture.done {}", most - 1);
    let found = loop {
        let count = slow.found().len();
        let found = slow.read(count + 1).await;
        if found.last() == Some(&last) || found.last().is_some_and(|last| last == "reset") {
            break found;
        }
    };
    assert_eq!(found.iter().filter(|event| *event == "reset").count(), 1);
    assert!(found.len() < most);
    bench.tell(Kind::CaptureDone, &["d"], "after");
    let count = slow.found().len();
    assert_eq!(
        slow.read(count + 1).await.last().unwrap(),
        "capture.done after"
    );
}

#[tokio::test]
async fn streams_end_with_the_credential_with_the_server_and_with_the_client() {
    let bench = Bench::new(8);
    let caller = key(&[Scope::BenchControl], None);
    let requester = caller.requester();
    let (revoke, revoked) = tokio::sync::oneshot::channel::<()>();
    let over = Box::pin(async move {
        drop(revoked.await);
        "revoked_credential"
    });
    let parts = bench
        .events
        .stream(&caller, &requester, Asked::default(), over);
    let mut reader = Reader {
        parts: parts.unwrap(),
        text: String::new(),
    };
    reader.read(1).await;
    revoke.send(()).unwrap();
    assert_eq!(reader.read_to_end().await, ["ready", "end"]);
    assert!(
        reader
            .text
            .ends_with("data: {\"code\":\"revoked_credential\"}\n\n")
    );
    // One user has a quarter of the places, until a client leaves.
    let kept = bench.stream(&caller, Asked::default()).unwrap();
    let second = bench.stream(&caller, Asked::default()).unwrap();
    let third = bench.stream(&caller, Asked::default());
    assert!(matches!(third, Err(Crowded::User)));
    drop(kept);
    let mut third = loop {
        match bench.stream(&caller, Asked::default()) {
            Ok(reader) => break reader,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    bench.events.stop();
    third.read_to_end().await;
    drop(second);
    let mut late = bench.stream(&caller, Asked::default());
    while late.is_err() {
        tokio::task::yield_now().await;
        late = bench.stream(&caller, Asked::default());
    }
    assert_eq!(late.unwrap().read_to_end().await, Vec::<String>::new());
}
