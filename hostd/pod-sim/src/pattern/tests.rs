//! Patterns compared with their formulas.

use serde_json::json;

use crate::SimConfig;
use crate::tests::{Client, bench};

#[tokio::test(start_paused = true)]
async fn patterns_are_what_they_are_called() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let mut pattern = async |name: &str, samples: u32| {
        let request = json!({"cmd": "test", "pattern": name, "samples": samples, "value": 77,
            "enc": "b64"});
        client.capture(request).await.adc
    };
    let sine = pattern("sine", 400).await;
    assert_eq!(
        (sine[0], sine[100], sine[200], sine[300]),
        (32_768, 57_768, 32_768, 7_768)
    );
    let counter = pattern("counter", 4096).await;
    assert!((0..4096).eq(counter.iter().map(|count| u32::from(*count))));
    let ramp = pattern("ramp", 512).await;
    assert!(ramp.windows(2).all(|pair| pair[1] - pair[0] == 128));
    assert_eq!(pattern("const", 3).await, [77; 3]);
    for wrong in [
        json!({"cmd": "test", "pattern": "noise"}),
        json!({"cmd": "test", "samples": 4097}),
        json!({"cmd": "test", "pattern": "const", "value": 65_536}),
    ] {
        client.refused(wrong).await;
    }
}
