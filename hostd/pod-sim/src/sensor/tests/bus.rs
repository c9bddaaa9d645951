//! Real bits on the bus: the traffic of an outside master with the sensor, and how a capture shows
//! it.

use std::sync::Arc;

use serde_json::json;
use tokio::time::{Duration, sleep};

use super::{bytes, start};
use crate::i2c::Bus;
use crate::tests::{Client, bench};
use crate::{I2cError, I2cMaster, I2cPart, SimConfig, SimPod};

const MASTER: I2cMaster = I2cMaster {
    scl: 1,
    sda: 2,
    hz: 100_000,
};

/// Events on a bus; a byte includes whether it was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Start,
    Byte(u8, bool),
    Stop,
}
use Seen::{Byte, Start, Stop};

/// Decodes a bus from its levels (SCL, SDA).
fn decode(levels: impl IntoIterator<Item = (bool, bool)>) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut before = (true, true);
    let (mut bits, mut frame) = (0, 0_u16);
    for now in levels {
        match (before, now) {
            ((true, true), (true, false)) => {
                seen.push(Start);
                (bits, frame) = (0, 0);
            }
            ((true, false), (true, true)) => seen.push(Stop),
            ((false, _), (true, sda)) => {
                frame = frame << 1 | u16::from(sda);
                bits += 1;
                if bits == 9 {
                    seen.push(Byte(u8::try_from(frame >> 1).unwrap(), frame & 1 == 0));
                    (bits, frame) = (0, 0);
                }
            }
            _ => {}
        }
        before = now;
    }
    seen
}

fn on_la1_and_la2(words: &[u16]) -> Vec<Seen> {
    decode(words.iter().map(|word| (word & 1 != 0, word & 2 != 0)))
}

fn write(address: u8, bytes: &[u8]) -> I2cPart {
    let bytes = bytes.to_vec();
    I2cPart::Write { address, bytes }
}

fn read(address: u8, count: usize) -> I2cPart {
    I2cPart::Read { address, count }
}

fn transfer(pod: &Arc<SimPod>, delay_us: u64, parts: &[I2cPart]) -> Result<Vec<u8>, I2cError> {
    pod.i2c_transfer(MASTER, Duration::from_micros(delay_us), parts)
}

#[tokio::test(start_paused = true)]
async fn a_capture_decodes_to_exactly_the_transfers() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "bmp280").await;
    let before = client.ok(json!({"cmd": "sensor_status"})).await["transactions"].clone();
    client
        .send(&json!({"cmd": "la_capture", "samples": 10_000, "sample_rate_mhz": 1.0}))
        .await;
    sleep(Duration::from_micros(1)).await;
    let chip_id = [write(0x76, &[0xd0]), read(0x76, 1)];
    assert_eq!(transfer(&pod, 500, &chip_id), Ok(vec![0x58]));
    let absent = [write(0x29, &[1])];
    let nack = I2cError::Nack {
        address: 0x29,
        byte: 0,
    };
    assert_eq!(transfer(&pod, 2_000, &absent), Err(nack));
    assert_eq!(
        transfer(&pod, 3_000, &[write(0x76, &[0xf4, 0x27])]),
        Ok(vec![])
    );
    let calibration = [write(0x76, &[0x88]), read(0x76, 6)];
    let t = [27_504_i16, 26_435, -1_000].map(i16::to_le_bytes).concat();
    assert_eq!(transfer(&pod, 5_000, &calibration), Ok(t.clone()));
    let captured = client.captured().await.unwrap();
    let mut wanted = vec![Start, Byte(0xec, true), Byte(0xd0, true)];
    wanted.extend([Start, Byte(0xed, true), Byte(0x58, false), Stop]);
    wanted.extend([Start, Byte(0x52, false), Stop]);
    wanted.extend([
        Start,
        Byte(0xec, true),
        Byte(0xf4, true),
        Byte(0x27, true),
        Stop,
    ]);
    wanted.extend([
        Start,
        Byte(0xec, true),
        Byte(0x88, true),
        Start,
        Byte(0xed, true),
    ]);
    wanted.extend(t.iter().enumerate().map(|(at, byte)| Byte(*byte, at < 5)));
    wanted.push(Stop);
    assert_eq!(on_la1_and_la2(&captured.words), wanted);
    // At 100 kHz, the first two clock pulses of the first address are ten samples apart.
    let rises = crate::tests::rises(&captured.words, 1);
    assert_eq!(rises[1] - rises[0], 10);
    let status = client.ok(json!({"cmd": "sensor_status"})).await;
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!(count(&status["transactions"]) - count(&before), 4);
    assert_eq!(
        (&status["reads"], &status["writes"]),
        (&json!(7), &json!(1))
    );
    assert_eq!(
        (&status["last_reg"], &status["last_val"]),
        (&json!(0xf4), &json!(0x27))
    );
}

#[tokio::test(start_paused = true)]
async fn the_packed_capture_shows_the_same_bus() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "sht4x").await;
    let idle = bytes(&mut client, json!({"cmd": "sensor_la", "samples": 16})).await;
    assert_eq!(idle, [0xff; 16]);
    // SHT4x: first a command, then its answer.
    assert_eq!(transfer(&pod, 1_000, &[write(0x44, &[0xfd])]), Ok(vec![]));
    let answer = transfer(&pod, 11_000, &[read(0x44, 6)]).unwrap();
    let request = json!({"cmd": "sensor_la", "samples": 4096, "sample_rate_mhz": 0.5});
    let packed = bytes(&mut client, request).await;
    assert_eq!(packed.len(), 4096);
    let pairs = packed
        .iter()
        .flat_map(|byte| [6, 4, 2, 0].map(|at| byte >> at & 3));
    let seen = decode(pairs.map(|pair| (pair & 2 != 0, pair & 1 != 0)));
    let mut wanted = vec![Start, Byte(0x88, true), Byte(0xfd, true), Stop];
    wanted.extend([Start, Byte(0x89, true)]);
    wanted.extend(
        answer
            .iter()
            .enumerate()
            .map(|(at, byte)| Byte(*byte, at < 5)),
    );
    wanted.push(Stop);
    assert_eq!(seen, wanted);
}

#[tokio::test(start_paused = true)]
async fn without_pull_ups_the_bus_is_dead() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "sensor_start", "type": "bmp280", "sda": 2, "scl": 1}))
        .await;
    let chip_id = [write(0x76, &[0xd0]), read(0x76, 1)];
    assert_eq!(transfer(&pod, 0, &chip_id), Err(I2cError::Busy));
    let captured = client.capture(json!({"cmd": "la_capture"})).await;
    assert!(captured.words.iter().all(|word| word & 3 == 0));
    assert_eq!(
        client.ok(json!({"cmd": "sensor_status"})).await["transactions"],
        0
    );
    // Only the clock has a pull-up.
    client
        .ok(json!({"cmd": "la", "la": 1, "pullup": "on"}))
        .await;
    assert_eq!(transfer(&pod, 0, &chip_id), Err(I2cError::Busy));
}

#[tokio::test(start_paused = true)]
async fn a_sensor_that_is_stopped_answers_no_more() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "mpu6050").await;
    let who_am_i = [write(0x68, &[0x75]), read(0x68, 1)];
    assert_eq!(transfer(&pod, 0, &who_am_i), Ok(vec![0x68]));
    sleep(Duration::from_millis(10)).await;
    client.ok(json!({"cmd": "sensor_stop"})).await;
    let nack = I2cError::Nack {
        address: 0x68,
        byte: 0,
    };
    assert_eq!(transfer(&pod, 0, &who_am_i), Err(nack));
    sleep(Duration::from_millis(10)).await;
    // No sensor was armed then, so it is not counted.
    start(&mut client, "bmp280").await;
    assert_eq!(
        client.ok(json!({"cmd": "sensor_status"})).await["transactions"],
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_slave_whose_clock_stops_lets_go() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "bmp280").await;
    pod.shared.with(|world, now_ns| {
        let mut bus = Bus::new(&mut world.digital, MASTER, now_ns);
        bus.start().unwrap();
        // The acknowledge bit stays on the line: no ninth clock pulse follows.
        for position in (0..8).rev() {
            let bit = 0xec_u8 >> position & 1 == 1;
            bus.bit(bit).unwrap();
        }
        bus.sda(false);
    });
    sleep(Duration::from_micros(100)).await;
    let sda = async |client: &mut Client| {
        let levels = client.ok(json!({"cmd": "gpio"})).await["levels"]
            .as_u64()
            .unwrap();
        levels & 2 != 0
    };
    sleep(Duration::from_millis(10)).await;
    assert!(!sda(&mut client).await);
    sleep(Duration::from_millis(2)).await;
    assert!(sda(&mut client).await);
}

#[tokio::test(start_paused = true)]
async fn another_pods_gpio_can_be_the_master_over_jumpers() {
    let pod = bench(SimConfig {
        jumpers: vec![(1, 9), (2, 10)],
        ..SimConfig::default()
    });
    let mut client = Client::new(&pod).await;
    start(&mut client, "bme280").await;
    let pins = json!({"cmd": "gpio", "la": [9, 10], "mode": "open_drain"});
    client.ok(pins).await;
    let mut levels = Vec::new();
    let mut line = async |la: u8, high: bool| {
        let level = u8::from(high);
        client
            .ok(json!({"cmd": "gpio", "la": la, "level": level}))
            .await;
        sleep(Duration::from_micros(5)).await;
        let word = client.ok(json!({"cmd": "gpio"})).await["levels"]
            .as_u64()
            .unwrap();
        levels.push((word & 1 != 0, word & 2 != 0));
        // The other ends of the jumpers show the same levels.
        assert_eq!(word & 3, word >> 8 & 3);
    };
    line(10, false).await;
    for byte in [0xec_u8, 0xd0] {
        for position in (0..9).rev() {
            line(9, false).await;
            let bit = u16::from(byte) << 1 | 1;
            line(10, bit >> position & 1 == 1).await;
            line(9, true).await;
        }
    }
    for (la, high) in [(9, false), (10, false), (9, true), (10, true)] {
        line(la, high).await;
    }
    let wanted = [Start, Byte(0xec, true), Byte(0xd0, true), Stop];
    assert_eq!(decode(levels), wanted);
    let status = client.ok(json!({"cmd": "sensor_status"})).await;
    assert_eq!(status["transactions"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_conversion_takes_its_time() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    start(&mut client, "bmp280").await;
    transfer(&pod, 0, &[write(0x76, &[0xf4, 0x27])]).unwrap();
    let status = [write(0x76, &[0xf3]), read(0x76, 1)];
    assert_eq!(transfer(&pod, 1_000, &status), Ok(vec![0x08]));
    assert_eq!(transfer(&pod, 7_000, &status), Ok(vec![0x00]));
    // A reset command is only stored.
    transfer(&pod, 9_000, &[write(0x76, &[0xe0, 0xb6])]).unwrap();
    assert_eq!(transfer(&pod, 10_000, &status), Ok(vec![0x00]));
}
