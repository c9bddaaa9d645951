//! A device and a controller that writes what the kernel would.

use std::time::Duration;

use fastrand::Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::bus::serve;
use super::pace::Pace;
use super::{Answer, Bus, Descriptors, Device, Endpoint, Interface, Setup, Speed, fuzz};

/// Sends back each transfer as it came, once it is told to; knows one request of its own.
struct Echo {
    go: Option<tokio::sync::oneshot::Receiver<()>>,
}

impl Device for Echo {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: (0x1209, 0x0001),
            version: 0x0102,
            class: (0, 0, 0),
            manufacturer: "Maker".into(),
            product: "Echo µ".into(),
            serial: Some("E1".into()),
            speed: Speed::High,
            interfaces: vec![Interface {
                class: (0xFF, 1, 2),
                name: Some("Echo data".into()),
                functional: vec![3, 0x24, 7],
                endpoints: vec![Endpoint::Bulk(0x01), Endpoint::Bulk(0x82)],
                association: None,
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        let (mut output, mut input) = (bus.output(1), bus.message_input(0x82));
        let go = self.go.take().unwrap();
        tokio::spawn(async move {
            let _ = go.await;
            while let Ok(message) = output.receive().await {
                if input.send(&message).await.is_err() {
                    return;
                }
            }
        });
    }

    fn control<'a>(&'a mut self, setup: Setup, bytes: &'a [u8]) -> Answer<'a> {
        Box::pin(async move {
            match (setup.request_type, setup.request) {
                (0xC1, 7) => Some(vec![1, 2, 3, 4]),
                (0x41, 8) if bytes == b"yes" => Some(Vec::new()),
                _ => None,
            }
        })
    }
}

struct Kernel {
    wire: DuplexStream,
    sequence: u32,
    device: JoinHandle<std::io::Result<()>>,
}

/// Number, status and bytes of what became of a transfer.
type Reply = (u32, u32, i32, Vec<u8>);

impl Kernel {
    fn new() -> (Self, tokio::sync::oneshot::Sender<()>) {
        Self::on(Pace::default())
    }

    fn on(pace: Pace) -> (Self, tokio::sync::oneshot::Sender<()>) {
        let (wire, far) = duplex(1 << 20);
        let (send, go) = tokio::sync::oneshot::channel();
        let (reader, writer) = tokio::io::split(far);
        let device = Box::new(Echo { go: Some(go) });
        let device = tokio::spawn(serve(device, pace, reader, writer));
        let kernel = Self {
            wire,
            sequence: 0,
            device,
        };
        (kernel, send)
    }

    async fn write(&mut self, words: [u32; 10], setup: [u8; 8], bytes: &[u8]) -> u32 {
        self.sequence += 1;
        let mut command: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        command[4..8].copy_from_slice(&self.sequence.to_be_bytes());
        command.extend(setup);
        command.extend(bytes);
        self.wire.write_all(&command).await.unwrap();
        self.sequence
    }

    async fn submit_in(&mut self, endpoint: u32, length: u32, setup: [u8; 8]) -> u32 {
        let words = [1, 0, 0, 1, endpoint, 0, length, 0, 0, 0];
        self.write(words, setup, &[]).await
    }

    async fn submit_out(&mut self, endpoint: u32, bytes: &[u8], setup: [u8; 8]) -> u32 {
        let length = u32::try_from(bytes.len()).unwrap();
        let words = [1, 0, 0, 0, endpoint, 0, length, 0, 0, 0];
        self.write(words, setup, bytes).await
    }

    async fn unlink(&mut self, victim: u32) -> u32 {
        let words = [2, 0, 0, 0, 0, victim, 0, 0, 0, 0];
        self.write(words, [0; 8], &[]).await
    }

    /// The next reply; `is_in` if its transfer was one that brings bytes.
    async fn reply(&mut self, is_in: bool) -> Reply {
        self.reply_of(|_| is_in).await
    }

    /// The same, where that depends on the transfer's number.
    async fn reply_of(&mut self, is_in: impl FnOnce(u32) -> bool) -> Reply {
        let mut header = [0; 48];
        self.wire.read_exact(&mut header).await.unwrap();
        let word = |at: usize| u32::from_be_bytes(*header[4 * at..].first_chunk().unwrap());
        let mut bytes = vec![0; if is_in(word(1)) { word(6) as usize } else { 0 }];
        self.wire.read_exact(&mut bytes).await.unwrap();
        (word(0), word(1), word(5).cast_signed(), bytes)
    }

    async fn get(&mut self, request_type: u8, request: u8, value: u16) -> Option<Vec<u8>> {
        let [low, high] = value.to_le_bytes();
        let setup = [request_type, request, low, high, 0, 0, 255, 0];
        let sequence = self.submit_in(0, 255, setup).await;
        let (command, replied, status, bytes) = self.reply(true).await;
        assert_eq!((command, replied), (3, sequence));
        (status == 0).then_some(bytes)
    }
}

#[tokio::test]
async fn a_device_says_what_it_is() {
    let (mut kernel, _go) = Kernel::new();
    let device = kernel.get(0x80, 6, 0x0100).await.unwrap();
    assert_eq!(
        device,
        [
            18, 1, 0, 2, 0, 0, 0, 64, 0x09, 0x12, 1, 0, 0x02, 0x01, 1, 2, 3, 1
        ]
    );
    let configuration = kernel.get(0x80, 6, 0x0200).await.unwrap();
    let total = usize::from(u16::from_le_bytes([configuration[2], configuration[3]]));
    assert_eq!(total, configuration.len());
    assert_eq!(configuration[9..18], [9, 4, 0, 0, 2, 0xFF, 1, 2, 4]);
    assert_eq!(configuration[18..21], [3, 0x24, 7]);
    assert_eq!(configuration[21..28], [7, 5, 0x01, 2, 0, 2, 0]);
    let text = kernel.get(0x80, 6, 0x0302).await.unwrap();
    let units: Vec<u16> = text[2..]
        .chunks(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
        .collect();
    assert_eq!(String::from_utf16(&units).unwrap(), "Echo µ");
    assert_eq!(kernel.get(0x80, 6, 0x0300).await.unwrap(), [4, 3, 9, 4]);
    assert!(kernel.get(0x80, 6, 0x0304).await.is_some());
    for missing in [0x0305, 0x0400, 0x0201] {
        assert_eq!(kernel.get(0x80, 6, missing).await, None, "{missing:x}");
    }
    // Its own requests.
    assert_eq!(kernel.get(0xC1, 7, 0).await.unwrap(), [1, 2, 3, 4]);
    assert_eq!(kernel.get(0xC1, 9, 0).await, None);
    for (bytes, status) in [(b"yes", 0), (b"not", -32)] {
        kernel
            .submit_out(0, bytes, [0x41, 8, 0, 0, 0, 0, 3, 0])
            .await;
        assert_eq!(kernel.reply(false).await.2, status);
    }
}

#[tokio::test]
async fn transfers_wait_for_the_device_and_can_be_cancelled() {
    let (mut kernel, go) = Kernel::new();
    let first = kernel.submit_in(2, 512, [0; 8]).await;
    let second = kernel.submit_in(2, 512, [0; 8]).await;
    let unlink = kernel.unlink(first).await;
    assert_eq!(kernel.reply(false).await, (4, unlink, -104, Vec::new()));
    let out = kernel.submit_out(1, b"hello", [0; 8]).await;
    assert_eq!(kernel.reply(false).await, (3, out, 0, Vec::new()));
    go.send(()).unwrap();
    assert_eq!(kernel.reply(true).await, (3, second, 0, b"hello".to_vec()));
    // It is complete, so there is nothing to cancel.
    let unlink = kernel.unlink(second).await;
    assert_eq!(kernel.reply(false).await, (4, unlink, 0, Vec::new()));
    // An endpoint that does not exist.
    kernel.submit_in(9, 4, [0; 8]).await;
    assert_eq!(kernel.reply(true).await.2, -32);
}

#[tokio::test]
async fn a_device_that_does_not_read_holds_transfers_up() {
    let (mut kernel, go) = Kernel::new();
    let part = vec![5; 64 * 1024];
    for _ in 0..6 {
        kernel.submit_out(1, &part, [0; 8]).await;
    }
    for taken in 1..=4 {
        assert_eq!(kernel.reply(false).await.1, taken);
    }
    // The fifth is not complete before the device has read.
    let victim = 6;
    kernel.unlink(victim).await;
    let (command, _, status, _) = kernel.reply(false).await;
    assert_eq!((command, status), (4, -104));
    go.send(()).unwrap();
    assert_eq!(kernel.reply(false).await.1, 5);
    for _ in 0..5 {
        kernel.submit_in(2, 1 << 20, [0; 8]).await;
        assert!(kernel.reply(true).await.3 == part);
    }
}

#[tokio::test(start_paused = true)]
async fn a_bus_with_a_speed_is_shared_by_its_endpoints() {
    let (mut kernel, go) = Kernel::on(Pace::of(Speed::High));
    go.send(()).unwrap();
    let began = Instant::now();
    let part = vec![5; 64 * 1024];
    for _ in 0..100 {
        kernel.submit_out(1, &part, [0; 8]).await;
        kernel.submit_in(2, 64 * 1024, [0; 8]).await;
    }
    let is_in = |sequence: u32| sequence.is_multiple_of(2);
    let mut came = Vec::new();
    for _ in 0..200 {
        let (_, sequence, status, _) = kernel.reply_of(is_in).await;
        assert_eq!(status, 0);
        came.push(is_in(sequence));
    }
    // 128 packets of 512 bytes are 10 microframes, less 2 packets.
    let real = Duration::from_micros(125) * 200 * 128 / 13;
    let gap = began.elapsed().abs_diff(real);
    assert!(gap < Duration::from_millis(5), "{gap:?}");
    // Neither way waits until the other is done.
    let half = came[..100].iter().filter(|is_in| **is_in).count();
    assert!((40..=60).contains(&half), "{half}");
}

#[tokio::test]
async fn unplugging_ends_what_the_device_waits_for() {
    let (kernel, go) = Kernel::new();
    go.send(()).unwrap();
    drop(kernel.wire);
    kernel.device.await.unwrap().unwrap();
}

#[tokio::test]
async fn any_bytes_are_borne() {
    let mut random = Rng::with_seed(0x0511);
    for _ in 0..2000 {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(..4) {
            let mut command = vec![0; 48];
            command[3] = random.u8(..4);
            command[15] = random.u8(..3);
            command[19] = random.u8(..18);
            command[26] = random.u8(..3);
            command[27] = random.u8(..);
            if random.u8(..8) == 0 {
                let at = random.usize(..48);
                command[at] = random.u8(..);
            }
            bytes.extend(command);
            bytes.extend((0..random.usize(..300)).map(|_| 7));
        }
        fuzz(&bytes).await;
    }
}
