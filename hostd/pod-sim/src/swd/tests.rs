//! Debug sessions of a pod, with and without a target.

use std::sync::Arc;

use pod_protocol::dap_frame::DAP_SILENCE_MAX;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::tests::{Client, bench};
use crate::{SLOW_SWD_DELAY, SimConfig, SimPod, TargetConfig};

/// The identification code of the part's debug port.
const IDR: [u8; 4] = 0x0bb1_1477_u32.to_le_bytes();

fn pod(target: Option<TargetConfig>) -> Arc<SimPod> {
    bench(SimConfig {
        target,
        ..SimConfig::default()
    })
}

fn start() -> Value {
    json!({"cmd": "dap_start", "swclk": 11, "swdio": 12, "packet_size": 512, "packet_count": 3})
}

async fn exchange(client: &mut Client, packet: &[u8]) -> Vec<u8> {
    let length = u16::try_from(packet.len()).unwrap().to_le_bytes();
    client.send_raw(&[&length, packet].concat()).await;
    let length = client.read_raw(2).await;
    let length = u16::from_le_bytes([length[0], length[1]]);
    client.read_raw(length.into()).await
}

/// Connects, wakes the debug port and reads its identification.
async fn idr(client: &mut Client) -> Vec<u8> {
    assert_eq!(exchange(client, &[0x02, 1]).await, [0x02, 1]);
    exchange(client, &[0x11, 0x40, 0x42, 0x0f, 0]).await;
    let reset = [&[0x12, 56][..], &[0xff; 7]].concat();
    exchange(client, &reset).await;
    exchange(client, &[0x12, 16, 0x9e, 0xe7]).await;
    exchange(client, &reset).await;
    exchange(client, &[0x12, 8, 0]).await;
    exchange(client, &[0x05, 0, 1, 0x02]).await
}

async fn power(client: &mut Client) {
    client
        .ok(json!({"cmd": "target_power", "efuse": 1, "state": 1}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_target_with_power_identifies_itself() {
    let pod = pod(Some(TargetConfig::blank()));
    let mut client = Client::new(&pod).await;
    assert_eq!(client.ok(start()).await, "dap ready");
    assert_eq!(exchange(&mut client, &[0, 0xff]).await, [0, 2, 0, 2]);
    assert_eq!(exchange(&mut client, &[0, 0xfe]).await, [0, 1, 3]);
    assert_ne!(idr(&mut client).await[2], 1, "no answer without power");
    power(&mut Client::new(&pod).await).await;
    let answer = idr(&mut client).await;
    assert_eq!(answer, [&[0x05, 1, 1][..], &IDR].concat());
}

#[tokio::test(start_paused = true)]
async fn without_a_target_the_probe_answers_and_the_wire_is_silent() {
    let silent = [
        (None, start()),
        (
            Some(TargetConfig::blank()),
            json!({"cmd": "dap_start", "swclk": 12, "swdio": 11}),
        ),
    ];
    for (target, start) in silent {
        let pod = pod(target);
        let mut client = Client::new(&pod).await;
        power(&mut client).await;
        client.ok(start).await;
        let answer = idr(&mut client).await;
        assert_eq!(answer, [0x05, 0, 7], "nothing acknowledged");
    }
}

#[tokio::test(start_paused = true)]
async fn the_acknowledgement_waits_for_a_steady_answer() {
    let slow = TargetConfig {
        swd_delay: SLOW_SWD_DELAY,
        ..TargetConfig::demo()
    };
    let pod = pod(Some(slow));
    let mut client = Client::new(&pod).await;
    let wait = json!({"cmd": "dap_start", "swclk": 11, "swdio": 12, "wait_ms": 5000});
    let asked = Instant::now();
    client.send(&wait).await;
    sleep(Duration::from_millis(500)).await;
    power(&mut Client::new(&pod).await).await;
    assert_eq!(client.reply().await.unwrap()["data"], "dap ready");
    let waited = asked.elapsed().as_millis();
    assert!((2_790..2_820).contains(&waited), "{waited} ms");
    assert_eq!(idr(&mut client).await[3..], IDR);
}

#[tokio::test(start_paused = true)]
async fn the_wait_ends_and_is_bounded() {
    let pod = pod(None);
    for (wait_ms, took_ms) in [(300, 300), (3_600_000, 10_000)] {
        let mut client = Client::new(&pod).await;
        let asked = Instant::now();
        let wait = json!({"cmd": "dap_start", "swclk": 11, "swdio": 12, "wait_ms": wait_ms});
        assert_eq!(client.ok(wait).await, "dap ready");
        assert_eq!(asked.elapsed().as_millis() / 10 * 10, took_ms);
        drop(client);
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_length_out_of_bounds_returns_to_commands() {
    let pod = pod(None);
    let mut client = Client::new(&pod).await;
    for end in [0_u16, 1_025, u16::MAX] {
        client.ok(start()).await;
        let request = json!({"cmd": "la_pins"}).to_string();
        let bytes = [&end.to_le_bytes()[..], request.as_bytes(), b"\n"].concat();
        client.send_raw(&bytes).await;
        let pins = client.reply().await.unwrap();
        assert_eq!(pins["data"]["pins"][10]["function"], "none", "{pins}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_engine_belongs_to_one_and_the_channels_are_free_after_it() {
    let pod = pod(None);
    let mut client = Client::new(&pod).await;
    let mut other = Client::new(&pod).await;
    let spi = json!({"cmd": "spi_start", "sck": 5, "mosi": 6, "miso": 7, "cs": 8});
    other.ok(spi.clone()).await;
    let text = client.refused(start()).await;
    assert!(text.contains(r#"({"cmd":"spi_stop"})"#), "{text}");
    other.ok(json!({"cmd": "spi_stop"})).await;
    client.ok(start()).await;
    let pins = other.ok(json!({"cmd": "la_pins"})).await;
    assert_eq!(pins["pins"][10]["function"], "swd_clk");
    assert_eq!(pins["pins"][11]["function"], "swd_dio");
    let taken = other
        .refused(json!({"cmd": "gpio", "la": 12, "mode": "input"}))
        .await;
    assert!(taken.contains("end the SWD session first"), "{taken}");
    for refused in [
        spi.clone(),
        json!({"cmd": "dap_start", "swclk": 1, "swdio": 2}),
    ] {
        let text = other.refused(refused).await;
        assert!(text.contains("end the SWD session first"), "{text}");
    }
    drop(client);
    sleep(Duration::from_millis(1)).await;
    other.ok(spi).await;
    other.ok(json!({"cmd": "spi_stop"})).await;
    other.ok(start()).await;
}

#[tokio::test(start_paused = true)]
async fn the_probe_moves_the_reset_line_and_lets_it_go() {
    let pod = pod(Some(TargetConfig::demo()));
    let mut client = Client::new(&pod).await;
    let mut other = Client::new(&pod).await;
    power(&mut other).await;
    client.ok(start()).await;
    let held =
        async |client: &mut Client| client.ok(json!({"cmd": "nrst"})).await["asserted"] == true;
    assert!(!held(&mut other).await);
    exchange(&mut client, &[0x10, 0, 0x80, 0, 0, 0, 0]).await;
    assert!(held(&mut other).await);
    drop(client);
    sleep(Duration::from_millis(5)).await;
    assert!(!held(&mut other).await);
}

#[tokio::test(start_paused = true)]
async fn a_silent_session_is_disarmed() {
    let pod = pod(Some(TargetConfig::blank()));
    power(&mut Client::new(&pod).await).await;
    let mut killed = Client::new(&pod).await;
    killed.ok(start()).await;
    assert_ne!(idr(&mut killed).await[2], 0);
    let mut other = Client::new(&pod).await;
    sleep(DAP_SILENCE_MAX - Duration::from_secs(1)).await;
    other.refused(start()).await;
    // One packet, and it lives on.
    idr(&mut killed).await;
    sleep(DAP_SILENCE_MAX - Duration::from_secs(1)).await;
    other.refused(start()).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(other.ok(start()).await, "dap ready");
    assert_eq!(idr(&mut other).await[3..7], IDR);
    assert!(killed.reply().await.is_none());
}
