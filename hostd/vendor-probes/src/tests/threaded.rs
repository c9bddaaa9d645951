//! The thread behind a probe: what it opens, what it loses, and that one that hangs holds up nobody.

use std::sync::mpsc;
use std::time::Duration;

use tokio::time::timeout;

use super::word;
use crate::*;

const PATIENCE: Duration = Duration::from_secs(10);

/// A port that waits for leave to answer each access, and is lost without it.
struct Waiting(mpsc::Receiver<u32>);

impl Port for Waiting {
    fn connect(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn disconnect(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn set_clock(&mut self, _: u32) -> Result<(), PortError> {
        Ok(())
    }

    fn configure(&mut self, _: u8, _: u16) {}

    fn sequence(&mut self, _: &[bool]) -> Result<(), PortError> {
        panic!("a driver that fails");
    }

    fn access(&mut self, _: &[Access]) -> Result<Accessed, PortError> {
        let value = self.0.recv();
        let value = value.map_err(|_| PortError::Lost("unplugged".to_owned()))?;
        Ok(Accessed {
            done: 1,
            ack: Ack::Ok,
            values: vec![value],
        })
    }

    fn set_reset(&mut self, _: bool) -> Result<(), PortError> {
        Ok(())
    }
}

fn place(serial: &str) -> Where {
    Where {
        vendor: 0x1366,
        product: 0x0101,
        serial: Some(serial.to_owned()),
    }
}

async fn open(serial: &str) -> (std::io::Result<Probe>, mpsc::Sender<u32>) {
    let (leave, waits) = mpsc::channel();
    let opened = Probe::start(Driver::JLink, place(serial), || Ok(Waiting(waits))).await;
    (opened, leave)
}

async fn told(probe: &mut Probe, packet: &[u8]) -> std::io::Result<Vec<u8>> {
    probe.send(packet.to_vec()).await?;
    timeout(PATIENCE, probe.receive()).await.unwrap()
}

const READ: [u8; 4] = [0x05, 0, 1, 0x02];

#[tokio::test]
async fn packets_are_answered_in_their_order_until_the_probe_is_lost() {
    let (probe, leave) = open("order").await;
    let mut probe = probe.unwrap();
    assert_eq!(told(&mut probe, &[0x02, 1]).await.unwrap(), [0x02, 1]);
    for _ in 0..PACKETS {
        probe.send(READ.to_vec()).await.unwrap();
    }
    for number in 0..u32::from(PACKETS) {
        // Nobody waits for an answer that is not there, and the one who stopped waiting loses none.
        let early = timeout(Duration::from_millis(1), probe.receive()).await;
        assert!(early.is_err());
        leave.send(number).unwrap();
        let answer = timeout(PATIENCE, probe.receive()).await.unwrap().unwrap();
        assert_eq!(answer, [&[0x05, 1, 1][..], &word(number)].concat());
    }
    drop(leave);
    let error = told(&mut probe, &READ).await.unwrap_err();
    assert_eq!(error.to_string(), "unplugged");
    let error = told(&mut probe, &READ).await.unwrap_err();
    assert_eq!(error.to_string(), "its driver has failed");
}

#[tokio::test]
async fn a_driver_that_hangs_is_left_behind_and_counted() {
    let (probe, leave) = open("hangs").await;
    let mut probe = probe.unwrap();
    told(&mut probe, &[0x02, 1]).await.unwrap();
    probe.send(READ.to_vec()).await.unwrap();
    assert!(
        timeout(Duration::from_millis(10), probe.receive())
            .await
            .is_err()
    );
    drop(probe);
    let error = open("hangs").await.0.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    assert!(
        error.to_string().contains("has not let go of it yet"),
        "{error}"
    );
    let told = Probe::check(&place("hangs")).unwrap_err();
    assert_eq!(told.to_string(), error.to_string());
    // Another one is no matter.
    open("other").await.0.unwrap();
    drop(leave);
    let again = async {
        while open("hangs").await.0.is_err() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, again).await.unwrap();
}

#[tokio::test]
async fn a_driver_that_fails_is_the_end_of_its_probe_alone() {
    let (probe, _leave) = open("fails").await;
    let mut probe = probe.unwrap();
    told(&mut probe, &[0x02, 1]).await.unwrap();
    let error = told(&mut probe, &[0x12, 8, 0xFF]).await.unwrap_err();
    assert_eq!(error.to_string(), "its driver has failed");
}

#[tokio::test]
async fn what_cannot_be_opened_says_why() {
    let open = || Err::<Waiting, _>("it is no J-Link".to_owned());
    let error = Probe::start(Driver::JLink, place("none"), open)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "it is no J-Link");
    // The real drivers, without any probe.
    for driver in [Driver::JLink, Driver::StLink] {
        let error = Probe::open(driver, place("missing")).await.unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}
