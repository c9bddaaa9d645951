//! The demo firmware on the simulated part: what it prints and when, what it does on the I2C bus, with and
//! without a sensor, and its console.

#[path = "demo/bench.rs"]
mod bench;
#[path = "demo/larger.rs"]
mod larger;
#[path = "demo/sensor.rs"]
mod sensor;

use target_sim::chip::{Drive, Pin, Port};
use target_sim::target::Activity;

use bench::{Bench, Fitted, MS, SCL};

const S: u64 = 1_000 * MS;

#[test]
fn it_boots_with_a_sensor_at_the_right_time() {
    let mut bench = Bench::new(Fitted::Sensor);
    bench.run_ms(2_290);
    assert_eq!(bench.text(), "", "silence until the application starts");
    bench.run_ms(1_000);
    let text = bench.text();
    let order = [
        "I2C1 init OK\r\n",
        "chip id match=0x58",
        "BMP280 init OK\r\n",
        "SCENARIO:",
        "APP_OK\r\n",
    ];
    let places: Vec<usize> = order
        .iter()
        .map(|line| text.find(line).expect(line))
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(text.ends_with("\r\n> "), "{text}");
    let first_ns = bench.board.sent[0].at_ns;
    assert!((2_300 * MS..2_303 * MS).contains(&first_ns), "{first_ns}");
}

#[test]
fn the_bus_is_read_at_100_khz_right_after_the_start() {
    let mut bench = Bench::new(Fitted::Sensor);
    bench.run_ms(2_700);
    let clock: Vec<u64> = bench
        .board
        .changes
        .iter()
        .filter(|change| change.pin == SCL && change.drive == Drive::Low)
        .map(|change| change.at_ns)
        .collect();
    let first = clock[0];
    assert!((2_300 * MS..2_330 * MS).contains(&first), "{first}");
    // Nine clocks of the first byte.
    let period_ns = (clock[9] - clock[1]) / 8;
    assert!((9_500..10_600).contains(&period_ns), "{period_ns}");
    let sensor = bench.board.sensor.as_ref().expect("fitted");
    assert_eq!(sensor.transactions_to(0x76), 6);
    assert_eq!(sensor.transactions_to(0x29), 25);
    assert_eq!(sensor.first_bytes(), [0xec, 0xd0, 0xed, 0x58]);
}

#[test]
fn bits_are_those_of_16_mhz_by_139() {
    let mut bench = Bench::new(Fitted::Sensor);
    bench.run_ms(2_310);
    let transmit = Pin::new(Port::A, 9);
    let edges: Vec<u64> = bench
        .board
        .changes
        .iter()
        .filter(|change| change.pin == transmit && change.at_ns > 2_290 * MS)
        .map(|change| change.at_ns)
        .collect();
    let first_word = bench.board.sent[0];
    assert_eq!(first_word.bit_ns, 8_687);
    let start = first_word.at_ns;
    for edge in edges
        .iter()
        .filter(|edge| (start..start + 80_000).contains(edge))
    {
        let half_steps = (edge - start) * 2;
        let off = half_steps % 17_375;
        assert!(
            off.min(17_375 - off) <= 4,
            "{edge} is no multiple of a bit after {start}"
        );
    }
}

#[test]
fn a_missing_sensor_is_reported() {
    let mut bench = Bench::new(Fitted::PullUps);
    bench.run_ms(3_300);
    let text = bench.text();
    assert!(text.contains("BMP280 init FAILED\r\n"), "{text}");
    assert!(text.contains("result=4"), "no acknowledgement: {text}");
    assert!(text.contains("APP_OK"), "{text}");
}

#[test]
fn a_bus_without_pull_ups_only_delays_the_start() {
    let mut bench = Bench::new(Fitted::Nothing);
    bench.run_ms(5_000);
    let text = bench.text();
    assert!(text.contains("result=2"), "busy: {text}");
    assert!(text.contains("BMP280 init FAILED"), "{text}");
    assert!(text.ends_with("> "), "{text}");
    let clocked = bench
        .board
        .changes
        .iter()
        .any(|change| change.pin == SCL && change.drive == Drive::Low);
    assert!(!clocked, "nobody talks on a bus that is not free");
}

#[test]
fn the_console_answers() {
    let mut bench = Bench::new(Fitted::Sensor);
    bench.run_ms(3_000);
    let help = bench.command("help");
    assert!(help.starts_with("help\r\ncommands:\r\n"), "{help}");
    let status = bench.command("status");
    assert!(status.contains("  bmp280_detected=yes\r\n"), "{status}");
    assert!(
        status.contains("  temperature=25.08 C\r\n"),
        "the data sheet's example: {status}"
    );
    assert!(status.contains("  pressure_pa=10065"), "{status}");
    bench
        .board
        .sensor
        .as_mut()
        .expect("fitted")
        .set_raw_temperature(0x7_0000);
    let status = bench.command("status");
    assert!(!status.contains("25.08"), "read afresh: {status}");
    assert!(
        bench
            .command("nonsense")
            .contains("unknown command: nonsense")
    );
    assert_eq!(bench.command("hx\x7felp").matches("commands:").count(), 1);
}

#[test]
fn a_reset_by_command_or_pin_starts_again_after_200_ms() {
    let mut bench = Bench::new(Fitted::Sensor);
    bench.run_ms(3_000);
    let before_ns = bench.target.now_ns();
    let text = bench.command("reset");
    assert!(text.contains("RESET: rebooting\r\n"), "{text}");
    bench.run_ms(1_000);
    assert!(bench.text().ends_with("> "));
    let restart = bench
        .board
        .sent
        .iter()
        .find(|word| word.at_ns > before_ns + 100 * MS);
    let silence_ms = (restart.expect("it speaks again").at_ns - before_ns) / MS;
    assert!((215..240).contains(&silence_ms), "{silence_ms}");

    bench.take_text();
    bench.target.set_reset_pin(true, &mut bench.board);
    bench.run_ms(1_000);
    assert_eq!(bench.text(), "", "held");
    bench.target.set_reset_pin(false, &mut bench.board);
    bench.run_ms(1_000);
    assert!(bench.text().contains("APP_OK"), "{}", bench.text());
}

#[test]
fn it_draws_current_only_with_power_and_sleeps_most_of_the_time() {
    let mut bench = Bench::new(Fitted::Sensor);
    bench.target.take_load();
    bench.run_ms(2_000);
    let waiting = bench.target.take_load();
    assert_eq!(waiting.total_ns, 2 * S);
    assert!(
        (1.0..3.0).contains(&waiting.mean_ma()),
        "{}",
        waiting.mean_ma()
    );
    assert!(matches!(bench.target.next_activity(), Activity::At(_)));
    bench.target.set_power(false, &mut bench.board);
    bench.run_ms(500);
    assert!(bench.target.take_load().mean_ma() < 1e-9);
    assert_eq!(bench.target.next_activity(), Activity::Idle);
    bench.target.set_power(true, &mut bench.board);
    bench.run_ms(3_300);
    assert!(bench.text().contains("APP_OK"));
}

#[test]
fn the_lamp_blinks() {
    let mut bench = Bench::new(Fitted::Nothing);
    bench.run_ms(8_000);
    let lamp = Pin::new(Port::A, 5);
    let edges: Vec<u64> = bench
        .board
        .changes
        .iter()
        .filter(|change| change.pin == lamp && change.at_ns > 6 * S)
        .map(|change| change.at_ns)
        .collect();
    assert!(edges.len() >= 3);
    assert!(
        edges
            .windows(2)
            .all(|pair| (pair[1] - pair[0]).abs_diff(500 * MS) < MS / 10)
    );
}
