//! Boards: each is a file that was uploaded, and what it was found to be. What the endpoints about them share.

use guest::emi::Board;
use guest::{ApiError, Request, Time};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub(crate) mod create;
pub(crate) mod diff;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod lookup;
pub(crate) mod remove;

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Board id.");

/// Board id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// A board. What it is made of is known once its first run is done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Board")]
pub(crate) struct Record<'a> {
    /// ULID.
    id: &'a str,
    project_id: &'a str,
    /// The run that reads it and looks through it by all rules.
    ingest_run_id: &'a str,
    /// Of the uploaded bytes, lower-case hexadecimal.
    content_sha256: &'a str,
    size_bytes: u64,
    /// Copper layers; 0 until it was read.
    layer_count: u32,
    /// 0 until it was read.
    net_count: u32,
    /// Width and height of the outline in millimetres; null until it was read.
    outline_mm: Option<[f64; 2]>,
    /// From the top; null until it was read.
    #[schemars(with = "Option<Vec<Sheet>>")]
    stackup: Option<Value>,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

/// A layer of copper, or what is between two.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only what the document says of it is used")]
pub(crate) struct Sheet {
    #[schemars(extend("enum" = ["copper", "dielectric"]))]
    kind: String,
    /// Of copper.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    thickness_mm: Option<f64>,
    /// Of what is between.
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon_r: Option<f64>,
}

impl<'a> Record<'a> {
    pub(crate) fn of(board: &'a Board) -> Result<Self, ApiError> {
        let stackup = board.stackup.as_deref().map(crate::parsed).transpose()?;
        Ok(Self {
            id: &board.id,
            project_id: &board.project_id,
            ingest_run_id: &board.ingest_run_id,
            content_sha256: &board.content_sha256,
            size_bytes: board.size_bytes,
            layer_count: board.layer_count,
            net_count: board.net_count,
            outline_mm: board.outline_mm.map(|(width, height)| [width, height]),
            stackup,
            created_at: &board.created_at,
        })
    }

    pub(crate) fn example(board: &'a Board) -> Self {
        Self::of(board).expect("the example's JSON is JSON")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Record;
    use crate::example;

    #[test]
    fn what_is_known_is_told() {
        let board = example::board();
        let told = json!(Record::example(&board));
        assert_eq!(told["outline_mm"], json!([60.0, 40.0]));
        assert_eq!(told["stackup"][1]["epsilon_r"], 4.5);
        assert_eq!(told["layer_count"], 2);
        let board = example::unread();
        let told = json!(Record::example(&board));
        assert_eq!(told["stackup"], Value::Null);
        assert_eq!(told["outline_mm"], Value::Null);
        assert_eq!(told["net_count"], 0);
        assert_eq!(told["ingest_run_id"], example::RUN);
    }

    #[test]
    fn what_is_no_json_is_a_failure_of_the_server() {
        let mut board = example::board();
        board.stackup = Some("[".into());
        assert_eq!(Record::of(&board).err().unwrap().status, 500);
    }
}
