//! The current output's line, its limits and its refusals.

use serde_json::json;

use crate::tests::{Client, bench};
use crate::{Board, SimConfig};

#[tokio::test(start_paused = true)]
async fn currents_lie_on_the_line_between_the_ends() {
    for (board, min_ua, max_ua) in [(Board::V2, 4016.0, 20078.0), (Board::V3, 4056.0, 20094.0)] {
        let pod = bench(SimConfig {
            board,
            ..SimConfig::default()
        });
        let mut client = Client::new(&pod).await;
        let range = client.ok(json!({"cmd": "current_out"})).await;
        assert_eq!(range["min_ua"].as_f64(), Some(min_ua));
        assert_eq!(range["max_ua"].as_f64(), Some(max_ua));
        for ua in [4100, 8000, 12_000, 20_000] {
            let set = client.ok(json!({"cmd": "current_out", "ua": ua})).await;
            let expected = (f64::from(ua) - min_ua) / (max_ua - min_ua) * 65_535.0;
            assert!((set["code"].as_f64().unwrap() - expected).abs() < 3.0);
            assert!((set["ua"].as_i64().unwrap() - i64::from(ua)).abs() <= 1);
        }
        let zero = client.ok(json!({"cmd": "current_out", "ua": 4000})).await;
        assert_eq!(
            (zero["code"].clone(), zero["ua"].clone()),
            (json!(0), range["min_ua"].clone())
        );
        for ua in [2000, 3999, 20_200, -5] {
            let text = client
                .refused(json!({"cmd": "current_out", "ua": ua}))
                .await;
            assert!(text.contains("out of range"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn it_switches_the_voltage_outputs_off_and_keeps_the_relays() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    client
        .ok(json!({"cmd": "analog_path", "path": "dac_5v"}))
        .await;
    client
        .ok(json!({"cmd": "analog_path", "path": "current_in"}))
        .await;
    client.ok(json!({"cmd": "current_out", "ua": 12000})).await;
    let mux = client.ok(json!({"cmd": "dac_mux"})).await;
    assert_eq!((&mux["ctrl1_en"], &mux["ctrl2_en"]), (&json!(0), &json!(0)));
    let relays = client.ok(json!({"cmd": "cal_switch"})).await;
    assert_eq!(relays["current_in"], 1);
}
