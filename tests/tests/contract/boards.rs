//! Makes the objects of the rows about boards: projects, uploads, boards, runs, signed addresses.

use serde_json::{Value, json};
use tests::until;

use crate::bench::{Bench, text};
use crate::document::Kind;

/// A board with a slot in its ground plane.
const SLOT: &[u8] = include_bytes!("../../../hostd/emi/testdata/slot.kicad_pcb");

/// Cables of a run that takes longer than the row that needs it.
const CABLES: u32 = 50;

impl Bench {
    /// What has to do with boards.
    pub(crate) fn of_boards(&self, name: &str) -> Option<String> {
        Some(match name {
            "org" => text(&self.emi_project()["organization_id"]),
            "project" | "new-project" => text(&self.emi_project()["id"]),
            "upload" | "new-upload" => self.upload(name),
            "key.received" | "new-key.received" => self.received(SLOT),
            "board" | "new-board" => text(&self.analysed(SLOT)["board_id"]),
            "board.wrong" | "new-board.wrong" => text(&self.analysed(b"no board")["board_id"]),
            "run" => text(&self.analysed(SLOT)["id"]),
            "run.failed" | "new-run.failed" => text(&self.analysed(b"no board")["id"]),
            "new-run.long" => self.long_run(),
            "file.expires" | "file.signature" => self.file(name),
            _ => return None,
        })
    }

    fn emi(&self, path: &str, body: &Value) -> Value {
        self.post(Kind::ApiKey, &format!("/emi{path}"), body)
    }

    fn look(&self, path: &str) -> Value {
        let client = self.client(self.owner.credential(Kind::ApiKey));
        client.get(&format!("/api/emi{path}")).unwrap().expect(200)
    }

    fn emi_project(&self) -> Value {
        self.emi("/projects", &json!({"name": "sensor"}))
    }

    /// Remembers the parts of a signed address as `<name>.expires` and `<name>.signature`.
    fn take_apart(&self, name: &str, url: &str) {
        let (_, query) = url.split_once('?').unwrap();
        for pair in query.split('&') {
            let (parameter, value) = pair.split_once('=').unwrap();
            if parameter == "signature" {
                self.keep_secret(value);
            }
            let mut made = self.made.borrow_mut();
            made.insert(format!("{name}.{parameter}"), value.to_owned());
        }
    }

    /// Key of an upload to which anything may be sent.
    fn upload(&self, name: &str) -> String {
        let project = self.object("project");
        let path = format!("/projects/{project}/uploads");
        let begun = self.emi(&path, &json!({"filename": "a.kicad_pcb"}));
        self.take_apart(name, begun["upload_url"].as_str().unwrap());
        text(&begun["key"])
    }

    /// Key of an upload that has come.
    fn received(&self, bytes: &[u8]) -> String {
        let project = self.object("project");
        let path = format!("/projects/{project}/uploads");
        let begun = self.emi(&path, &json!({"filename": "a.kicad_pcb"}));
        let url = begun["upload_url"].as_str().unwrap();
        let (_, path) = url.split_once("/api/").unwrap();
        let body = Some(("application/octet-stream", bytes));
        let sent = self
            .server()
            .anonymous()
            .send_typed("PUT", &format!("/api/{path}"), body);
        sent.unwrap().expect(200);
        text(&begun["key"])
    }

    /// The first run of a new board, at its end.
    fn analysed(&self, bytes: &[u8]) -> Value {
        let key = self.received(bytes);
        let path = format!("/projects/{}/boards", self.object("project"));
        let made = self.emi(&path, &json!({"input_key": key}));
        let id = text(&made["run"]["id"]);
        let is_over = |run: &Value| ["done", "failed"].contains(&run["status"].as_str().unwrap());
        until(|| self.look(&format!("/runs/{id}")), is_over).unwrap()
    }

    /// A run that goes on for seconds.
    fn long_run(&self) -> String {
        let mut wide = String::from_utf8(SLOT.to_vec()).unwrap();
        wide.truncate(wide.trim_end().len() - 1);
        let mut cables = Vec::new();
        for n in 0..CABLES {
            wide += &format!(
                "(footprint \"c\" (layer \"F.Cu\") (at {} 37) (property \"Reference\" \"J{n}\" (at 0 0) (layer \"F.SilkS\")))\n",
                5 + n
            );
            cables
                .push(json!({"connector": format!("J{n}"), "length_m": 0.1 + 0.02 * f64::from(n)}));
        }
        wide += ")\n";
        let board = self.analysed(wide.as_bytes());
        assert_eq!(board["status"], "done", "{board}");
        let path = format!("/projects/{}/runs", self.object("project"));
        let params = json!({"cables": cables});
        let body = json!({"board_id": board["board_id"], "kind": "cable", "params": params});
        text(&self.emi(&path, &body)["id"])
    }

    /// A part of the address of `rules.json` of `<run>`.
    fn file(&self, name: &str) -> String {
        let run = self.object("run");
        let link = self.look(&format!("/runs/{run}/artifacts/rules.json"));
        self.take_apart("file", link["url"].as_str().unwrap());
        self.made.borrow()[name].clone()
    }
}
