//! One connection to a bench: lines in, replies out, in order.

use tokio::io::DuplexStream;

use crate::args::Args;
use crate::bench::Parts;
use crate::client::{Client, Gone};
use crate::commands::{Next, dispatch};

/// Serves a connection until it ends.
pub(crate) async fn run(parts: &Parts, stream: DuplexStream) {
    let mut client = Client::new(stream);
    // It has gone, whatever the reason.
    let _: Result<(), Gone> = serve(parts, &mut client).await;
}

async fn serve(parts: &Parts, client: &mut Client) -> Result<(), Gone> {
    loop {
        let next = match client.request().await? {
            Ok(request) => dispatch(parts, &Args(&request)).await,
            Err(refusal) => Err(refusal),
        };
        match next {
            Ok(Next::Reply(data)) => client.reply(Ok(data)).await?,
            Ok(Next::Uart(session)) => session.run(client).await?,
            Ok(Next::Probe(session)) => session.run(client).await?,
            Ok(Next::Capture(capture)) => capture.run(client).await?,
            Err(refusal) => client.reply(Err(refusal)).await?,
        }
    }
}
