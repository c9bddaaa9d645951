//! Pods that come and go.

use std::time::Instant;

use pods::{CaptureRequest, PodError, PodState};
use usb_sim::Attached;

use super::*;

pub(crate) const CASES: &[Case] = &[
    ("what_is_plugged_in_is_listed", what_is_plugged_in_is_listed),
    (
        "a_pod_that_comes_later_is_found",
        a_pod_that_comes_later_is_found,
    ),
    (
        "unplugged_between_any_two_steps",
        unplugged_between_any_two_steps,
    ),
    ("unplugged_while_it_captures", unplugged_while_it_captures),
    ("two_pods_are_told_apart", two_pods_are_told_apart),
    ("a_second_program_is_told", a_second_program_is_told),
];

fn what_is_plugged_in_is_listed() {
    run(async {
        assert_eq!(pods::usb::plugged().await.unwrap(), []);
        let _plugged = Attached::new(simulated(1).plug()).unwrap();
        let pod = listed(1).await.remove(0);
        assert_eq!(pod.ids, (0x1209, 0x0001));
        assert_eq!(pod.product.as_deref(), Some("Bench pod (simulated)"));
        assert!(pod.serial.is_some_and(|serial| serial.len() == 6));
        assert!(pod.port.contains('-'));
    });
}

/// Waits until so many are there: the kernel takes a moment.
pub(crate) async fn listed(count: usize) -> Vec<pods::usb::Plugged> {
    let began = Instant::now();
    loop {
        let pods = pods::usb::plugged().await.unwrap();
        if pods.len() == count {
            return pods;
        }
        assert!(began.elapsed() < PATIENCE, "{pods:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn a_pod_that_comes_later_is_found() {
    run(async {
        let pod = spawned("usb");
        let offline = pod.wait_online(Duration::from_secs(8)).await.unwrap_err();
        let offline = offline.to_string();
        assert!(offline.contains("no pod is plugged into USB"), "{offline}");
        let sim = simulated(1);
        for _ in 0..3 {
            let plugged = Attached::new(sim.plug()).unwrap();
            let began = Instant::now();
            pod.wait_online(PATIENCE).await.unwrap();
            println!("a plugged pod is online after {:?}", began.elapsed());
            drop(plugged);
            gone(&pod).await;
        }
    });
}

/// Waits until the pod counts as offline.
async fn gone(pod: &Pod) {
    let mut state = pod.watch();
    let offline = state.wait_for(|state| matches!(state, PodState::Offline { .. }));
    let offline = tokio::time::timeout(PATIENCE, offline).await;
    offline.expect("it goes offline").unwrap();
}

fn unplugged_between_any_two_steps() {
    run(async {
        let sim = simulated(1);
        let pod = spawned("usb");
        // Delays that fall into enumeration, opening, the greeting, the first commands, and idling.
        for delay_ms in [0, 1, 3, 10, 30, 60, 100, 200, 400, 800, 1500] {
            let plugged = Attached::new(sim.plug()).unwrap();
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            drop(plugged);
            listed(0).await;
        }
        let _plugged = Attached::new(sim.plug()).unwrap();
        pod.wait_online(PATIENCE).await.unwrap();
        ping(&pod).await;
    });
}

fn unplugged_while_it_captures() {
    run(async {
        let plugged = Attached::new(simulated(1).plug()).unwrap();
        let pod = online("usb").await;
        command(&pod, json!({"cmd": "la_voltage", "mv": 3300})).await;
        let request = CaptureRequest::La {
            samples: 4_000_000,
            rate_mhz: 1.0,
            trigger: None,
        };
        let mut capture = pod.capture(request).await.unwrap();
        let unplugging = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(plugged);
            Instant::now()
        });
        let error = loop {
            match capture.next().await {
                Some(Ok(_)) => {}
                Some(Err(error)) => break error,
                None => panic!("four seconds are not over"),
            }
        };
        let since = unplugging.await.unwrap().elapsed();
        println!("unplugging is an error after {since:?}");
        assert!(since < Duration::from_secs(5));
        assert!(matches!(error, PodError::Offline { .. }), "{error}");
    });
}

fn two_pods_are_told_apart() {
    run(async {
        let (one, other) = (simulated(1), simulated(2));
        let _one = Attached::new(one.plug()).unwrap();
        let _other = Attached::new(other.plug()).unwrap();
        let listed = listed(2).await;
        let keys: Vec<String> = {
            let mut keys = Vec::new();
            for plugged in &listed {
                let by_serial = format!("usb:serial={}", plugged.serial.as_ref().unwrap());
                let pod = online(&by_serial).await;
                let key = pod.identity().unwrap().public_key;
                drop(pod);
                let by_port = online(&format!("usb:port={}", plugged.port)).await;
                assert_eq!(by_port.identity().unwrap().public_key, key);
                keys.push(key);
            }
            keys
        };
        assert_ne!(keys[0], keys[1]);
        // Whoever takes any pod takes one that nobody has.
        let (first, second) = (online("usb").await, online("usb").await);
        assert_ne!(first.identity(), second.identity());
        let third = spawned("usb");
        let offline = third.wait_online(Duration::from_secs(8)).await.unwrap_err();
        assert!(
            offline.to_string().contains("used by another program"),
            "{offline}"
        );
    });
}

fn a_second_program_is_told() {
    run(async {
        // Those of an earlier test are gone.
        listed(0).await;
        let _plugged = Attached::new(simulated(1).plug()).unwrap();
        let raw = raw::claim().await;
        let pod = spawned("usb");
        let offline = pod.wait_online(Duration::from_secs(8)).await.unwrap_err();
        assert!(
            offline.to_string().contains("used by another program"),
            "{offline}"
        );
        drop(raw);
        pod.wait_online(PATIENCE).await.unwrap();
    });
}
