//! How what goes to a pod ends, as a pod sees it that waits for more until a packet is not full.

use pods::protocol::usb::INTERFACE;
use pods::transport;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use usb_sim::{Answer, Attached, Bus, Descriptors, Device, Input, Output, Setup};

use super::bench::{ACCEPT, HEADER_BYTES, descriptors, frame};
use super::plugging::listed;
use super::*;

pub(crate) const CASES: &[Case] = &[(
    "an_empty_packet_follows_a_full_one",
    an_empty_packet_follows_a_full_one,
)];

/// A pod that accepts one connection, and tells how long each transfer is that comes then.
struct Listener {
    lengths: mpsc::UnboundedSender<usize>,
}

impl Device for Listener {
    fn descriptors(&self) -> Descriptors {
        descriptors(INTERFACE)
    }

    fn start(&mut self, bus: &mut Bus) {
        tokio::spawn(listen(bus.output(1), bus.input(1), self.lengths.clone()));
    }

    fn control<'a>(&'a mut self, _: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async { Some(Vec::new()) })
    }
}

async fn listen(
    mut output: Output,
    mut input: Input,
    lengths: mpsc::UnboundedSender<usize>,
) -> std::io::Result<()> {
    let greeting = output.receive().await?;
    input.send(&greeting).await?;
    let _open = output.receive().await?;
    input.send(&frame(1, ACCEPT, &[])).await?;
    loop {
        let length = output.receive().await?.len();
        // A header alone says that the host is still there.
        if length != HEADER_BYTES && lengths.send(length).is_err() {
            return Ok(());
        }
    }
}

fn an_empty_packet_follows_a_full_one() {
    run(async {
        let (lengths, mut told) = mpsc::unbounded_channel();
        let plugged = Attached::new(Listener { lengths }).unwrap();
        listed(1).await;
        let transport = transport(&[&pods::usb::Driver], "usb").unwrap();
        let mut stream = transport.connect().await.unwrap();
        let bursts: [(usize, &[usize]); 4] = [
            (504, &[512, 0]),
            (505, &[513]),
            (1016, &[1024, 0]),
            (100, &[108]),
        ];
        for (bytes, expected) in bursts {
            stream.write_all(&vec![7; bytes]).await.unwrap();
            for length in expected {
                assert_eq!(told.recv().await, Some(*length), "of {bytes} bytes");
            }
        }
        drop((stream, transport));
        // Pulled out while transfers to it are being cancelled, a virtual device leaves the kernel waiting for ever.
        tokio::time::sleep(CLOSED_WITHIN).await;
        drop(plugged);
    });
}
