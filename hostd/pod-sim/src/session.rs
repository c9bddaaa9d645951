//! One connection to the simulated pod: lines in, replies out, in order.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use pod_protocol::connection::lines::LineError;
use serde_json::{Map, Value, json};

use super::access::Peer;
use super::args::Args;
use super::client::{Client, Gone};
use super::commands::dispatch;
use super::hold::Hold;
use super::load_bin::Reserved;
use super::next::Next;
use super::refuse::Refuse;
use super::shared::Shared;
use super::{adc, calibrate, capture, gateware, profiling, reset};

/// Serves a connection until it ends.
pub(crate) async fn run(shared: &Arc<Shared>, stream: impl Stream, peer: Peer) {
    let mut client = Client::new(stream, shared.clone());
    let mut reserved: Option<Reserved> = None;
    // A command may close the listener through which its own connection came.
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
            shared.sleep_until(end_ns).await;
            let data = reset::report(false);
            client.send(&json!({"status": "ok", "data": data})).await
        }
        Ok(Next::CaptureRead(read)) => read.run(shared, client).await,
        Ok(Next::Pattern(pattern)) => pattern.run(shared, client).await,
        Ok(Next::Calibrate(run)) => calibrate::run(shared, client, run).await,
        Ok(Next::Later { at_ns, answer }) => {
            shared.sleep_until(at_ns).await;
            match answer {
                Ok(data) => client.ok(data).await,
                Err(refusal) => client.refuse(&refusal).await,
            }
        }
        Ok(Next::Regs(regs)) => regs.send(shared, client).await,
        Ok(Next::BusCapture(capture)) => capture.run(shared, client).await,
        Ok(Next::Reboot(data)) => {
            shared.reboot_after(gateware::RECOVER_DELAY);
            client.ok(data).await
        }
        Ok(Next::ReadAdc(path)) => read_adc(shared, client, path).await,
        Ok(Next::Profile { end_ns }) => profiling::wait_and_send(shared, client, end_ns).await,
        Ok(Next::ReadProfile) => profiling::send(shared, client).await,
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
    let hold = match Hold::take(shared) {
        Ok(hold) => hold,
        Err(refusal) => return client.refuse(&refusal).await,
    };
    let end_ns = adc::burst_end_ns(hold.since_ns());
    shared.sleep_until(end_ns).await;
    let read = shared.with(|world, _| adc::burst(&world.converters, path, end_ns));
    drop(hold);
    match read {
        Ok(data) => client.send(&json!({"status": "ok", "data": data})).await,
        Err(refusal) => client.refuse(&refusal).await,
    }
}
