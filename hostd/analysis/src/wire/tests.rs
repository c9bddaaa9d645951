//! Frames whole, in pieces, and as no honest child would send them.

use super::*;
use crate::runner::failure;

fn said(bytes: &[u8], piece: usize) -> Result<(Vec<Event>, Option<Said>), Malformed> {
    let (mut listener, mut events) = (Listener::default(), Vec::new());
    for piece in bytes.chunks(piece) {
        listener.push(piece, &mut |event| events.push(event))?;
    }
    Ok((events, listener.end()))
}

fn made(name: &str, len: usize) -> Made {
    Made {
        name: name.to_owned(),
        content_type: "application/json".to_owned(),
        bytes: vec![b'x'; len],
    }
}

fn product() -> Product {
    Product {
        summary: Map::from_iter([("critical".to_owned(), 1.into())]),
        facts: None,
    }
}

fn progress(text: &str) -> Progress {
    Progress {
        stage: text.to_owned(),
        pct: 20,
        message: String::new(),
    }
}

fn written(write: impl FnOnce(&mut Frames<&mut Vec<u8>>) -> io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut Frames::new(&mut bytes)).unwrap();
    bytes
}

#[test]
fn what_is_said_arrives_however_it_is_cut() {
    let artifacts = [made("empty", 0), made("a/b", 3 * FRAME_BYTES_MAX / 2)];
    let bytes = written(|frames| {
        frames.progress(&progress("read"))?;
        artifacts
            .iter()
            .try_for_each(|made| frames.artifact(made))?;
        frames.done(&product())
    });
    for piece in [1, 7, 65_536, bytes.len()] {
        let (events, end) = said(&bytes, piece).unwrap();
        let expected = [
            Event::Progress(progress("read")),
            Event::Made(artifacts[0].clone()),
            Event::Made(artifacts[1].clone()),
        ];
        assert!(events == expected, "pieces of {piece}");
        assert_eq!(end, Some(Said::Done(product())));
    }
    // Cut anywhere, it has no end.
    for cut in [0, 4, 40, bytes.len() - 1] {
        assert_eq!(said(&bytes[..cut], 9).unwrap().1, None, "{cut}");
    }
}

#[test]
fn what_no_honest_child_says_is_refused() {
    let head = |name: &str, size: usize| {
        written(|frames| {
            let head = Head {
                name: name.to_owned(),
                content_type: "text/plain".to_owned(),
                size_bytes: size,
            };
            frames.json(ARTIFACT, &head)
        })
    };
    let data = |len: usize| written(|frames| frames.frame(DATA, &vec![0; len]));
    let done = written(|frames| frames.done(&product()));
    let many: Vec<u8> = (0..=ARTIFACTS_MAX)
        .flat_map(|n| head(&n.to_string(), 0))
        .collect();
    let cases = [
        (head("../etc/passwd", 1), Malformed::Artifact),
        (head("a", ARTIFACT_BYTES_MAX + 1), Malformed::Artifact),
        ([head("a", 0), head("a", 0)].concat(), Malformed::Artifact),
        ([head("a", 1), data(2)].concat(), Malformed::Artifact),
        ([head("a", 1), done.clone()].concat(), Malformed::Frame),
        ([done.clone(), done.clone()].concat(), Malformed::Frame),
        (data(1), Malformed::Frame),
        (many, Malformed::Artifacts),
        (vec![9, 0, 0, 0, 0], Malformed::Frame),
        (vec![DONE, 2, 0, 0, 0, b'{', b'}'], Malformed::Frame),
        (vec![DATA, 0xff, 0xff, 0xff, 0xff], Malformed::Frame),
    ];
    for (bytes, expected) in cases {
        assert_eq!(said(&bytes, 64).unwrap_err(), expected, "{bytes:?}");
    }
}

#[test]
fn its_words_are_short_and_plain() {
    let bytes = written(|frames| {
        frames.progress(&Progress {
            stage: "a\u{1b}[31mb\n".to_owned(),
            pct: 255,
            message: "x".repeat(1000),
        })?;
        frames.refused(&failure("refused", "line 1\r\ncolumn 2"))
    });
    let (events, end) = said(&bytes, 100).unwrap();
    let [Event::Progress(progress)] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(progress.stage, "a[31mb");
    assert_eq!((progress.pct, progress.message.len()), (100, TEXT_MAX));
    assert_eq!(
        end,
        Some(Said::Refused(failure("refused", "line 1column 2")))
    );
}

#[test]
fn a_request_is_read_as_it_was_written_and_the_rest_is_the_board() {
    let request = Request {
        kind: Kind::Ingest,
        params: Map::new(),
        filename: "board.kicad_pcb".to_owned(),
        file_bytes_max: 3,
        unpacked_bytes_max: 4,
        entries_max: 5,
        probes: vec![6],
    };
    let mut bytes = request_bytes(&request).unwrap();
    bytes.extend(b"board");
    let mut from = &bytes[..];
    assert_eq!(read_request(&mut from).unwrap(), request);
    assert_eq!(from, b"board");
    for bad in [
        &b""[..],
        b"\xff\xff\xff\xff",
        b"\x02\0\0\0{}",
        b"\x05\0\0\0{",
    ] {
        assert!(read_request(&mut &bad[..]).is_err(), "{bad:?}");
    }
}

#[test]
fn seeded_bytes_are_understood_or_refused() {
    let valid = written(|frames| {
        frames.progress(&progress("read"))?;
        frames.artifact(&made("a", 100))?;
        frames.done(&product())
    });
    let mut random = base::seeded::Random(0xE1);
    for _ in 0..20_000 {
        let mut bytes = valid.clone();
        for _ in 0..=random.below(6) {
            let at = random.index(bytes.len());
            match random.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, random.next().to_le_bytes()[0]),
                _ if at < bytes.len() => bytes[at] = random.next().to_le_bytes()[0],
                _ => {}
            }
            if bytes.is_empty() {
                break;
            }
        }
        crate::fuzz::frames(&bytes);
    }
}
