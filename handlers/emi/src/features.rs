//! `GET /emi/features`: what this server offers.

use guest::emi::{self, Kind, Offer};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::access;
use crate::run::KINDS;

pub(crate) const ROUTE: Route = Route {
    name: "emi.features",
    method: "GET",
    pattern: "/emi/features",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "What this server offers for boards",
    openapi: Openapi::of(|operation| {
        let offer = Offer {
            kinds: vec![Kind::Ingest, Kind::Compliance, Kind::Cable],
            upload_bytes_max: 200 << 20,
            version: "0.1.0".into(),
        };
        operation.reply(200, "Kinds of runs, and the largest file.", &told(&offer));
    }),
    handle,
};

/// What is offered.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Features")]
struct Told {
    /// Kinds of runs.
    #[schemars(extend("items" = json!({"type": "string", "enum": KINDS.all()})))]
    kinds: Vec<&'static str>,
    /// Most bytes of a file.
    upload_bytes_max: u64,
}

fn told(offer: &Offer) -> Told {
    Told {
        kinds: offer.kinds.iter().map(|kind| KINDS.word(*kind)).collect(),
        upload_bytes_max: offer.upload_bytes_max,
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    Ok(Response::json(200, &told(&emi::features())))
}

#[cfg(test)]
mod tests {
    use guest::emi::{Kind, Offer};
    use serde_json::json;

    use super::told;

    #[test]
    fn kinds_are_words() {
        let offer = Offer {
            kinds: vec![Kind::Ingest, Kind::Solve],
            upload_bytes_max: 7,
            version: "0.1.0".into(),
        };
        let expected = json!({"kinds": ["ingest", "solve"], "upload_bytes_max": 7});
        assert_eq!(json!(told(&offer)), expected);
    }
}
