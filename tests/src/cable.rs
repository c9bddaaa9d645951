//! A cable between a server and a pod that is reached over TCP. A test pulls it out and puts it back; the pod itself
//! keeps its power and its state meanwhile, as a real one does whose network cable is pulled.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};

/// A cable, plugged in when it is made.
#[derive(Debug)]
pub struct Cable {
    /// Its end for the server: `127.0.0.1:port`.
    pub address: String,
    shared: Arc<Mutex<Shared>>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    /// The pod's own address.
    pod: String,
    state: State,
    /// Both ends of all connections that were made since it was plugged in.
    ends: Vec<TcpStream>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Plugged,
    Pulled,
    /// It is being dropped.
    Gone,
}

impl Cable {
    /// A cable to the pod at this address.
    ///
    /// # Errors
    /// No port is free.
    pub fn to(pod: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("find a free port")?;
        let address = listener.local_addr()?.to_string();
        let shared = Arc::new(Mutex::new(Shared {
            pod: pod.to_owned(),
            state: State::Plugged,
            ends: Vec::new(),
        }));
        let of = Arc::clone(&shared);
        Ok(Self {
            address,
            shared,
            accepting: Some(thread::spawn(move || accept(&listener, &of))),
        })
    }

    /// All connections end, and none can be made.
    pub fn pull(&self) {
        self.set(State::Pulled);
    }

    /// Connections can be made again.
    pub fn plug(&self) {
        self.set(State::Plugged);
    }

    /// From now on connections lead there.
    pub fn lead_to(&self, pod: &str) {
        lock(&self.shared).pod = pod.to_owned();
    }

    fn set(&self, state: State) {
        let mut shared = lock(&self.shared);
        shared.state = state;
        if state == State::Plugged {
            return;
        }
        for end in shared.ends.drain(..) {
            // It may have ended by itself.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.set(State::Gone);
        // The one that accepts looks at the state when somebody comes.
        let _ = TcpStream::connect(&self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Mutex<Shared>) {
    for server in listener.incoming().flatten() {
        let mut shared = lock(shared);
        match shared.state {
            State::Gone => return,
            State::Pulled => {}
            // A pod that is not there refuses its server too.
            State::Plugged => drop(shared.join(server)),
        }
    }
}

impl Shared {
    fn join(&mut self, server: TcpStream) -> io::Result<()> {
        let pod = TcpStream::connect(&self.pod)?;
        for stream in [&server, &pod] {
            stream.set_nodelay(true)?;
            self.ends.push(stream.try_clone()?);
        }
        forward(server.try_clone()?, pod.try_clone()?);
        forward(pod, server);
        Ok(())
    }
}

/// Passes bytes on in one direction until one side has ended, which ends the other one.
fn forward(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        // Both are about to end, however this did.
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
