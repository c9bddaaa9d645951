//! The same application on the larger part: another core, another serial port, and an I2C controller in hardware.

use target_sim::chip::{Drive, Pin, Port, STM32F446RE};

use super::bench::{Bench, Fitted, MS, SCL};

#[test]
fn it_boots_with_a_sensor_at_the_right_time() {
    let mut bench = Bench::of(STM32F446RE, Fitted::Sensor);
    bench.run_ms(2_290);
    assert_eq!(bench.text(), "", "silence until the application starts");
    bench.run_ms(1_000);
    let text = bench.text();
    for line in [
        "chip id match=0x58",
        "BMP280 init OK\r\n",
        "SCENARIO: simulated STM32F446\r\n",
        "APP_OK\r\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.ends_with("\r\n> "), "{text}");
    let sensor = bench.board.sensor.as_ref().expect("fitted");
    assert_eq!(sensor.transactions_to(0x76), 6);
    assert_eq!(sensor.transactions_to(0x29), 25);
    assert_eq!(sensor.first_bytes(), [0xec, 0xd0, 0xed, 0x58]);
}

#[test]
fn its_controller_clocks_the_bus_at_100_khz() {
    let mut bench = Bench::of(STM32F446RE, Fitted::Sensor);
    bench.run_ms(2_700);
    let changes = bench.board.changes.iter();
    let falls = changes.filter(|change| change.pin == SCL && change.drive == Drive::Low);
    let clock: Vec<u64> = falls.map(|change| change.at_ns).collect();
    let period_ns = (clock[9] - clock[1]) / 8;
    assert!((9_900..10_100).contains(&period_ns), "{period_ns}");
}

#[test]
fn the_console_answers_and_reads_afresh() {
    let mut bench = Bench::of(STM32F446RE, Fitted::Sensor);
    bench.run_ms(3_000);
    let status = bench.command("status");
    assert!(status.contains("  temperature=25.08 C\r\n"), "{status}");
    assert!(status.contains("  pressure_pa=10065"), "{status}");
    let sensor = bench.board.sensor.as_mut().expect("fitted");
    sensor.set_raw_temperature(0x7_0000);
    let status = bench.command("status");
    assert!(!status.contains("25.08"), "read afresh: {status}");
    let text = bench.command("reset");
    assert!(text.contains("RESET: rebooting\r\n"), "{text}");
    bench.run_ms(1_000);
    assert!(bench.text().contains("APP_OK"), "{}", bench.text());
}

#[test]
fn what_is_missing_on_the_bus_is_reported() {
    let mut bench = Bench::of(STM32F446RE, Fitted::PullUps);
    bench.run_ms(3_300);
    let text = bench.text();
    assert!(text.contains("result=4"), "no acknowledgement: {text}");
    assert!(text.contains("APP_OK"), "{text}");
    let mut bench = Bench::of(STM32F446RE, Fitted::Nothing);
    bench.run_ms(5_000);
    let text = bench.text();
    assert!(text.contains("result=2"), "busy: {text}");
    assert!(text.ends_with("> "), "{text}");
}

#[test]
fn the_lamp_blinks() {
    let mut bench = Bench::of(STM32F446RE, Fitted::Nothing);
    bench.run_ms(8_000);
    let lamp = Pin::new(Port::A, 5);
    let changes = bench.board.changes.iter();
    let edges = changes.filter(|change| change.pin == lamp && change.at_ns > 6_000 * MS);
    let edges: Vec<u64> = edges.map(|change| change.at_ns).collect();
    assert!(edges.len() >= 3);
    assert!(
        edges
            .windows(2)
            .all(|pair| (pair[1] - pair[0]).abs_diff(500 * MS) < MS / 10)
    );
}
