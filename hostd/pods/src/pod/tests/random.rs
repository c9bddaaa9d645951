//! Random interleavings of commands, sessions, captures, dropped futures and pulled plugs: nothing
//! hangs, every command gets one answer, and nothing is left behind.

use fastrand::Rng;
use pod_sim::SimPod;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::*;

/// Longest that any one thing may take: the patience of a command and what a grace adds to it.
const LONGEST: Duration = Duration::from_secs(60);

const WORKERS: usize = 6;
const STEPS: usize = 40;

async fn command(pod: &Pod, random: &mut Rng) {
    let la = 7 + random.usize(..4);
    let command = match random.usize(..6) {
        0 => json!({"cmd": "ping"}),
        1 => json!({"cmd": "la_pins"}),
        2 => json!({"cmd": "gpio", "la": la, "mode": "output", "level": 1}),
        3 => json!({"cmd": "gpio", "la": la, "mode": "off"}),
        4 => json!({"cmd": "nrst", "pulse_ms": 1 + random.usize(..900)}),
        _ => json!({"cmd": "warp"}),
    };
    let patience = Duration::from_millis(1 + u64::try_from(random.usize(..20_000)).unwrap());
    let answer = pod.command(object(command.clone()), patience).await;
    let expected = match (&answer, command["cmd"].as_str().unwrap()) {
        (Ok(data), "ping") => data == "pong",
        (Ok(data), "la_pins") => data["pins"].as_array().is_some_and(|pins| pins.len() == 14),
        (Ok(data), "gpio") => data["pins"].as_array().is_some_and(|pins| pins.len() == 1),
        (Ok(data), "nrst") => data["asserted"] == false,
        (Ok(_), _) => false,
        (Err(PodError::Refused(_)), _) => true,
        (Err(PodError::Timeout { .. } | PodError::Offline { .. }), _) => true,
        (Err(_), _) => false,
    };
    assert!(expected, "{command}: {answer:?}");
}

/// Uses a session for a while and gives it up in one of several ways.
async fn uart(pod: &Pod, random: &mut Rng) {
    let Ok(mut session) = pod.uart(3, 4, 115_200, None).await else {
        return;
    };
    for _ in 0..random.usize(..4) {
        let mut echo = [0; 3];
        let exchanged = async {
            session.write_all(b"abc").await?;
            session.read_exact(&mut echo).await
        };
        match timeout(Duration::from_secs(1), exchanged).await {
            Ok(Ok(_)) => assert_eq!(&echo, b"abc"),
            Ok(Err(_)) | Err(_) => break,
        }
    }
    end(session, random).await;
}

async fn raw(pod: &Pod, random: &mut Rng) {
    let kind = *random.choice(&SessionKind::ALL).unwrap();
    if let Ok(session) = pod.begin(kind).await {
        sleep(Duration::from_millis(
            u64::try_from(random.usize(..300)).unwrap(),
        ))
        .await;
        end(session, random).await;
    }
}

async fn end(session: Session, random: &mut Rng) {
    match random.usize(..4) {
        0 => drop(session),
        1 => session.revoke("the test says so"),
        _ => drop(session.close().await),
    }
}

async fn capture(pod: &Pod, random: &mut Rng) {
    let la = CaptureRequest::La {
        samples: 1 + u64::try_from(random.usize(..200_000)).unwrap(),
        rate_mhz: 1.0,
        trigger: None,
    };
    let Ok(mut stream) = pod.capture(la).await else {
        return;
    };
    let frames = random.usize(..900);
    for _ in 0..frames {
        if !matches!(stream.next().await, Some(Ok(_))) {
            return;
        }
    }
}

async fn upload(pod: &Pod, random: &mut Rng) {
    let codes = vec![0; 2 * (1 + random.usize(..2_000))];
    if let Ok(mut upload) = pod
        .upload(&codes, random.usize(..2) == 0, &mut |_| {})
        .await
    {
        let _ = upload.replay(None, Some(0.1), false).await;
        if random.usize(..2) == 0 {
            let _ = upload.close().await;
        }
    }
}

async fn worker(pod: Pod, seed: u64) {
    let mut random = Rng::with_seed(seed);
    for _ in 0..STEPS {
        let mut inner = Rng::with_seed(u64::try_from(random.usize(..1 << 30)).unwrap());
        let choice = random.usize(..8);
        let work = async {
            match choice {
                0..=2 => command(&pod, &mut inner).await,
                3 => uart(&pod, &mut inner).await,
                4 => raw(&pod, &mut inner).await,
                5 => upload(&pod, &mut inner).await,
                _ => capture(&pod, &mut inner).await,
            }
        };
        if random.usize(..3) == 0 {
            // Given up at a random point.
            let patience = Duration::from_micros(u64::try_from(random.usize(..400_000)).unwrap());
            let _ = timeout(patience, work).await;
        } else {
            let finished = timeout(LONGEST, work).await;
            assert!(finished.is_ok(), "choice {choice} of seed {seed} hangs");
        }
        sleep(Duration::from_micros(
            u64::try_from(random.usize(..50_000)).unwrap(),
        ))
        .await;
    }
}

/// Pulls the plug and puts it back, for short and for long, and restarts the pod.
async fn trouble(bench: Arc<SimPod>, seed: u64) {
    let mut random = Rng::with_seed(seed);
    loop {
        sleep(Duration::from_millis(
            u64::try_from(random.usize(..8_000)).unwrap(),
        ))
        .await;
        if random.usize(..4) == 0 {
            bench.reboot();
            continue;
        }
        bench.set_plugged(false);
        let away = if random.usize(..4) == 0 {
            15_000
        } else {
            1_500
        };
        sleep(Duration::from_millis(
            u64::try_from(random.usize(..away)).unwrap(),
        ))
        .await;
        bench.set_plugged(true);
    }
}

#[tokio::test(start_paused = true)]
async fn random_interleavings_leave_nothing_behind() {
    for seed in 1..=6_u64 {
        let bench = bench(SimConfig {
            seed,
            jumpers: vec![(3, 4)],
            ..SimConfig::default()
        });
        let pod = Pod::spawn(bench.clone(), PodOptions::default());
        pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
        let trouble = tokio::spawn(trouble(bench.clone(), seed << 40));
        let mut workers = JoinSet::new();
        for worker_seed in 0..WORKERS {
            let seed = (seed << 32) + (u64::try_from(worker_seed).unwrap() << 16);
            workers.spawn(worker(pod.clone(), seed));
        }
        while let Some(finished) = workers.join_next().await {
            finished.unwrap();
        }
        trouble.abort();
        let _ = trouble.await;
        bench.set_plugged(true);
        pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
        assert_eq!((pod.sessions().len(), pod.connections_taken()), (0, 0));
        ask(&pod, json!({"cmd": "ping"})).await.unwrap();
        // A restart has unselected the bank; releasing GPIO needs it.
        pod.set_la_voltage(3300).await.unwrap();
        release_all(&pod).await;
        let table = ask(&pod, json!({"cmd": "la_pins"})).await.unwrap();
        let pins = table["pins"].as_array().unwrap();
        assert!(
            pins.iter().all(|pin| pin["function"] == "none"),
            "seed {seed}: {table}"
        );
    }
}
