//! More connections than the server has places for, which send nothing, or half a request.

use std::io::Result;
use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join_all};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::attack::{Attack, Met, Tally};
use crate::honest::Deed;
use crate::site::{ATTACKER, HONEST, Site};
use crate::wire::connect;

/// Concurrent connections: a few more than the default `http.connections_max`.
const CONNECTIONS: u32 = 1100;

/// Pause between two connections at the start: all are open within half a second.
const OPEN_PAUSE: Duration = Duration::from_micros(450);

/// Wait before a connection that was ended is opened again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Every other connection sends this, and then a byte from time to time.
const HALF_HEAD: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: hostd\r\nx-a: ";
const TRICKLE_PAUSE: Duration = Duration::from_secs(2);

/// Silent connections from one address.
pub(crate) struct Silence {
    name: &'static str,
    does: &'static str,
    from: Ipv4Addr,
    deeds: &'static [Deed],
}

impl Silence {
    pub(crate) const ELSEWHERE: Self = Self {
        name: "silent-connections",
        does: "1,100 connections from one address that ask nothing, or half a head",
        from: ATTACKER,
        deeds: Deed::ALL,
    };

    pub(crate) const SAME_ADDRESS: Self = Self {
        name: "silent-beside",
        does: "the same from the honest caller's own address, who presents a credential",
        from: HONEST,
        deeds: Deed::AUTHENTICATED,
    };
}

impl Attack for Silence {
    fn name(&self) -> &'static str {
        self.name
    }

    fn does(&self) -> &'static str {
        self.does
    }

    fn run<'a>(&'a self, site: &'a Site, tally: &'a Tally) -> LocalBoxFuture<'a, ()> {
        let connections = (0..CONNECTIONS).map(move |n| async move {
            sleep(OPEN_PAUSE * n).await;
            loop {
                let held = match connect(self.from, site.address).await {
                    Ok(stream) => {
                        tally.opened();
                        hold(stream, n % 2 == 0).await
                    }
                    Err(e) => Err(e),
                };
                match held {
                    Ok(()) => tally.cut(),
                    Err(_) => tally.refused(),
                }
                sleep(RETRY_PAUSE).await;
            }
        });
        Box::pin(async move {
            join_all(connections).await;
        })
    }

    fn files(&self) -> u64 {
        2 * u64::from(CONNECTIONS)
    }

    fn deeds(&self) -> &'static [Deed] {
        self.deeds
    }

    fn complaints(&self, met: &Met) -> Vec<String> {
        let endured = !met.was_turned_away();
        let complaint = format!("none of {CONNECTIONS} connections was refused or closed");
        endured.then_some(complaint).into_iter().collect()
    }
}

/// Keep a connection until the server ends it, or answers.
async fn hold(mut stream: TcpStream, says_half: bool) -> Result<()> {
    if !says_half {
        return stream.read(&mut [0; 256]).await.map(drop);
    }
    stream.write_all(HALF_HEAD).await?;
    let (mut reader, mut writer) = stream.split();
    let mut bytes = [0; 256];
    loop {
        tokio::select! {
            read = reader.read(&mut bytes) => return read.map(drop),
            () = sleep(TRICKLE_PAUSE) => writer.write_all(b"a").await?,
        }
    }
}
