//! The flash on its channels: programmed, read back, verified; channels owned while open.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use serde_json::{Value, json};

use crate::sim::SimConfig;
use crate::sim::tests::{Client, Random, bench};

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
    let mut random = Random(5);
    for (hz, mode) in [(1_000_000, 0), (6_000_000, 3)] {
        assert_eq!(client.ok(start(hz, mode)).await["hz"], hz);
        let data: Vec<u8> = (0..3000)
            .map(|_| u8::try_from(random.below(256)).unwrap())
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
