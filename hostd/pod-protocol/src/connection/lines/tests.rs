//! Lines are bounded, survive cancellation, and nothing that arrives can break them.

use fastrand::Rng;
use tokio::io::{AsyncWriteExt, duplex};
use tokio::time::{Duration, timeout};

use super::{LineError, Lines};

const LIMIT: usize = 16;

async fn text<S>(lines: &mut Lines<S>) -> Result<Option<String>, LineError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let line = lines.read().await?;
    Ok(line.map(|line| String::from_utf8_lossy(line).into_owned()))
}

#[tokio::test]
async fn lines_are_split_and_trimmed_of_their_ends() {
    let (mut writer, reader) = duplex(64);
    let mut lines = Lines::new(reader, LIMIT);
    writer.write_all(b"one\r\n\ntwo\nlast").await.unwrap();
    drop(writer);
    let mut seen = Vec::new();
    while let Some(line) = text(&mut lines).await.unwrap() {
        seen.push(line);
    }
    assert_eq!(seen, ["one", "", "two", "last"]);
}

#[tokio::test]
async fn an_overlong_line_is_one_error_however_long_it_is() {
    for length in [LIMIT + 1, 5_000, 100_000] {
        let (mut writer, reader) = duplex(1 << 18);
        let mut lines = Lines::new(reader, LIMIT);
        writer.write_all(&vec![b'x'; length]).await.unwrap();
        writer.write_all(b"\nnext\n").await.unwrap();
        let error = text(&mut lines).await.unwrap_err();
        assert!(matches!(error, LineError::TooLong { limit: LIMIT }));
        assert_eq!(text(&mut lines).await.unwrap().unwrap(), "next");
    }
    let (mut writer, reader) = duplex(64);
    let mut lines = Lines::new(reader, LIMIT);
    writer.write_all(&[b'y'; LIMIT]).await.unwrap();
    writer.write_all(b"\n").await.unwrap();
    assert_eq!(text(&mut lines).await.unwrap().unwrap().len(), LIMIT);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_read_loses_nothing() {
    let (mut writer, reader) = duplex(64);
    let mut lines = Lines::new(reader, LIMIT);
    for part in [&b"he"[..], b"ll", b"o\nw"] {
        let waited = timeout(Duration::from_millis(1), lines.read()).await;
        assert!(waited.is_err());
        writer.write_all(part).await.unwrap();
    }
    assert_eq!(text(&mut lines).await.unwrap().unwrap(), "hello");
    writer.write_all(b"orld\n").await.unwrap();
    assert_eq!(text(&mut lines).await.unwrap().unwrap(), "world");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_end_keeps_what_arrives() {
    let (mut writer, reader) = duplex(64);
    let mut lines = Lines::new(reader, LIMIT);
    writer.write_all(b"early\n").await.unwrap();
    assert!(
        timeout(Duration::from_secs(1), lines.closed())
            .await
            .is_err()
    );
    drop(writer);
    timeout(Duration::from_secs(1), lines.closed())
        .await
        .unwrap();
    assert_eq!(text(&mut lines).await.unwrap().unwrap(), "early");
    assert_eq!(text(&mut lines).await.unwrap(), None);
}

#[tokio::test]
async fn random_bytes_come_out_as_the_lines_they_are() {
    let mut random = Rng::with_seed(11);
    for _ in 0..300 {
        let length = random.usize(..400);
        let bytes: Vec<u8> = (0..length)
            .map(|_| match random.usize(..12) {
                0 => b'\n',
                other => b'a' + u8::try_from(other).unwrap(),
            })
            .collect();
        let (mut writer, reader) = duplex(1 + random.usize(..50));
        let sent = bytes.clone();
        let writing = tokio::spawn(async move { writer.write_all(&sent).await });
        let mut lines = Lines::new(reader, LIMIT);
        let mut seen = Vec::new();
        loop {
            match text(&mut lines).await {
                Ok(Some(line)) => seen.push(Some(line)),
                Ok(None) => break,
                Err(_) => seen.push(None),
            }
        }
        writing.await.unwrap().unwrap();
        let all = String::from_utf8(bytes).unwrap();
        let mut expected: Vec<Option<String>> = all
            .split('\n')
            .map(|line| (line.len() <= LIMIT).then(|| line.to_owned()))
            .collect();
        if expected.last() == Some(&Some(String::new())) {
            expected.pop();
        }
        assert_eq!(seen, expected);
    }
}
