//! Captures: taking, fetching, decoding and removing them.

use crate::call::{Rows, call, rows};

/// A real-time clock on an I2C bus.
const RECORDING: &[u8] =
    include_bytes!("../../../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

pub(super) fn all() -> Vec<Rows> {
    let mut all = starts();
    all.extend(finished());
    all.extend(looks());
    all
}

fn starts() -> Vec<Rows> {
    vec![
        rows("captures.start_scope")
            .success(202, call("/scope/captures/start").json(r#"{"device_id":"<device>","samples":256,"sample_rate_mhz":0.4}"#))
            .success(202, call("/scope/captures/start").json(r#"{"device_id":"<device>","samples":10,"sample_rate_mhz":1.0}"#))
            .refusal(400, "not_capable", call("/scope/captures/start").json(r#"{"device_id":"<digital>"}"#))
            .refusal(503, "device_offline", call("/scope/captures/start").json(r#"{"device_id":"<gone>"}"#))
            .refusal(409, "lease_held", call("/scope/captures/start").json(r#"{"device_id":"<leased>"}"#))
            .refusal(
                400,
                "invalid_request",
                call("/scope/captures/start").json(r#"{"device_id":"<device>","samples":4194305}"#),
            ),
        rows("captures.start_measure")
            .success(
                202,
                call("/scope/measure/start").json(
                    r#"{"device_id":"<device>","samples":256,"sample_rate_mhz":0.256,"stimulus":{"generate":{"waveform":"sine","freq":1000,"amplitude":127,"offset":128}}}"#,
                ),
            )
            .success(
                202,
                call("/scope/measure/start").json(
                    r#"{"device_id":"<device>","samples":256,"sample_rate_mhz":0.256,"stimulus":{"waveform_id":"<waveform>"}}"#,
                ),
            )
            .refusal(
                404,
                "not_found",
                call("/scope/measure/start").json(
                    r#"{"device_id":"<device>","samples":256,"sample_rate_mhz":0.256,"stimulus":{"waveform_id":"<missing>"}}"#,
                ),
            )
            .refusal(
                400,
                "not_capable",
                call("/scope/measure/start").json(
                    r#"{"device_id":"<digital>","samples":256,"sample_rate_mhz":0.256,"stimulus":{"generate":{"waveform":"sine","freq":1000,"amplitude":127,"offset":128}}}"#,
                ),
            )
            .refusal(
                409,
                "lease_held",
                call("/scope/measure/start").json(
                    r#"{"device_id":"<leased>","samples":256,"sample_rate_mhz":0.256,"stimulus":{"generate":{"waveform":"sine","freq":1000,"amplitude":127,"offset":128}}}"#,
                ),
            ),
        rows("captures.start_i2c")
            .success(
                202,
                call("/analyzer/captures/start")
                    .json(r#"{"device_id":"<device>","samples":1000,"sample_rate_mhz":1.0,"scl":1,"sda":2,"voltage_mv":3300}"#),
            )
            .success(
                202,
                call("/analyzer/captures/start")
                    .json(r#"{"device_id":"<device>","samples":1000,"sample_rate_mhz":1.0,"scl":"LA1","sda":"LA2","voltage_mv":3300}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/analyzer/captures/start").json(r#"{"device_id":"<device>","samples":10,"sample_rate_mhz":1.0,"scl":1,"sda":1}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/analyzer/captures/start").json(r#"{"device_id":"<leased>","samples":10,"sample_rate_mhz":1.0,"scl":1,"sda":2}"#),
            ),
        rows("captures.start_logic")
            .success(
                202,
                call("/la/captures/start").json(r#"{"device_id":"<device>","samples":1000,"sample_rate_mhz":1.0,"channels":[1,2],"voltage_mv":3300}"#),
            )
            .success(
                202,
                call("/la/captures/start").json(
                    r#"{"device_id":"<device>","samples":1000,"sample_rate_mhz":1.0,"voltage_mv":3300,"pre_samples":500,
                        "trigger":{"level":{"channel":"LA14","level":"low","for_ns":1000000},"timeout_ms":5000}}"#,
                ),
            )
            .success(
                202,
                call("/la/captures/start").json(
                    r#"{"device_id":"<device>","samples":1000,"sample_rate_mhz":1.0,"voltage_mv":3300,"pre_samples":500,
                        "trigger":{"protocol":"uart","rx":"LA14","bytes":"55 AA ?? 01","timeout_ms":50}}"#,
                ),
            )
            .refusal(
                400,
                "invalid_request",
                call("/la/captures/start").json(
                    r#"{"device_id":"<device>","samples":1000,"sample_rate_mhz":1.0,"trigger":{"protocol":"i2c","address":"0x76"}}"#,
                ),
            )
            .refusal(409, "wrong_state", call("/la/captures/start").json(r#"{"device_id":"<digital>","samples":10,"sample_rate_mhz":1.0}"#))
            .refusal(503, "device_offline", call("/la/captures/start").json(r#"{"device_id":"<gone>","samples":10,"sample_rate_mhz":1.0}"#))
            .refusal(409, "lease_held", call("/la/captures/start").json(r#"{"device_id":"<leased>","samples":10,"sample_rate_mhz":1.0}"#)),
        rows("captures.start_dual")
            .success(
                202,
                call("/capture/start").json(
                    r#"{"device_id":"<device>","adc_samples":256,"adc_rate_mhz":0.1,"la_samples":2560,"la_rate_mhz":1.0}"#,
                ),
            )
            .refusal(
                400,
                "not_capable",
                call("/capture/start").json(r#"{"device_id":"<digital>","adc_samples":256,"adc_rate_mhz":0.1,"la_samples":2560,"la_rate_mhz":1.0}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/capture/start").json(r#"{"device_id":"<leased>","adc_samples":256,"adc_rate_mhz":0.1,"la_samples":2560,"la_rate_mhz":1.0}"#),
            ),
    ]
}

/// At finished captures, from afar and closely.
fn looks() -> Vec<Rows> {
    vec![
        rows("captures.tiles")
            .success(200, call("/capture/<capture>/tiles?level=0&index=0"))
            .success(
                200,
                call("/capture/<capture>/tiles?level=3&index=0&tiles=8&channels=LA2,1")
                    .header("accept", "application/json"),
            )
            .success(
                304,
                call("/capture/<capture>/tiles?level=0&index=0")
                    .header("if-none-match", "\"1-binary\""),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/tiles?level=0&index=0"),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/tiles?level=0&index=0"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/tiles?level=0&index=1"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/tiles?level=0&index=0&channels=LA1,LA1"),
            ),
        rows("captures.edges")
            .success(200, call("/capture/<capture>/edges?channel=LA1&at=0"))
            .success(
                200,
                call("/capture/<capture>/edges?channel=1&at=500&direction=previous&edge=falling"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/edges?channel=LA1&at=0"),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/edges?channel=LA1&at=0"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/edges?channel=LA99&at=0"),
            ),
        rows("captures.search")
            .success(
                200,
                call("/capture/<capture>/search?q=edge%20on%20LA1&limit=3"),
            )
            .success(
                200,
                call("/capture/<capture>/search?q=no+edge+for+1+us&from=10&to=500")
                    .header("accept", "application/x-ndjson"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/search?q=edge+on+LA1"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.analog>/search?q=edge+on+LA1"),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/search?q=edge+on+LA1"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/search?q=edge+on+LA99"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/search?q=edges"),
            )
            .success(
                200,
                call("/capture/<capture>/search?q=edge+on+LA1&skip=2&limit=2"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/search?q=edge+on+LA1&skip=2")
                    .header("accept", "application/x-ndjson"),
            ),
        rows("captures.search_many")
            .success(200, call("/captures/search?q=edge+on+LA1"))
            .success(200, call("/captures/search?q=i2c+nack&limit=1&results=1"))
            .refusal(400, "invalid_request", call("/captures/search?q=edges"))
            .refusal(
                400,
                "invalid_request",
                call("/captures/search?q=edge+on+LA1&cursor=!!"),
            ),
        rows("captures.measure")
            .success(200, call("/capture/<capture>/measure?channel=LA1"))
            .success(
                200,
                call("/capture/<capture>/measure?channel=2&from=10&to=500"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/measure?channel=LA1"),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/measure?channel=LA1"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/measure?channel=LA1&to=1001"),
            ),
        rows("captures.assert")
            .success(
                200,
                call("/capture/<capture>/assert").json(
                    r#"{"rules": {"version": 1, "rules": [{"name": "a", "count": {"edge": "LA1 any", "min": 1}}]}}"#,
                ),
            )
            .success(
                200,
                call("/capture/<capture>/assert").json(
                    r#"{"rules": {"version": 1, "rules": [{"name": "a", "pulse": {"channel": "none", "min": "1us"}}]}}"#,
                ),
            )
            .success(
                200,
                call("/capture/<capture>/assert").json(
                    r#"{"rules_yaml": "version: 1\nrules:\n  - name: a\n    count: { edge: LA1 any, min: 1 }\n"}"#,
                ),
            )
            .refusal(
                422,
                "invalid_definition",
                call("/capture/<capture>/assert").json(r#"{"rules_yaml": "version: 1\nrules: [\n"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/assert").json(r#"{"rules": {}, "rules_yaml": "version: 1"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/assert").json("{}"),
            )
            .success(
                200,
                call("/capture/<capture>/assert").json(
                    r#"{"rules": {"version": 1, "rules": [{"name": "a", "golden": {"capture": "<capture>"}}]}}"#,
                ),
            )
            .refusal(
                422,
                "invalid_definition",
                call("/capture/<capture>/assert").json(
                    r#"{"rules": {"version": 1, "rules": [{"name": "a", "golden": {"capture": "<missing>"}}]}}"#,
                ),
            )
            .refusal(
                422,
                "invalid_definition",
                call("/capture/<capture>/assert").json(r#"{"rules": {"version": 1, "rules": []}}"#),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/assert").json(
                    r#"{"rules": {"version": 1, "rules": [{"name": "a", "count": {"edge": "LA1 any", "min": 1}}]}}"#,
                ),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/assert").json(
                    r#"{"rules": {"version": 1, "rules": [{"name": "a", "count": {"edge": "LA1 any", "min": 1}}]}}"#,
                ),
            ),
        rows("captures.spectrum")
            .success(
                200,
                call("/capture/<capture.analog>/spectrum?channel=ADC&points=10"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/spectrum?channel=LA1"),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/spectrum?channel=ADC"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/spectrum?channel=LA1"),
            ),
    ]
}

fn finished() -> Vec<Rows> {
    vec![
        rows("captures.list")
            .success(200, call("/captures"))
            .success(200, call("/captures?limit=1"))
            .success(200, call("/captures?text=boot&kind=logic&status=done&pinned=false&since=2026-01-31"))
            .success(200, call("/captures?sort=size&order=asc&limit=1"))
            .success(
                200,
                call("/captures?sort=samples&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC-00000000000000ff"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/captures?sort=samples&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/captures?cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC-00000000000000ff"),
            )
            .refusal(400, "invalid_request", call("/captures?limit=0"))
            .refusal(400, "invalid_request", call("/captures?cursor=!!")),
        rows("captures.get")
            .success(200, call("/capture/<capture>"))
            .success(200, call("/capture/<capture>?frames=none"))
            .success(200, call("/capture/<capture.waiting>"))
            .refusal(404, "not_found", call("/capture/<missing>"))
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>?max_bytes=-1"),
            ),
        rows("captures.cancel")
            .success(200, call("/capture/<new-capture.waiting>/cancel"))
            .refusal(409, "wrong_state", call("/capture/<capture>/cancel")),
        rows("captures.update")
            .success(
                200,
                call("/capture/<new-capture>").json(
                    r#"{"name":"n","pinned":false,"channels":[{"id":0,"label":"a"}],"markers":[{"channel":0,"sample":0,"note":"x"}]}"#,
                ),
            )
            .success(200, call("/capture/<capture>").json(r#"{"pinned":false}"#))
            .refusal(400, "invalid_request", call("/capture/<capture>").json("{}"))
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>").json(r#"{"channels":[{"id":60,"label":"a"}]}"#),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>").json(r#"{"pinned":true}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>").json(r#"{"pinned":true}"#),
            ),
        rows("captures.delete")
            .success(204, call("/capture/<new-capture>"))
            .success(204, call("/capture/<new-capture.waiting>"))
            .refusal(404, "not_found", call("/capture/<missing>")),
        rows("captures.overview")
            .success(
                200,
                call("/capture/<capture>/overview?channel=LA1&points=10"),
            )
            .success(
                200,
                call("/capture/<capture>/overview?channel=1&from=10&to=20"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/overview?channel=LA1"),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/overview?channel=LA1"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/overview?channel=LA99"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/overview?channel=LA1&to=1001"),
            ),
        rows("captures.link")
            .success(
                200,
                call("/capture/<capture>/link").json(r#"{"format":"vcd"}"#),
            )
            .success(
                200,
                call("/capture/<capture>/link")
                    .json(r#"{"format":"csv","channels":"LA2,1","from":10,"to":20,"ttl_seconds":60}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/link").json(r#"{"format":"vcd","ttl_seconds":59}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/link").json(r#"{"format":"csv","channels":"LA99"}"#),
            )
            .refusal(
                400,
                "not_capable",
                call("/capture/<capture>/link").json(r#"{"format":"parquet"}"#),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture>/link").json(r#"{"format":"wav"}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/link").json(r#"{"format":"vcd"}"#),
            ),
        rows("captures.linked")
            .success(
                200,
                call("/capture/<capture>/file/<capture>.vcd?link=<capture.link>"),
            )
            .refusal(
                403,
                "link_refused",
                call("/capture/<capture>/file/<capture>.csv?link=<capture.link>"),
            )
            .refusal(
                403,
                "link_refused",
                call("/capture/<missing>/file/<missing>.vcd?link=<capture.link>"),
            )
            .refusal(
                403,
                "link_refused",
                call("/capture/<capture>/file/other.vcd?link=<capture.link>"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/file/<capture>.vcd"),
            ),
        rows("captures.export")
            .success(200, call("/capture/<capture>/export?format=vcd"))
            .success(200, call("/capture/<capture>/export?format=csv"))
            .success(
                200,
                call("/capture/<capture>/export?format=csv&channels=LA2,1&from=10&to=20"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/export?format=csv&channels=LA99"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/export?format=csv&from=20&to=20"),
            )
            .refusal(
                400,
                "not_capable",
                call("/capture/<capture>/export?format=parquet"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture>/export?format=wav"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/export?format=vcd"),
            )
            .refusal(
                404,
                "not_found",
                call("/capture/<missing>/export?format=vcd"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/export?format=zip"),
            ),
        rows("captures.import")
            .success(
                201,
                call("/captures/import?name=clock").bytes("application/octet-stream", RECORDING),
            )
            .success(
                201,
                call("/captures/import?rate=1e6&channels=a").bytes(
                    "application/octet-stream",
                    b"$timescale 1 us $end $var wire 1 ! a $end $enddefinitions $end #0 0! #5 1! #9",
                ),
            )
            .refusal(
                404,
                "not_found",
                call("/captures/import?device_id=<missing>")
                    .bytes("application/octet-stream", RECORDING),
            )
            .refusal(
                400,
                "invalid_request",
                call("/captures/import").bytes("application/octet-stream", b"PK"),
            ),
        rows("captures.decoders")
            .success(200, call("/decoders"))
            .refusal(400, "invalid_request", call("/decoders?protocol=i2c")),
        rows("captures.decode")
            .success(
                200,
                call("/capture/<capture>/decode?protocol=i2c&scl=LA1&sda=LA2"),
            )
            .success(
                200,
                call("/capture/<capture>/decode?protocol=i2c&scl=LA1&sda=LA2&format=csv"),
            )
            .success(
                200,
                call("/capture/<capture>/decode?protocol=i2c&scl=1&sda=2&from=10&to=500&limit=2&glitch=100"),
            )
            .success(
                200,
                call("/capture/<capture>/decode?protocol=i2c&scl=1&sda=2&summary=10"),
            )
            .success(
                200,
                call("/capture/<capture.analog>/decode?protocol=uart&rx=ADC&baudrate=9600&threshold=1.5&hysteresis=0.2"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/decode?protocol=uart&rx=ADC&threshold=1.5"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/decode?protocol=i2c&scl=1&sda=2&to=1001"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/decode?protocol=i2c&scl=LA1&sda=LA1"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/capture/<capture.waiting>/decode?protocol=i2c&scl=LA1&sda=LA2"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/capture/<capture>/decode?protocol=morse"),
            ),
        rows("captures.live")
            .success(101, call("/ws/capture?device_id=<digital>"))
            .success(101, call("/ws/capture?device_id=<digital>&format=binary"))
            .success(
                101,
                call("/ws/capture?device_id=<digital>&protocol=uart&rx=LA3&baudrate=9600&frames=none"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/ws/capture?device_id=<digital>&protocol=morse"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/ws/capture?device_id=<digital>&from_seq=1"),
            )
            .refusal(404, "not_found", call("/ws/capture?device_id=<missing>"))
            .refusal(
                403,
                "foreign_origin",
                call("/ws/capture?device_id=<digital>")
                    .header("origin", "http://elsewhere.example"),
            ),
    ]
}
