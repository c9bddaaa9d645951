//! Commands, captures and raw modes over the link.

use std::time::Instant;

use pods::{CaptureRequest, Frame};
use tokio::io::AsyncWriteExt;
use usb_sim::Attached;

use super::*;

pub(crate) const CASES: &[Case] = &[
    ("commands_are_answered", commands_are_answered),
    ("a_capture_arrives_whole", a_capture_arrives_whole),
    (
        "connections_go_beside_each_other",
        connections_go_beside_each_other,
    ),
    (
        "a_host_that_was_killed_leaves_nothing",
        a_host_that_was_killed_leaves_nothing,
    ),
];

fn commands_are_answered() {
    run(async {
        let _plugged = Attached::new(simulated(1).plug()).unwrap();
        let pod = online("usb").await;
        let began = Instant::now();
        for _ in 0..200 {
            ping(&pod).await;
        }
        println!("a command takes {:?}", began.elapsed() / 200);
        let set = command(&pod, json!({"cmd": "la_voltage", "mv": 3300})).await;
        assert_eq!(set["mv"], 3300);
    });
}

fn a_capture_arrives_whole() {
    run(async {
        let _plugged = Attached::new(simulated(1).plug()).unwrap();
        let pod = online("usb").await;
        command(&pod, json!({"cmd": "la_voltage", "mv": 3300})).await;
        command(
            &pod,
            json!({"cmd": "target_power", "efuse": 1, "state": true}),
        )
        .await;
        let request = CaptureRequest::La {
            samples: 500_000,
            rate_mhz: 1.0,
            trigger: None,
        };
        let mut capture = pod.capture(request).await.unwrap();
        let mut covered = 0;
        while let Some(frame) = capture.next().await {
            if let Frame::La { upto, .. } = frame.unwrap() {
                covered = upto;
            }
            // Commands go on meanwhile.
            if covered % 100 == 0 {
                ping(&pod).await;
            }
        }
        assert_eq!(covered, 500_000);
    });
}

fn connections_go_beside_each_other() {
    run(async {
        let _plugged = Attached::new(simulated(1).plug()).unwrap();
        let pod = online("usb").await;
        let mut open = Vec::new();
        for _ in 0..5 {
            open.push(pod.open().await.unwrap());
        }
        for round in 0..20 {
            for stream in &mut open {
                let line = format!("{}\n", json!({"cmd": "ping", "round": round}));
                stream.write_all(line.as_bytes()).await.unwrap();
            }
            for stream in &mut open {
                assert!(line(stream).await.contains("\"ok\""));
            }
        }
    });
}

/// A program that dies between any two bytes leaves half a frame on the wire each way.
fn a_host_that_was_killed_leaves_nothing() {
    run(async {
        let _plugged = Attached::new(simulated(1).plug()).unwrap();
        for half in [1, 7, 9, 40] {
            let mut raw = raw::claim().await;
            raw.write(&[0x55; 64][..half]).await;
            drop(raw);
            let pod = online("usb").await;
            ping(&pod).await;
        }
    });
}
