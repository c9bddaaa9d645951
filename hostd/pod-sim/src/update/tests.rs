//! Updates from begin to restart: what is checked, who may continue, what excludes what.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::SigningKey;
use fastrand::Rng;
use pod_protocol::commands::Tier;
use pod_protocol::{Refusal, RefusalKind};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::{Duration, sleep};

use super::{PIECE_BYTES_MAX, Signable, Target};
use crate::tests::{Client, bench};
use crate::{FirmwareImage, Origin, SimConfig, SimPod};

const SECRET: [u8; 32] = [9; 32];
const OTHER_SECRET: [u8; 32] = [10; 32];
const CLOUD: Origin = Origin::Tunnel(Tier::Firmware);

fn pod() -> Arc<SimPod> {
    bench(SimConfig {
        update_keys: vec![SigningKey::from_bytes(&SECRET).verifying_key().to_bytes()],
        ..SimConfig::default()
    })
}

fn image(flash_kb: u16) -> Vec<u8> {
    let header = FirmwareImage {
        version: [4, 1, 2],
        flash_kb,
        checks_signatures: true,
    };
    header.build(&[0x5A; 2000])
}

fn begin(image: &[u8], target: &str) -> Value {
    let mut request = json!({"cmd": "ota_begin", "size": image.len(),
        "sha256": hex::encode(Sha256::digest(image))});
    if !target.is_empty() {
        request["target"] = target.into();
    }
    request
}

fn signed(image: &[u8], sig: Option<String>) -> Value {
    let mut request = begin(image, "");
    request["sig"] = sig.into();
    request
}

fn piece(image: &[u8], offset: usize) -> Value {
    let end = image.len().min(offset + PIECE_BYTES_MAX);
    let data = URL_SAFE_NO_PAD.encode(&image[offset..end]);
    json!({"cmd": "ota_data", "offset": offset, "data": data})
}

async fn send(client: &mut Client, image: &[u8]) {
    for offset in (0..image.len()).step_by(PIECE_BYTES_MAX) {
        client.ok(piece(image, offset)).await;
    }
}

async fn version(pod: &Arc<SimPod>) -> String {
    let mut client = Client::from(pod, Origin::Usb).await;
    let status = client.ok(json!({"cmd": "status"})).await;
    status["version"].as_str().unwrap().to_owned()
}

async fn set_policy(pod: &Arc<SimPod>, policy: &str) {
    let mut usb = Client::from(pod, Origin::Usb).await;
    usb.ok(json!({"cmd": "sig_policy", "set": policy})).await;
}

/// The state after `ota_end`, and the error.
async fn ended(client: &mut Client, request: Value, image: &[u8]) -> (String, String, String) {
    let begun = client.ok(request).await;
    assert_eq!(begun["state"], "receiving");
    send(client, image).await;
    let session = client.ok(json!({"cmd": "ota_end"})).await;
    let word = |field: &str| session[field].as_str().unwrap().to_owned();
    (word("state"), word("sig"), word("error"))
}

#[tokio::test(start_paused = true)]
async fn new_firmware_runs_after_the_restart() {
    let pod = pod();
    let image = image(2048);
    let mut client = Client::new(&pod).await;
    let idle = client.ok(json!({"cmd": "ota_status"})).await;
    assert_eq!(
        idle,
        json!({"state": "idle", "target": "", "received": 0, "size": 0, "frames_seen": 0,
            "sig": "none", "sig_key": "", "owner": "", "error": ""})
    );
    client.ok(begin(&image, "")).await;
    send(&mut client, &image).await;
    let session = client.ok(json!({"cmd": "ota_end"})).await;
    assert_eq!(
        session,
        json!({"state": "verified", "target": "", "received": image.len(), "size": image.len(),
            "frames_seen": 3, "sig": "none", "sig_key": "", "owner": "lan:1", "error": ""})
    );
    let committed = client.ok(json!({"cmd": "ota_commit"})).await;
    assert_eq!(committed, json!({"committing": true}));
    assert_eq!(client.reply().await, None);
    assert!(pod.link(Origin::Lan).connect().await.is_err());
    sleep(Duration::from_millis(1_600)).await;
    assert_eq!(version(&pod).await, "4.1.2");
    let mut client = Client::new(&pod).await;
    let idle = client.ok(json!({"cmd": "ota_status"})).await;
    assert_eq!(idle["state"], "idle");
    let passed = client.ok(json!({"cmd": "ota_selftest"})).await;
    assert_eq!(passed, json!({"selftest": "pass"}));
    pod.reboot();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(version(&pod).await, "4.1.2");
}

#[tokio::test(start_paused = true)]
async fn power_lost_on_the_way_leaves_the_old_firmware() {
    let pod = pod();
    let old = version(&pod).await;
    let image = image(2048);
    let mut client = Client::new(&pod).await;
    client.ok(begin(&image, "")).await;
    client.ok(piece(&image, 0)).await;
    pod.set_plugged(false);
    assert_eq!(client.reply().await, None);
    pod.reboot();
    sleep(Duration::from_secs(2)).await;
    pod.set_plugged(true);
    assert_eq!(version(&pod).await, old);
    let mut client = Client::new(&pod).await;
    let text = client.refused(json!({"cmd": "ota_end"})).await;
    assert_eq!(text, "no update is receiving");
    // An image that was checked but not committed is not installed either.
    let (state, ..) = ended(&mut client, begin(&image, ""), &image).await;
    assert_eq!(state, "verified");
    pod.reboot();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(version(&pod).await, old);
}

#[tokio::test(start_paused = true)]
async fn what_arrived_wrong_is_not_installed() {
    let pod = pod();
    let mut client = Client::new(&pod).await;
    let (good, foreign) = (image(2048), image(1024));
    let mut bad = good.clone();
    bad[100] ^= 1;
    let (state, _, error) = ended(&mut client, begin(&good, ""), &bad).await;
    let found = hex::encode(Sha256::digest(&bad));
    assert_eq!(
        (state.as_str(), error),
        ("error", format!("sha256 is {found}"))
    );
    let text = client.refused(json!({"cmd": "ota_commit"})).await;
    assert_eq!(text, "no update is verified");
    let (_, _, error) = ended(&mut client, begin(&foreign, ""), &foreign).await;
    assert_eq!(error, "built for 1024 KiB flash, this pod has 2048 KiB");
    let (_, _, error) = ended(&mut client, begin(b"elf", ""), b"elf").await;
    assert_eq!(error, "this is no firmware image");
    client.ok(begin(&good, "")).await;
    let short = client.ok(json!({"cmd": "ota_end"})).await;
    let size = good.len();
    assert_eq!(short["error"], format!("0 of {size} bytes were received"));
    client.ok(begin(&good, "")).await;
    client.ok(piece(&good, 0)).await;
    // Sent again because the answer was lost: this changes nothing.
    let again = client.ok(piece(&good, 0)).await;
    assert_eq!(
        (&again["state"], &again["received"]),
        (&json!("receiving"), &json!(768))
    );
    let gap = client.ok(piece(&good, 800)).await;
    assert_eq!(gap["error"], "offset 800 does not follow 768 bytes");
    client.ok(begin(b"ab", "gw0")).await;
    let more = client
        .ok(json!({"cmd": "ota_data", "offset": 0, "data": "AAAA"}))
        .await;
    assert_eq!(more["error"], "more than the 2 bytes that were announced");
}

#[tokio::test(start_paused = true)]
async fn requests_that_make_no_update_are_refused() {
    let pod = pod();
    let mut client = Client::new(&pod).await;
    let sha256 = "0".repeat(64);
    for (request, text) in [
        (json!({"cmd": "ota_begin"}), "missing size"),
        (json!({"cmd": "ota_begin", "size": 9}), "missing sha256"),
        (
            json!({"cmd": "ota_begin", "size": 9, "sha256": "x"}),
            "bad sha256: want 64 hexadecimal digits",
        ),
        (
            json!({"cmd": "ota_begin", "size": 9, "sha256": sha256, "target": "fw"}),
            "bad target: want gw0, gw1, esp, ca or tls",
        ),
        (
            json!({"cmd": "ota_begin", "size": 7665, "sha256": sha256, "target": "gw0x"}),
            "bad target: want gw0, gw1, esp, ca or tls",
        ),
        (
            json!({"cmd": "ota_begin", "size": (1 << 20) + 1, "sha256": sha256}),
            "size out of range: this takes at most 1048576 bytes",
        ),
        (
            json!({"cmd": "ota_begin", "size": 9, "sha256": sha256, "target": "ca"}),
            "cloud_ca: change it from the cloud or over USB",
        ),
        (
            json!({"cmd": "ota_begin", "size": 9, "sha256": sha256, "target": "tls"}),
            "lan_tls: change it over TLS (port 8443), over USB or from the cloud",
        ),
        (json!({"cmd": "ota_data"}), "missing offset"),
        (json!({"cmd": "ota_data", "offset": 0}), "missing data"),
        (
            json!({"cmd": "ota_data", "offset": 0, "data": ""}),
            "bad data: want base64url of 1 to 768 bytes",
        ),
        (
            json!({"cmd": "ota_data", "offset": 0, "data": "AA"}),
            "no update is receiving",
        ),
        (json!({"cmd": "ota_end"}), "no update is receiving"),
        (json!({"cmd": "ota_commit"}), "no update is verified"),
    ] {
        assert_eq!(client.refused(request).await, text);
    }
    let mut tls = Client::from(&pod, Origin::LanTls).await;
    let large = json!({"cmd": "ota_begin", "size": 7665, "sha256": sha256, "target": "tls"});
    assert_eq!(
        tls.refused(large).await,
        "size out of range: this takes at most 7664 bytes"
    );
}

#[tokio::test(start_paused = true)]
async fn signatures_are_judged_one_by_one() {
    let pod = pod();
    let image = image(2048);
    let of = |target, image, flash_kb_min| Signable {
        target,
        image,
        version: [4, 1, 2],
        flash_kb_min,
    };
    let good = of(Target::Firmware, &image, 1024).sign(&SECRET);
    let mut broken = URL_SAFE_NO_PAD.decode(good.as_ref().unwrap()).unwrap();
    broken[127] ^= 1;
    let mut client = Client::new(&pod).await;
    for (sig, judged) in [
        (None, "none"),
        (good.clone(), "ok"),
        (Some("AAAA".to_owned()), "format"),
        (
            of(Target::Firmware, &image, 1024).sign(&OTHER_SECRET),
            "unknown-key",
        ),
        (Some(URL_SAFE_NO_PAD.encode(broken)), "signature"),
        (of(Target::Gateware0, &image, 1024).sign(&SECRET), "target"),
        (of(Target::Firmware, b"other", 1024).sign(&SECRET), "image"),
        (of(Target::Firmware, &image, 4096).sign(&SECRET), "image"),
    ] {
        for (policy, accepts) in [
            ("audit", true),
            ("permissive", matches!(judged, "none" | "ok")),
            ("required", judged == "ok"),
        ] {
            set_policy(&pod, policy).await;
            let (state, sig, error) = ended(&mut client, signed(&image, sig.clone()), &image).await;
            assert_eq!(sig, judged);
            let refused = format!("signature policy `{policy}` refuses: {judged}");
            let expected = if accepts {
                ("verified", "")
            } else {
                ("error", refused.as_str())
            };
            assert_eq!(
                (state.as_str(), error.as_str()),
                expected,
                "{policy} {judged}"
            );
        }
    }
    let session = client.ok(signed(&image, good)).await;
    let key = SigningKey::from_bytes(&SECRET).verifying_key();
    let id = hex::encode(&Sha256::digest(key.as_bytes())[..8]);
    assert_eq!(session["sig_key"], id);
    assert_eq!(of(Target::LanTls, &image, 0).sign(&SECRET), None);
}

#[tokio::test(start_paused = true)]
async fn a_required_signature_cannot_be_shaken_off_by_firmware() {
    let pod = pod();
    set_policy(&pod, "required").await;
    let header = FirmwareImage {
        version: [1, 0, 0],
        flash_kb: 2048,
        checks_signatures: false,
    };
    let image = header.build(b"old");
    let signable = Signable {
        target: Target::Firmware,
        image: &image,
        version: [1, 0, 0],
        flash_kb_min: 0,
    };
    let mut client = Client::new(&pod).await;
    let request = signed(&image, signable.sign(&SECRET));
    let (state, sig, error) = ended(&mut client, request, &image).await;
    assert_eq!((state.as_str(), sig.as_str()), ("error", "ok"));
    assert_eq!(
        error,
        "signature policy `required` refuses: the image could not enforce it"
    );
}

#[tokio::test(start_paused = true)]
async fn one_transport_updates_at_a_time() {
    let pod = pod();
    let image = image(2048);
    let mut lan = Client::new(&pod).await;
    let mut second = Client::new(&pod).await;
    let mut cloud = Client::from(&pod, CLOUD).await;
    second.ok(json!({"cmd": "ping"})).await;
    lan.ok(begin(&image, "")).await;
    let busy = "busy: firmware update from lan:1 is in progress";
    for client in [&mut second, &mut cloud] {
        for request in [
            begin(&image, ""),
            piece(&image, 0),
            json!({"cmd": "ota_abort"}),
        ] {
            let text = client.refused(request).await;
            assert_eq!(text, busy);
            assert_eq!(Refusal::new(text).kind, RefusalKind::Busy);
        }
        let session = client.ok(json!({"cmd": "ota_status"})).await;
        assert_eq!(session["owner"], "lan:1");
    }
    // Within the LAN, the next connection continues once the first has closed.
    lan.ok(piece(&image, 0)).await;
    drop(lan);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(cloud.refused(begin(&image, "")).await, busy);
    let session = second.ok(piece(&image, PIECE_BYTES_MAX)).await;
    assert_eq!(
        (&session["owner"], &session["received"]),
        (&json!("lan:2"), &json!(1536))
    );
    // Nobody continued for a while: another transport begins its own session.
    sleep(Duration::from_secs(29)).await;
    let text = cloud.refused(begin(&image, "gw1")).await;
    assert_eq!(text, "busy: firmware update from lan:2 is in progress");
    sleep(Duration::from_secs(1)).await;
    let session = cloud.ok(begin(&image, "gw1")).await;
    assert_eq!(session["owner"], "cloud");
    let text = second.refused(piece(&image, 0)).await;
    assert_eq!(text, "busy: gw1 update from cloud is in progress");
    let session = cloud.ok(json!({"cmd": "ota_abort"})).await;
    assert_eq!(session["state"], "idle");
    second.ok(begin(&image, "")).await;
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_session_is_not_continued_by_another_transport() {
    let pod = pod();
    let image = image(2048);
    let mut cloud = Client::from(&pod, CLOUD).await;
    cloud.ok(begin(&image, "")).await;
    sleep(Duration::from_secs(31)).await;
    let mut lan = Client::new(&pod).await;
    let text = lan.refused(piece(&image, 0)).await;
    assert_eq!(text, "no update is receiving");
    lan.ok(begin(&image, "")).await;
}

#[tokio::test(start_paused = true)]
async fn staging_and_captures_exclude_each_other() {
    let pod = pod();
    let image = image(2048);
    let mut updating = Client::new(&pod).await;
    let mut capturing = Client::new(&pod).await;
    updating.ok(begin(&image, "")).await;
    let capture = json!({"cmd": "la_capture", "samples": 100});
    assert_eq!(capturing.refused(capture.clone()).await, "busy");
    updating.ok(json!({"cmd": "ota_abort"})).await;
    let slow = json!({"cmd": "la_capture", "samples": 2_000_000, "sample_rate_mhz": 1.0});
    capturing.send(&slow).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(updating.refused(begin(&image, "")).await, "busy");
    capturing.captured().await.unwrap();
    updating.ok(begin(&image, "")).await;
    // A session that nobody continued does not block captures forever.
    sleep(Duration::from_secs(30)).await;
    capturing.capture(capture).await;
    let session = updating.ok(json!({"cmd": "ota_status"})).await;
    assert_eq!(
        (&session["state"], &session["error"]),
        (
            &json!("error"),
            &json!("the staged image was overwritten by a capture")
        )
    );
}

#[tokio::test(start_paused = true)]
async fn blobs_are_written_and_stay() {
    let pod = pod();
    let mut client = Client::new(&pod).await;
    let blobs = client.ok(json!({"cmd": "blob_status"})).await;
    let words = |blobs: &Value, field: &str| -> Vec<Value> {
        let blobs = blobs["blobs"].as_array().unwrap();
        blobs.iter().map(|blob| blob[field].clone()).collect()
    };
    assert_eq!(words(&blobs, "name"), ["gw0", "gw1", "esp"]);
    assert_eq!(words(&blobs, "state"), ["ok", "ok", "missing"]);
    let mut request = begin(b"wireless", "esp");
    request["version"] = "1.2".into();
    let (state, ..) = ended(&mut client, request, b"wireless").await;
    assert_eq!(state, "verified");
    let session = client.ok(json!({"cmd": "ota_commit"})).await;
    assert_eq!(
        (&session["state"], &session["target"], &session["received"]),
        (&json!("installed"), &json!("esp"), &json!(8))
    );
    pod.reboot();
    sleep(Duration::from_secs(2)).await;
    let mut client = Client::new(&pod).await;
    let blobs = client.ok(json!({"cmd": "blob_status"})).await;
    assert_eq!(
        blobs["blobs"][2],
        json!({"name": "esp", "state": "ok", "present": true, "size": 8, "version": "1.2",
            "sha256": hex::encode(Sha256::digest(b"wireless"))})
    );
}

/// Whatever arrives in whatever order: the pod runs the old firmware or, after a commit that it
/// accepted, the new one.
#[tokio::test(start_paused = true)]
async fn a_random_update_never_leaves_anything_but_one_of_both() {
    for seed in 1..=8 {
        let mut random = Rng::with_seed(seed << 32);
        let pod = pod();
        let image = image(2048);
        let mut client = Client::new(&pod).await;
        let mut expected = version(&pod).await;
        for _ in 0..300 {
            let request = match random.usize(..16) {
                0 => begin(&image, ""),
                1 => begin(&image, "gw0"),
                2..=7 => piece(&image, PIECE_BYTES_MAX * random.usize(..3)),
                8..=10 => json!({"cmd": "ota_end"}),
                11 => json!({"cmd": "ota_commit"}),
                12 => json!({"cmd": "la_capture", "samples": 1}),
                13 if random.usize(..4) == 0 => json!({"cmd": "ota_abort"}),
                14 if random.usize(..4) == 0 => {
                    sleep(Duration::from_secs(20)).await;
                    json!({"cmd": "ota_status"})
                }
                15 if random.usize(..4) == 0 => {
                    client = Client::new(&pod).await;
                    json!({"cmd": "ota_status"})
                }
                _ => json!({"cmd": "ota_status"}),
            };
            let reply = client.ask(request).await;
            assert!(reply["status"].is_string());
            if reply["data"] == json!({"committing": true}) {
                expected = "4.1.2".to_owned();
                sleep(Duration::from_secs(2)).await;
                client = Client::new(&pod).await;
            }
            assert_eq!(version(&pod).await, expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn any_image_header_is_read_or_refused() {
    let mut random = Rng::with_seed(11);
    let good = image(2048);
    for _ in 0..2000 {
        let mut bytes = good[..random.usize(..40)].to_vec();
        for _ in 0..random.usize(..3) {
            if let Some(last) = bytes.len().checked_sub(1) {
                bytes[random.usize(..last + 1)] ^= u8::try_from(random.usize(..256)).unwrap();
            }
        }
        if let Some(read) = FirmwareImage::read(&bytes) {
            assert_eq!(read.build(&bytes[12..])[..10], bytes[..10]);
        }
    }
}
