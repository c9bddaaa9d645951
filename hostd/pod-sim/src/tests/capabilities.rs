//! What clients read from the status of each board.

use pod_protocol::Capabilities;
use serde_json::json;

use super::{Client, bench};
use crate::{Board, SimConfig};

fn parameter<'a>(capabilities: &'a Capabilities, name: &str) -> Option<&'a str> {
    capabilities.parameters.get(name).map(String::as_str)
}

async fn simulated(config: SimConfig) -> Capabilities {
    let pod = bench(config);
    let status = Client::new(&pod).await.ok(json!({"cmd": "status"})).await;
    Capabilities::from_status(status.as_object().unwrap())
}

#[tokio::test(start_paused = true)]
async fn the_simulated_boards_say_what_they_have() {
    let analog = simulated(SimConfig::default()).await;
    assert_eq!(
        (analog.ac_dac, analog.dac, analog.adc),
        (Some(true), Some(true), Some(true))
    );
    assert_eq!(
        (analog.la_channels, analog.la_max_samples),
        (Some(14), Some(4_194_304))
    );
    assert_eq!((analog.uart, analog.cmsis_dap), (Some(true), Some(true)));
    let dc_only = simulated(SimConfig {
        ac_dac: false,
        ..SimConfig::default()
    })
    .await;
    assert_eq!((dc_only.ac_dac, dc_only.dac), (Some(false), Some(true)));
    let digital = simulated(SimConfig {
        board: Board::Digital,
        ..SimConfig::default()
    })
    .await;
    assert_eq!(
        (digital.ac_dac, digital.dac, digital.adc),
        (Some(false), Some(false), Some(false))
    );
    assert_eq!(digital.adc_fit, None);
    assert_eq!(parameter(&digital, "cap.analog"), Some("false"));
    assert_eq!(parameter(&digital, "cap.adc_cal_a"), None);
}

#[tokio::test(start_paused = true)]
async fn a_board_publishes_its_own_fit() {
    let v2 = simulated(SimConfig {
        board: Board::V2,
        ..SimConfig::default()
    })
    .await;
    assert_eq!(parameter(&v2, "cap.adc_cal_a"), Some("65.788900"));
    assert_eq!(parameter(&v2, "cap.adc_cal_b"), Some("-0.001003762"));
    assert_eq!(parameter(&v2, "cap.adc_cal_unwrap"), Some("true"));
    assert_eq!(parameter(&v2, "cap.generate_bits"), Some("16"));
    assert_eq!(parameter(&v2, "cap.board"), Some("stm32h563"));
    assert_eq!(parameter(&v2, "cap.firmware_version"), Some("3.9.4"));
    assert_eq!(parameter(&v2, "cap.analyzer"), Some("true"));
    assert_eq!(parameter(&v2, "cap.gps"), Some("true"));
}

#[tokio::test(start_paused = true)]
async fn the_record_shows_what_a_board_lacks() {
    let digital = SimConfig {
        board: Board::Digital,
        ..SimConfig::default()
    };
    let record = serde_json::to_value(simulated(digital).await).unwrap();
    assert_eq!(record["ac_dac"], false);
    assert_eq!(record["la_channels"], 14);
    assert!(record.get("parameters").is_none());
}
