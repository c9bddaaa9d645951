//! A connection to a bench, spoken to in lines.

use std::sync::Arc;
use std::time::Duration;

use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Transport};
use pod_protocol::{REPLY_LINE_BYTES_MAX, Reply};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::PATIENCE;

/// One connection.
pub(crate) struct Line(pub(crate) Lines<BoxedStream>);

impl Line {
    pub(crate) async fn to(bench: &Arc<dyn Transport>) -> Self {
        let until = Instant::now() + PATIENCE;
        loop {
            match bench.connect().await {
                Ok(stream) => return Self(Lines::new(stream, REPLY_LINE_BYTES_MAX)),
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The data of the reply.
    pub(crate) async fn ask(&mut self, request: Value) -> Value {
        let told = self.reply(&request).await;
        told.unwrap_or_else(|refusal| panic!("{request}: {refusal}"))
    }

    /// The data of the reply, or the text of the refusal, or that there is none any more.
    pub(crate) async fn reply(&mut self, request: &Value) -> Result<Value, String> {
        let ended = || "the connection has ended".to_owned();
        let sent = self.0.write(request.to_string().into_bytes()).await;
        sent.map_err(|_| ended())?;
        let line = timeout(PATIENCE, self.0.read()).await.unwrap();
        let line = line.ok().flatten().ok_or_else(ended)?;
        match Reply::parse(line).unwrap() {
            Reply::Done(data) => Ok(data),
            Reply::Refused(refusal) => Err(refusal.text),
        }
    }

    /// Asks until these parts are away.
    pub(crate) async fn until_missing(&mut self, parts: &[&str]) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.ask(json!({"cmd": "status"})).await;
            let missing = status["missing"].as_array().unwrap();
            if missing
                .iter()
                .map(|away| away["part"].as_str().unwrap())
                .eq(parts.iter().copied())
            {
                return status;
            }
            assert!(Instant::now() < until, "{status}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether the target has power.
    pub(crate) async fn is_on(&mut self) -> bool {
        let status = self.ask(json!({"cmd": "target_status"})).await;
        status["efuse1"]["enabled"] == 1
    }

    pub(crate) async fn until_read(&mut self, text: &str) {
        let mut read = String::new();
        while !read.contains(text) {
            let more = timeout(PATIENCE, self.0.read_raw(256))
                .await
                .unwrap()
                .unwrap();
            assert!(!more.is_empty(), "it ended after {read:?}");
            read.push_str(&String::from_utf8_lossy(&more));
        }
    }

    pub(crate) async fn ends(&mut self) {
        // An error is an end, too.
        while timeout(PATIENCE, self.0.read_raw(256))
            .await
            .unwrap()
            .is_ok_and(|read| !read.is_empty())
        {}
    }
}

/// Switches the power of a target.
pub(crate) fn switch(on: bool) -> Value {
    json!({"cmd": "target_power", "efuse": 1, "state": u8::from(on)})
}

/// Waits until a bench cannot be reached, for this reason.
pub(crate) async fn lost(bench: &Arc<dyn Transport>, wanted: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        let told = match bench.connect().await {
            Ok(_) => "it is there".to_owned(),
            Err(error) => error.to_string(),
        };
        if told.contains(wanted) {
            return;
        }
        assert!(Instant::now() < until, "{told}");
        sleep(Duration::from_millis(20)).await;
    }
}
