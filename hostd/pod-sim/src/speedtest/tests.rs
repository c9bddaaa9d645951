//! The test runs through tunnels, in both directions, and nowhere else.

use pod_protocol::commands::Tier;
use serde_json::json;

use crate::tests::{Client, bench};
use crate::{Origin, SimConfig};

#[tokio::test(start_paused = true)]
async fn bytes_go_both_ways_through_a_tunnel() {
    let pod = bench(SimConfig::default());
    let mut tunnel = Client::from(&pod, Origin::Tunnel(Tier::Instrument)).await;
    let up = json!({"cmd": "speedtest", "dir": "up", "bytes": 20_000});
    tunnel.send(&up).await;
    tunnel.send_raw(&[b'{'; 20_000]).await;
    let done = json!({"speedtest": "done", "bytes": 20_000});
    assert_eq!(tunnel.reply().await, Some(done.clone()));
    let down = json!({"cmd": "speedtest", "dir": "down", "bytes": 20_000});
    tunnel.send(&down).await;
    for count in [8192, 8192, 3616] {
        assert_eq!(tunnel.read_raw(count).await.len(), count);
        tunnel.send_raw(b".").await;
    }
    assert_eq!(tunnel.reply().await, Some(done));
    tunnel.ok(json!({"cmd": "ping"})).await;
}

#[tokio::test(start_paused = true)]
async fn it_is_refused_elsewhere_and_without_a_direction() {
    let pod = bench(SimConfig::default());
    for origin in [Origin::Lan, Origin::LanTls, Origin::Usb] {
        let mut client = Client::from(&pod, origin).await;
        let request = json!({"cmd": "speedtest", "dir": "up"});
        assert_eq!(
            client.refused(request).await,
            "speedtest: only through a tunnel"
        );
    }
    let mut tunnel = Client::from(&pod, Origin::Tunnel(Tier::Firmware)).await;
    for (request, text) in [
        (json!({"cmd": "speedtest"}), "missing dir"),
        (
            json!({"cmd": "speedtest", "dir": "left"}),
            "bad dir: want up or down",
        ),
        (
            json!({"cmd": "speedtest", "dir": "up", "bytes": 0}),
            "bytes out of range: want 1..67108864",
        ),
    ] {
        assert_eq!(tunnel.refused(request).await, text);
    }
}
