//! A client that works with boards, as a CI job does.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::{Client, Reply, until};

/// A board with a slot in its ground plane, and a trace that crosses it.
pub(crate) const SLOT: &[u8] = include_bytes!("../../../hostd/emi/testdata/slot.kicad_pcb");

/// Connectors of a board that takes long.
const CONNECTORS: u32 = 50;

/// Between two looks at a run.
const POLL: Duration = Duration::from_millis(20);

/// Longer than a run may take.
const RUN_WAIT: Duration = Duration::from_secs(180);

/// Whoever works with boards.
pub(crate) struct Desk {
    pub(crate) client: Client,
}

/// An upload that was asked for.
pub(crate) struct Asked {
    pub(crate) key: String,
    /// Path and query of the address that takes the bytes.
    pub(crate) url: Option<String>,
}

impl Desk {
    pub(crate) fn of(client: Client) -> Self {
        Self { client }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.client.get(&format!("/api/emi{path}")).unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.client.post(&format!("/api/emi{path}"), body).unwrap()
    }

    pub(crate) fn delete(&self, path: &str) -> Reply {
        self.client.delete(&format!("/api/emi{path}")).unwrap()
    }

    pub(crate) fn project(&self, name: &str) -> String {
        let made = self.post("/projects", &json!({"name": name})).expect(201);
        text(&made["id"])
    }

    pub(crate) fn ask(&self, project: &str, bytes: &[u8]) -> Asked {
        let body = json!({"filename": "board.kicad_pcb", "sha256": digest(bytes)});
        let path = format!("/projects/{project}/uploads");
        let begun = self.post(&path, &body).expect(200);
        Asked {
            key: text(&begun["key"]),
            url: begun["upload_url"].as_str().map(str::to_owned),
        }
    }

    /// Sends a board unless it is there, and returns its key.
    pub(crate) fn send(&self, project: &str, bytes: &[u8]) -> String {
        let asked = self.ask(project, bytes);
        if let Some(url) = &asked.url {
            put(url, bytes).expect(200);
        }
        asked.key
    }

    /// Sends a board and has it analysed: its id and that of its run.
    pub(crate) fn board(&self, project: &str, bytes: &[u8]) -> (String, String) {
        let key = self.send(project, bytes);
        let body = json!({"input_key": key, "sha256": digest(bytes)});
        let path = format!("/projects/{project}/boards");
        let made = self.post(&path, &body).expect(201);
        (text(&made["board"]["id"]), text(&made["run"]["id"]))
    }

    /// Sends a board and waits for what comes of it: its id, and its run.
    pub(crate) fn analysed(&self, project: &str, bytes: &[u8]) -> (String, Value) {
        let (board, run) = self.board(project, bytes);
        (board, self.ended(&run))
    }

    pub(crate) fn run(&self, id: &str) -> Value {
        self.get(&format!("/runs/{id}")).expect(200)
    }

    /// The run once it has ended.
    pub(crate) fn ended(&self, id: &str) -> Value {
        let begun = Instant::now();
        loop {
            let run = self.run(id);
            if is_final(&run) {
                return run;
            }
            assert!(begun.elapsed() < RUN_WAIT, "the run does not end: {run}");
            std::thread::sleep(POLL);
        }
    }

    /// The run once it computes.
    pub(crate) fn begun(&self, id: &str) -> Value {
        until(|| self.run(id), |run| run["status"] != "new").unwrap()
    }

    /// A run that takes some seconds, of a board [`with_connectors`]: a cable at each of them.
    pub(crate) fn long_run(&self, project: &str, board: &str) -> String {
        self.cables(project, board, CONNECTORS)
    }

    /// A run with so many cables.
    pub(crate) fn cables(&self, project: &str, board: &str, count: u32) -> String {
        let cables: Vec<Value> = (0..count)
            .map(|n| json!({"connector": format!("J{n}"), "length_m": 0.1 + 0.02 * f64::from(n)}))
            .collect();
        let body = json!({"board_id": board, "kind": "cable", "params": {"cables": cables}});
        let path = format!("/projects/{project}/runs");
        text(&self.post(&path, &body).expect(201)["id"])
    }

    /// The address of an artifact, as the answer has it.
    pub(crate) fn link(&self, run: &str, name: &str) -> Value {
        self.get(&format!("/runs/{run}/artifacts/{name}"))
            .expect(200)
    }
}

/// The board with the slot, and connectors J0, J1, and so on.
pub(crate) fn with_connectors() -> Vec<u8> {
    let mut board = String::from_utf8(SLOT.to_vec()).unwrap();
    board.truncate(board.trim_end().len() - 1);
    for n in 0..CONNECTORS {
        board += &format!(
            "(footprint \"c\" (layer \"F.Cu\") (at {} 37) (property \"Reference\" \"J{n}\" (at 0 0) (layer \"F.SilkS\"))\n\
             (pad \"1\" smd rect (at 0 0) (size 0.3 0.3) (layers \"F.Cu\") (net \"LED\")))\n",
            5 + n
        );
    }
    board += ")\n";
    board.into_bytes()
}

/// Sends bytes to an address, without a credential.
pub(crate) fn put(url: &str, bytes: &[u8]) -> Reply {
    let body = Some(("application/octet-stream", bytes));
    Client::new("").send_typed("PUT", url, body).unwrap()
}

/// Fetches an address, without a credential.
pub(crate) fn fetch(url: &str) -> Reply {
    Client::new("").get(url).unwrap()
}

pub(crate) fn is_final(run: &Value) -> bool {
    ["done", "failed", "timed_out"].contains(&run["status"].as_str().unwrap())
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
