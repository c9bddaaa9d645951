//! A pod that plays one script for each connection.

use super::*;

/// What the scripted pod does with the next request.
#[derive(Clone)]
pub(super) enum Step {
    /// Answers this line to the request that contains that text.
    Answer(&'static str, String),
    /// Answers these bytes to the request that contains that text.
    Bytes(&'static str, Vec<u8>),
    /// The same, one by one with this pause before each.
    Drip(&'static str, Vec<u8>, Duration),
    /// Takes the request that contains that text.
    Take(&'static str),
    /// Sends these bytes without waiting for anything.
    Push(Vec<u8>),
    /// Answers each debug-probe packet with itself, reversed.
    Echo,
    /// Reads the request and stays silent until the client gives up.
    Silence,
    /// Closes.
    Close,
    /// Ends as a reset connection does.
    Reset,
}

/// Plays one script per connection.
struct Script(Mutex<VecDeque<Vec<Step>>>);

impl Transport for Script {
    fn kind(&self) -> &'static str {
        "script"
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let script = self.0.lock().unwrap().pop_front();
            let script = script.ok_or(io::ErrorKind::ConnectionRefused)?;
            let (near, far) = duplex(1 << 20);
            let reset = Arc::new(AtomicBool::new(false));
            tokio::spawn(play(far, script, reset.clone()));
            Ok(Box::new(Resettable { near, reset }) as BoxedStream)
        })
    }
}

/// The client's end: after a reset its end of stream is an error.
struct Resettable {
    near: DuplexStream,
    reset: Arc<AtomicBool>,
}

impl AsyncRead for Resettable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.near).poll_read(cx, buf);
        if polled.is_ready() && buf.filled().len() == before && self.reset.load(Relaxed) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        polled
    }
}

impl AsyncWrite for Resettable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.near).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_shutdown(cx)
    }
}

async fn play(stream: DuplexStream, script: Vec<Step>, reset: Arc<AtomicBool>) {
    // A client that goes away in the middle of a script is some tests' whole point.
    let _ = steps(stream, script, &reset).await;
}

async fn steps(stream: DuplexStream, script: Vec<Step>, reset: &AtomicBool) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    for step in script {
        match step {
            Step::Answer(expected, line) => {
                take(&mut stream, expected).await?;
                stream.write_all(format!("{line}\n").as_bytes()).await?;
            }
            Step::Bytes(expected, bytes) => {
                take(&mut stream, expected).await?;
                stream.write_all(&bytes).await?;
            }
            Step::Drip(expected, bytes, pause) => {
                take(&mut stream, expected).await?;
                for byte in bytes {
                    sleep(pause).await;
                    stream.write_all(&[byte]).await?;
                }
            }
            Step::Take(expected) => take(&mut stream, expected).await?,
            Step::Push(bytes) => stream.write_all(&bytes).await?,
            Step::Echo => loop {
                let length = stream.read_u16_le().await?;
                let mut packet = vec![0; usize::from(length)];
                stream.read_exact(&mut packet).await?;
                packet.reverse();
                stream.write_all(&length.to_le_bytes()).await?;
                stream.write_all(&packet).await?;
            },
            Step::Silence => {
                stream.read_to_end(&mut Vec::new()).await?;
            }
            Step::Close => return Ok(()),
            Step::Reset => {
                reset.store(true, Relaxed);
                return Ok(());
            }
        }
    }
    stream.read_to_end(&mut Vec::new()).await?;
    Ok(())
}

async fn take(stream: &mut BufReader<DuplexStream>, expected: &str) -> io::Result<()> {
    let mut request = String::new();
    if stream.read_line(&mut request).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    assert!(request.contains(expected), "{request} for {expected}");
    Ok(())
}

pub(super) fn ok(verb: &'static str, data: Value) -> Step {
    Step::Answer(verb, json!({"status": "ok", "data": data}).to_string())
}

/// A script that starts as every pod does.
pub(super) fn greeted(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let status = json!({"board": "stm32h563", "version": "3.9.4", "caps": ["la"]});
    greeted_as("A", status, steps)
}

/// The same with a key of these letters and this status.
pub(super) fn greeted_as(
    letter: &str,
    status: Value,
    steps: impl IntoIterator<Item = Step>,
) -> Vec<Step> {
    // The last letter of 43 carries four bits only.
    let key = format!("{}A", letter.repeat(42));
    let mut script = vec![
        ok("identity_public", json!({"public": key})),
        ok("status", status),
    ];
    script.extend(steps);
    script
}

pub(super) async fn scripted(scripts: Vec<Vec<Step>>) -> Pod {
    scripted_with(PodOptions::default(), scripts).await
}

pub(super) async fn scripted_with(options: PodOptions, scripts: Vec<Vec<Step>>) -> Pod {
    let transport = Arc::new(Script(Mutex::new(scripts.into())));
    let pod = Pod::spawn(transport, options);
    let _ = pod.wait_online(Duration::from_secs(1)).await;
    pod
}
