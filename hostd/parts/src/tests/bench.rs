//! A bench under test, spoken to in lines.

use std::sync::Arc;

use base::config::{DeviceConfig, PowerPart, ProbePart, UartPart};
use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport};
use pod_protocol::driver::Driver as _;
use pod_protocol::{REPLY_LINE_BYTES_MAX, Reply};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep, timeout};

use crate::Driver;

/// Nothing here takes this long.
pub(super) const LONG: Duration = Duration::from_secs(15);

/// A bench of these parts.
pub(super) fn bench(
    probe: Option<String>,
    uart: Option<UartPart>,
    power: Option<PowerPart>,
) -> Arc<dyn Transport> {
    let device = DeviceConfig {
        name: "b".to_owned(),
        address: "parts:b".to_owned(),
        probe: probe.map(|address| ProbePart { address }),
        uart,
        power,
        ..DeviceConfig::default()
    };
    let driver = Driver::new(&[device]);
    driver.transport("b").unwrap()
}

/// One connection.
pub(super) struct Line(pub(super) Lines<BoxedStream>);

impl Line {
    pub(super) async fn to(bench: &Arc<dyn Transport>) -> Self {
        let until = Instant::now() + LONG;
        loop {
            match bench.connect().await {
                Ok(stream) => return Self(Lines::new(stream, REPLY_LINE_BYTES_MAX)),
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The data of the reply, or the text of the refusal.
    pub(super) async fn ask(&mut self, request: Value) -> Result<Value, String> {
        self.0
            .write(request.to_string().into_bytes())
            .await
            .unwrap();
        let line = timeout(LONG, self.0.read()).await.unwrap().unwrap();
        match Reply::parse(line.expect("a reply")).unwrap() {
            Reply::Done(data) => Ok(data),
            Reply::Refused(refusal) => Err(refusal.text),
        }
    }

    pub(super) async fn status(&mut self) -> Value {
        self.ask(json!({"cmd": "status"})).await.unwrap()
    }

    /// Asks for the status until this is so.
    pub(super) async fn until(&mut self, is_so: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + LONG;
        loop {
            let status = self.status().await;
            if is_so(&status) {
                return status;
            }
            assert!(Instant::now() < until, "{status}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until no session uses the bench.
    pub(super) async fn until_free(&mut self) {
        let until = Instant::now() + LONG;
        while self.ask(json!({"cmd": "la_pins"})).await.unwrap()["pins"] != json!([]) {
            assert!(Instant::now() < until, "it is still in use");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Reads raw bytes until there are so many.
    pub(super) async fn raw(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let more = timeout(LONG, self.0.read_raw(count - bytes.len())).await;
            let more = more.unwrap().unwrap();
            assert!(!more.is_empty(), "it ended after {} bytes", bytes.len());
            bytes.extend(more);
        }
        bytes
    }

    /// Waits until the other side has closed.
    pub(super) async fn ends(&mut self) {
        while !timeout(LONG, self.0.read_raw(4096))
            .await
            .unwrap()
            .unwrap()
            .is_empty()
        {}
    }
}

/// Whether the status names this part among those that are away.
pub(super) fn lacks(status: &Value, part: &str) -> bool {
    let missing = status["missing"].as_array().unwrap();
    missing.iter().any(|away| away["part"] == part)
}
