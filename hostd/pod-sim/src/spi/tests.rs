//! The flash on its channels: programmed, read back, verified; channels are owned while it is open.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use fastrand::Rng;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::SimConfig;
use crate::tests::{Client, bench};

fn start(hz: u32, mode: u8) -> Value {
    json!({"cmd": "spi_start", "sck": 9, "mosi": 10, "miso": 11, "cs": 12, "hz": hz, "mode": mode})
}

fn wired() -> SimConfig {
    SimConfig {
        spi_flash: Some([9, 10, 11, 12]),
        ..SimConfig::default()
    }
}

#[tokio::test(start_paused = true)]
async fn random_bytes_are_programmed_and_read_back() {
    let pod = bench(wired());
    let mut client = Client::new(&pod).await;
    let mut random = Rng::with_seed(5);
    for (hz, mode) in [(1_000_000, 0), (6_000_000, 3)] {
        assert_eq!(client.ok(start(hz, mode)).await["hz"], hz);
        let data: Vec<u8> = (0..3000)
            .map(|_| u8::try_from(random.usize(..256)).unwrap())
            .collect();
        let erased = client
            .ok(json!({"cmd": "spi_flash", "op": "erase", "addr": 0x10010, "len": 3000}))
            .await;
        assert_eq!(
            (&erased["addr"], &erased["len"]),
            (&json!(0x10000), &json!(4096))
        );
        for (index, part) in data.chunks(700).enumerate() {
            client
                .ok(
                    json!({"cmd": "spi_flash", "op": "write", "addr": 0x10010 + index * 700,
                    "data": B64.encode(part)}),
                )
                .await;
        }
        let mut seen = Vec::new();
        for addr in (0..3000).step_by(1000) {
            let read = client
                .ok(json!({"cmd": "spi_flash", "op": "read", "addr": 0x10010 + addr, "len": 1000}))
                .await;
            seen.extend(B64.decode(read["data"].as_str().unwrap()).unwrap());
        }
        assert_eq!(seen, data);
        client.ok(json!({"cmd": "spi_stop"})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn bits_are_only_set_by_erasing() {
    let pod = bench(wired());
    let mut client = Client::new(&pod).await;
    client.ok(start(1_000_000, 0)).await;
    let mut write = json!({"cmd": "spi_flash", "op": "write", "addr": 0, "data": B64.encode([0])});
    client.ok(write.clone()).await;
    write["data"] = B64.encode([0xff]).into();
    assert!(
        client
            .refused(write.clone())
            .await
            .contains("verify failed")
    );
    client
        .ok(json!({"cmd": "spi_flash", "op": "chip_erase"}))
        .await;
    client.ok(write).await;
}

#[tokio::test(start_paused = true)]
async fn raw_transfers_reach_the_chip_and_a_held_select_continues_the_frame() {
    let pod = bench(wired());
    let mut client = Client::new(&pod).await;
    client.ok(start(1_000_000, 0)).await;
    let mut xfer = async |tx: &[u8], cs: &str| {
        let reply = client
            .ok(json!({"cmd": "spi_xfer", "tx": B64.encode(tx), "cs": cs}))
            .await;
        B64.decode(reply["rx"].as_str().unwrap()).unwrap()
    };
    assert_eq!(
        xfer(&[0x9f, 0, 0, 0], "release").await[1..],
        [0xef, 0x40, 0x17]
    );
    xfer(&[0x9f], "hold").await;
    assert_eq!(xfer(&[0, 0, 0], "release").await, [0xef, 0x40, 0x17]);
    let id = client.ok(json!({"cmd": "spi_flash", "op": "id"})).await;
    assert_eq!(
        (&id["id"], &id["size"]),
        (&json!("ef4017"), &json!(8 << 20))
    );
}

#[tokio::test(start_paused = true)]
async fn channels_are_owned_and_nothing_answers_elsewhere() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let idle = client
        .refused(json!({"cmd": "spi_flash", "op": "id"}))
        .await;
    assert!(idle.contains("SPI"));
    client.ok(start(3_000_000, 0)).await;
    let table = client.ok(json!({"cmd": "la_pins"})).await;
    assert_eq!(table["pins"][8]["function"], "spi_sck");
    let id = client.ok(json!({"cmd": "spi_flash", "op": "id"})).await;
    assert_eq!(id["present"], false);
    let gpio = json!({"cmd": "gpio", "la": 9, "mode": "output"});
    assert!(client.refused(gpio).await.contains("in use by spi_sck"));
    assert!(
        client
            .refused(start(1_000_000, 0))
            .await
            .contains("spi_stop")
    );
    client.ok(json!({"cmd": "spi_stop"})).await;
    let doubled = json!({"cmd": "spi_start", "sck": 9, "mosi": 9, "miso": 11, "cs": 12});
    assert!(client.refused(doubled).await.contains("differ"));
}

/// The frames on the four lines, each as (sent, answered), sampled on clock edges as in modes 0 and
/// 3.
fn frames(words: &[u16]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let line = |word: u16, la: u8| word >> (la - 1) & 1;
    let mut frames = Vec::new();
    let mut bits: Vec<(u16, u16)> = Vec::new();
    let gather = |bits: &[(u16, u16)], of: fn(&(u16, u16)) -> u16| -> Vec<u8> {
        let bytes = bits.chunks(8);
        let byte = |bits: &[(u16, u16)]| bits.iter().fold(0, |byte, bit| byte << 1 | of(bit));
        bytes
            .map(|bits| u8::try_from(byte(bits)).unwrap())
            .collect()
    };
    for pair in words.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        if line(now, 12) == 0 && line(before, 9) == 0 && line(now, 9) == 1 {
            bits.push((line(now, 10), line(now, 11)));
        }
        if line(before, 12) == 0 && line(now, 12) == 1 {
            assert_eq!(bits.len() % 8, 0);
            frames.push((gather(&bits, |bit| bit.0), gather(&bits, |bit| bit.1)));
            bits.clear();
        }
    }
    frames
}

#[tokio::test(start_paused = true)]
async fn a_capture_shows_the_bits_of_a_transfer_and_they_take_their_time() {
    for (hz, mode) in [(1_000_000, 0), (1_000_000, 3), (500_000, 0)] {
        let pod = bench(wired());
        let mut client = Client::new(&pod).await;
        client.ok(start(hz, mode)).await;
        let mut other = Client::new(&pod).await;
        other
            .send(&json!({"cmd": "la_capture", "samples": 32_000, "sample_rate_mhz": 6.0}))
            .await;
        sleep(Duration::from_millis(1)).await;
        let before = Instant::now();
        let sent: Vec<u8> = [0x9f, 0, 0, 0].into_iter().chain(0..100).collect();
        let request = json!({"cmd": "spi_xfer", "tx": B64.encode(&sent)});
        let reply = client.ok(request).await;
        let bits = u64::try_from(sent.len() * 8).unwrap();
        let took_us = u64::try_from(before.elapsed().as_micros()).unwrap();
        // A timer fires within two milliseconds.
        let exact_us = bits * 1_000_000 / u64::from(hz);
        assert!((exact_us..exact_us + 2_010).contains(&took_us), "{took_us}");
        let captured = other.captured().await.unwrap();
        let seen = frames(&captured.words);
        let answered = B64.decode(reply["rx"].as_str().unwrap()).unwrap();
        assert_eq!(seen, [(sent, answered)]);
        // The clock has the right rate, and idles as its mode says.
        let clocks = crate::tests::rises(&captured.words, 9);
        let first = if mode == 3 { 1 } else { 0 };
        let span = clocks[first + 800] - clocks[first];
        assert_eq!(span, 6_000_000 / usize::try_from(hz).unwrap() * 800);
        let idle = captured.words.last().unwrap() >> 8 & 1;
        assert_eq!(idle, u16::from(mode == 3));
    }
}

#[tokio::test(start_paused = true)]
async fn a_held_select_stays_low_between_transfers_and_whatever_is_on_the_input_is_read() {
    let pod = bench(SimConfig {
        jumpers: vec![(10, 11)],
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    client.ok(start(1_000_000, 3)).await;
    let sent = B64.encode([0x5a, 0x00, 0xff, 0x81]);
    // Output and input are wired together.
    let reply = client
        .ok(json!({"cmd": "spi_xfer", "tx": sent, "cs": "hold"}))
        .await;
    assert_eq!(reply["rx"], sent);
    let select = async |client: &mut Client| {
        let levels = client.ok(json!({"cmd": "gpio"})).await;
        levels["levels"].as_u64().unwrap() >> 11 & 1
    };
    sleep(Duration::from_secs(1)).await;
    assert_eq!(select(&mut client).await, 0);
    client.ok(json!({"cmd": "spi_xfer", "tx": sent})).await;
    assert_eq!(select(&mut client).await, 1);
    client.ok(json!({"cmd": "spi_stop"})).await;
    assert_eq!(select(&mut client).await, 0);
}

#[allow(clippy::cast_precision_loss, reason = "sample counts are small")]
#[tokio::test(start_paused = true)]
async fn a_stream_pauses_and_a_flash_is_busy_for_its_time() {
    let pod = bench(wired());
    let mut client = Client::new(&pod).await;
    client.ok(start(6_000_000, 0)).await;
    let mut loader = Client::new(&pod).await;
    let load = json!({"cmd": "load_bin", "total": 2048, "psram": true});
    loader.ok(load).await;
    let staged: Vec<u8> = (0..2048_u32).map(|at| at.to_le_bytes()[0] ^ 0x35).collect();
    loader.send_raw(&staged).await;
    loader.reply().await.unwrap();
    drop(loader);
    sleep(Duration::from_millis(1)).await;
    let mut other = Client::new(&pod).await;
    other
        .send(&json!({"cmd": "la_capture", "samples": 240_000, "sample_rate_mhz": 12.0}))
        .await;
    sleep(Duration::from_millis(1)).await;
    let stream = json!({"cmd": "spi_stream", "len": 2048, "head": B64.encode([0xaa])});
    let streamed = client.ok(stream).await;
    assert_eq!(
        (&streamed["sent"], &streamed["ms"]),
        (&json!(2049), &json!(14))
    );
    let captured = other.captured().await.unwrap();
    // Such a long capture samples too slowly for the clock, but shows the pauses after every 512
    // bytes.
    let quiet = captured.words.chunk_by(|one, other| one == other);
    let long = captured.la_rate_hz * 0.003;
    let pauses = quiet.filter(|run| run[0] >> 11 & 1 == 0 && run.len() as f64 >= long - 2.0);
    assert_eq!(pauses.count(), 4);
    let before = Instant::now();
    let erase = json!({"cmd": "spi_flash", "op": "erase", "addr": 0, "len": 8192});
    let erased = client.ok(erase).await;
    assert_eq!(erased["ms"], 90);
    assert!(before.elapsed() >= Duration::from_millis(90));
    let status = json!({"cmd": "spi_xfer", "tx": B64.encode([0x05, 0])});
    for (tx, busy) in [(vec![0x06], 0), (vec![0x20, 0, 0, 0], 3)] {
        client
            .ok(json!({"cmd": "spi_xfer", "tx": B64.encode(tx)}))
            .await;
        let reply = client.ok(status.clone()).await;
        let seen = B64.decode(reply["rx"].as_str().unwrap()).unwrap()[1];
        assert_eq!(seen & 1, busy & 1);
    }
    sleep(Duration::from_millis(50)).await;
    let reply = client.ok(status).await;
    assert_eq!(B64.decode(reply["rx"].as_str().unwrap()).unwrap()[1], 0);
}
