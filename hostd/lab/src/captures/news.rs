//! What is told of captures.

use base::clock;
use base::news::Kind;
use serde_json::json;

use super::Captures;
use store::captures::CaptureRecord;

impl Captures {
    /// Tell who listens what became of a capture.
    pub(super) fn tell(&self, kind: Kind, record: &CaptureRecord) {
        let told = json!({"capture": {
            "id": record.id,
            "kind": record.kind,
            "name": record.name,
            "status": record.status,
            "error": record.error,
            "created_at": clock::text(record.created_ms),
            "finished_at": record.finished_ms.map(clock::text),
            "size_bytes": record.size_bytes,
        }});
        let place = (record.org.as_str(), record.device.as_str());
        self.devices.tell_of(kind, place, &record.id, told);
    }
}
