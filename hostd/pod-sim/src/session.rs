//! One connection to the simulated pod: lines in, replies out, in order.

use std::sync::Arc;

use pod_protocol::REQUEST_LINE_BYTES_MAX;
use pod_protocol::connection::Stream;
use pod_protocol::connection::lines::{LineError, Lines};
use serde_json::{Map, Value, json};
use tokio::time::{Duration, timeout};

use super::access::Peer;
use super::args::Args;
use super::commands::{Next, dispatch};
use super::refuse::Refuse;
use super::upload::Reserved;
use super::{Shared, adc, calibration, capture, profile, psram, reset};

/// A client that takes nothing for this long is given up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The client is gone, or takes nothing any more.
pub(crate) struct Gone;

/// The client's side of a session.
pub(crate) struct Client<S> {
    lines: Lines<S>,
    shared: Arc<Shared>,
}

impl<S: Stream> Client<S> {
    /// Sends one line.
    pub(crate) async fn send(&mut self, line: &Value) -> Result<(), Gone> {
        let line = serde_json::to_vec(line).expect("a JSON value with text keys can be written");
        let mut lines = Vec::with_capacity(line.len() + 1);
        self.append(&mut lines, &line);
        self.write_raw(&lines).await
    }

    /// Adds a line, with its end, to what will be sent.
    pub(crate) fn append(&self, lines: &mut Vec<u8>, line: &[u8]) {
        let mut add = |line: &[u8]| {
            lines.extend(line);
            lines.push(b'\n');
        };
        let garbled = self.shared.faults.line(self.shared.seed);
        if let Some((garbage, _)) = &garbled {
            add(garbage);
        }
        if garbled.is_none_or(|(_, instead)| !instead) {
            add(line);
        }
    }

    pub(crate) async fn refuse(&mut self, refusal: &Refuse) -> Result<(), Gone> {
        self.send(&json!({"status": "error", "message": refusal.to_string()}))
            .await
    }

    /// Bytes of a raw mode; empty when the client has closed.
    pub(crate) async fn read_raw(&mut self, most: usize) -> Result<Vec<u8>, Gone> {
        self.lines.read_raw(most).await.map_err(|_| Gone)
    }

    pub(crate) async fn write_raw(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        match timeout(WRITE_TIMEOUT, self.lines.write_raw(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    pub(crate) async fn ok(&mut self, data: Value) -> Result<(), Gone> {
        self.send(&json!({"status": "ok", "data": data})).await
    }

    /// Waits for an instant of the pod.
    ///
    /// # Errors
    /// [`Gone`] when the client closes before it.
    pub(crate) async fn wait_until(&mut self, shared: &Shared, at_ns: u64) -> Result<(), Gone> {
        tokio::select! {
            () = tokio::time::sleep_until(shared.instant(at_ns)) => Ok(()),
            () = self.closed() => Err(Gone),
        }
    }

    /// Ends when the client closes.
    pub(crate) async fn closed(&mut self) {
        self.lines.closed().await;
    }
}

/// Serves a connection until it ends.
pub(crate) async fn run(shared: &Arc<Shared>, stream: impl Stream, peer: Peer) {
    let mut client = Client {
        lines: Lines::new(stream, REQUEST_LINE_BYTES_MAX),
        shared: shared.clone(),
    };
    let mut reserved: Option<Reserved> = None;
    // A command may close the listener its own connection came through.
    while shared.with(|world, _| world.admits(peer.origin)) {
        let read = match &reserved {
            None => client.lines.read().await,
            Some(upload) => tokio::select! {
                read = client.lines.read() => read,
                () = tokio::time::sleep_until(upload.until()) => {
                    reserved = None;
                    continue;
                }
            },
        };
        let request = match read {
            Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
            Ok(Some(line)) => {
                serde_json::from_slice::<Map<String, Value>>(line).map_err(|_| Refuse::NotObject)
            }
            Ok(None) | Err(LineError::Io(_)) => return,
            Err(LineError::TooLong { limit }) => Err(Refuse::RequestTooLong { limit }),
        };
        let answered = match request {
            Ok(request) => answer(shared, &mut client, &request, peer, &mut reserved).await,
            Err(refusal) => client.refuse(&refusal).await,
        };
        if answered.is_err() {
            return;
        }
    }
}

async fn answer<S: Stream>(
    shared: &Arc<Shared>,
    client: &mut Client<S>,
    request: &Map<String, Value>,
    peer: Peer,
    reserved: &mut Option<Reserved>,
) -> Result<(), Gone> {
    if !shared.is_serving() || !shared.with(|world, _| world.admits(peer.origin)) {
        return Err(Gone);
    }
    let next = shared.with(|world, now_ns| dispatch(world, &Args(request), peer, now_ns));
    shared.wires_changed();
    match next {
        Err(refusal) => client.refuse(&refusal).await,
        Ok(Next::Reply(data)) => client.send(&json!({"status": "ok", "data": data})).await,
        Ok(Next::Capture(plan)) => capture::run(shared, client, plan).await,
        Ok(Next::Measure(measure)) => measure.run(shared, client).await,
        Ok(Next::ResetPulse { end_ns }) => {
            tokio::time::sleep_until(shared.instant(end_ns)).await;
            let data = reset::report(false);
            client.send(&json!({"status": "ok", "data": data})).await
        }
        Ok(Next::CaptureRead(read)) => read.run(shared, client).await,
        Ok(Next::Pattern(pattern)) => pattern.run(shared, client).await,
        Ok(Next::Calibrate(run)) => calibration::run(shared, client, run).await,
        Ok(Next::Later { at_ns, answer }) => {
            tokio::time::sleep_until(shared.instant(at_ns)).await;
            match answer {
                Ok(data) => client.ok(data).await,
                Err(refusal) => client.refuse(&refusal).await,
            }
        }
        Ok(Next::Regs(regs)) => regs.send(shared, client).await,
        Ok(Next::BusCapture(capture)) => capture.run(shared, client).await,
        Ok(Next::Reboot(data)) => {
            shared.reboot_after(psram::RECOVER_DELAY);
            client.ok(data).await
        }
        Ok(Next::ReadAdc(path)) => read_adc(shared, client, path).await,
        Ok(Next::Profile { end_ns }) => profile::wait_and_send(shared, client, end_ns).await,
        Ok(Next::ReadProfile) => profile::send(shared, client).await,
        Ok(Next::Speedtest(test)) => test.run(client).await,
        Ok(Next::Dap(session)) => session.run(shared, client).await,
        Ok(Next::Uart(session)) => session.run(shared, client).await,
        Ok(Next::LoadBin(load)) => {
            *reserved = None;
            *reserved = load.run(shared, client).await?;
            Ok(())
        }
        Ok(Next::Replayed(data)) => {
            if let Some(upload) = reserved.take() {
                upload.replayed();
            }
            client.ok(data).await
        }
    }
}

async fn read_adc<S: Stream>(
    shared: &Arc<Shared>,
    client: &mut Client<S>,
    path: &'static str,
) -> Result<(), Gone> {
    let hold = match capture::Hold::take(shared) {
        Ok(hold) => hold,
        Err(refusal) => return client.refuse(&refusal).await,
    };
    let end_ns = adc::burst_end_ns(hold.since_ns());
    tokio::time::sleep_until(shared.instant(end_ns)).await;
    let read = shared.with(|world, _| adc::burst(world, path, end_ns));
    drop(hold);
    match read {
        Ok(data) => client.send(&json!({"status": "ok", "data": data})).await,
        Err(refusal) => client.refuse(&refusal).await,
    }
}
