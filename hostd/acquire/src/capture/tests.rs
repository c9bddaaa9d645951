//! Captures of a source that a test plays.

use pod_protocol::capture::{Condition, Edge, Trigger};

use super::*;

/// What a test plays, one read after the other.
struct Played {
    reads: std::vec::IntoIter<Vec<u8>>,
    /// What comes when nothing is left: the end, or nothing for ever.
    has_end: bool,
    /// Dropped with the source.
    _alive: mpsc::Sender<()>,
}

impl Source for Played {
    async fn read(&mut self) -> Result<Option<Piece>, AcquireError> {
        match self.reads.next() {
            None if !self.has_end => std::future::pending().await,
            read => Ok(read.map(Piece::from)),
        }
    }

    async fn ended(&mut self, intake: &Intake) -> AcquireError {
        AcquireError::Ended {
            found: intake.found(),
            asked: intake.asked(),
            said: String::new(),
        }
    }

    fn late(&self, _: &Intake, waited: Duration) -> AcquireError {
        AcquireError::Silent { waited }
    }
}

/// A capture of one-byte samples at 1 kS/s, and what ends with its source.
fn capture(
    samples: u64,
    trigger: Option<Trigger>,
    reads: Vec<Vec<u8>>,
    has_end: bool,
) -> (Capture, mpsc::Receiver<()>) {
    let (alive, ended) = mpsc::channel(1);
    let wiring = Wiring::new(1, &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let source = Played {
        reads: reads.into_iter(),
        has_end,
        _alive: alive,
    };
    let plan = Plan {
        unit: 1,
        samples,
        rate_hz: 1e3,
        search: trigger.map(|trigger| Search::new(trigger, &wiring, 1_000).unwrap()),
        turning: Turning::logic(wiring),
        within: Duration::from_secs(5),
        beside: None,
    };
    (Capture::spawn(source, plan), ended)
}

async fn all(capture: &mut Capture) -> Result<(Vec<(u64, u16)>, u64), AcquireError> {
    let (mut all, mut end) = (Vec::new(), 0);
    while let Some(frame) = capture.next().await {
        let Frame::La { edges, upto } = frame? else {
            panic!("levels were asked for")
        };
        assert!(upto > end, "a frame has samples");
        all.extend(edges);
        end = upto;
    }
    Ok((all, end))
}

fn rising(timeout_ms: u32) -> Trigger {
    Trigger {
        condition: Condition::edge(1, Edge::Rising),
        timeout_ms,
        pre_samples: 0,
    }
}

#[tokio::test(start_paused = true)]
async fn sample_0_is_where_the_trigger_is_met() {
    let reads = vec![vec![1, 1, 0], vec![0, 2], vec![3, 3, 2, 2], vec![7; 9]];
    let (mut capture, mut ended) = capture(6, Some(rising(1_000)), reads, false);
    let expected = vec![(0, 3), (2, 2), (4, 7)];
    assert_eq!(all(&mut capture).await.unwrap(), (expected, 6));
    // The instrument is let go at once, not when the capture is.
    assert_eq!(ended.recv().await, None);
    assert_eq!(capture.rate_hz(), 1e3);
}

#[tokio::test(start_paused = true)]
async fn samples_before_the_trigger_come_first_as_far_as_there_are_some() {
    let reads = vec![vec![4, 5, 4], vec![6, 8], vec![9, 9, 8, 8, 0, 0]];
    for (pre_samples, before, expected) in [
        (2, 2, vec![(0, 6), (1, 8), (2, 9), (4, 8)]),
        (
            9,
            5,
            vec![(0, 4), (1, 5), (2, 4), (3, 6), (4, 8), (5, 9), (7, 8)],
        ),
    ] {
        let trigger = Trigger {
            condition: Condition::Pattern {
                channels: 0b1001,
                levels: 0b1001,
            },
            pre_samples,
            ..rising(1_000)
        };
        let (mut capture, _ended) = capture(pre_samples + 4, Some(trigger), reads.clone(), false);
        let (edges, upto) = all(&mut capture).await.unwrap();
        assert_eq!((edges, upto), (expected, before + 4));
        assert_eq!(capture.trigger_sample(), Some(before));
        assert_eq!(capture.samples(), (before + 4, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_capture_that_nobody_takes_ends_with_the_samples() {
    let reads = (0..=255).map(|value| vec![value; 1_000]).collect();
    let (mut capture, mut ended) = capture(256_000, None, reads, false);
    assert_eq!(ended.recv().await, None);
    let (edges, upto) = all(&mut capture).await.unwrap();
    assert_eq!(upto, 256_000);
    assert_eq!(
        edges,
        Vec::from_iter((0..256_u16).map(|at| (u64::from(at) * 1_000, at)))
    );
}

#[tokio::test(start_paused = true)]
async fn large_reads_become_several_frames() {
    let reads = vec![(0..=255).cycle().take(200_000).collect()];
    let (mut capture, _ended) = capture(200_000, None, reads, true);
    let Some(Ok(Frame::La { edges, upto })) = capture.next().await else {
        panic!("there are samples")
    };
    assert_eq!((edges.len(), upto), (FRAME_SAMPLES_MAX, 65_536));
    let (edges, upto) = all(&mut capture).await.unwrap();
    assert_eq!((edges.len(), upto), (200_000 - FRAME_SAMPLES_MAX, 200_000));
}

#[tokio::test(start_paused = true)]
async fn dropping_it_stops_the_source() {
    let (mut capture, mut ended) = capture(100, None, vec![vec![0; 10]], false);
    capture.next().await.unwrap().unwrap();
    drop(capture);
    assert_eq!(ended.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn an_early_end_and_silence_are_errors_after_what_came() {
    for (has_end, expected) in [
        (true, "the instrument ended after 3 of 5 samples"),
        (
            false,
            "the instrument sent nothing for 5 s; unplug it and plug it in again",
        ),
    ] {
        let (mut capture, _ended) = capture(5, None, vec![vec![0; 3]], has_end);
        assert!(capture.next().await.unwrap().is_ok());
        let error = capture.next().await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(capture.next().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_trigger_is_missed_by_either_clock() {
    let expected = "trigger timeout: no rising edge on LA1 within 20 ms";
    // By the instrument's: 20 samples.
    let (mut late, _ended) = capture(5, Some(rising(20)), vec![vec![0; 25], vec![1; 9]], true);
    let error = late.next().await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), expected);
    // By ours, if it sends too little.
    let began = Instant::now();
    let (mut silent, _ended) = capture(5, Some(rising(20)), vec![vec![0; 5]], false);
    let error = silent.next().await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(began.elapsed(), Duration::from_millis(20) + TRIGGER_SLACK);
    // What never begins is silent.
    let (mut absent, _ended) = capture(5, Some(rising(20)), vec![], false);
    let error = absent.next().await.unwrap().unwrap_err();
    assert!(matches!(error, AcquireError::Silent { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_capture_whose_task_is_gone_is_not_complete() {
    let (mut capture, _ended) = capture(5, None, vec![vec![0; 3]], false);
    assert!(capture.next().await.unwrap().is_ok());
    capture.pump.abort();
    let error = capture.next().await.unwrap().unwrap_err();
    assert!(matches!(
        error,
        AcquireError::Ended {
            found: 3,
            asked: 5,
            ..
        }
    ));
    assert!(capture.next().await.is_none());
}
