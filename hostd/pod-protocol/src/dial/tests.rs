//! Messages survive the way there and back, and their bounds hold.

use bytes::BytesMut;
use serde_json::json;

use super::{
    FROM_POD_BYTES_MAX, FromPod, MessageError, SERVER_DATA_BYTES, TO_POD_BYTES_MAX, ToPod, data,
    decode, frame,
};
use crate::REQUEST_LINE_BYTES_MAX;
use crate::commands::Tier;

#[test]
fn what_a_pod_says_is_read() {
    fn read(text: &str) -> FromPod<'_> {
        FromPod::read(text).unwrap()
    }
    assert_eq!(
        read(r#"{"type":"tunnel.data","tunnel_id":"t1","data_b64":"YWI"}"#),
        FromPod::Data {
            tunnel_id: "t1".into(),
            data: "YWI".into()
        }
    );
    let response = |answer| FromPod::Response {
        request_id: "7".into(),
        answer,
    };
    assert_eq!(
        read(
            r#"{"type":"command.response","request_id":"7","device_id":"d","status":"ok","data":"pong"}"#
        ),
        response(Ok(json!("pong")))
    );
    assert_eq!(
        read(r#"{"type":"command.response","request_id":"7","status":"ok"}"#),
        response(Ok(json!(null)))
    );
    assert_eq!(
        read(r#"{"type":"command.response","request_id":"7","status":"error","error":"no"}"#),
        response(Err("no".to_owned()))
    );
    for fault in ["true", "1"] {
        let text = format!(
            r#"{{"type":"efuse.event","device_id":"d","efuse":2,"enabled":0,"fault":{fault}}}"#
        );
        let wanted = FromPod::Efuse {
            efuse: 2,
            enabled: false,
            fault: true,
        };
        assert_eq!(read(&text), wanted);
    }
    assert_eq!(read(r#"{"type":"pong"}"#), FromPod::Pong);
    assert_eq!(
        read(r#"{"type":"ota.status","state":"idle"}"#),
        FromPod::Other
    );
    let FromPod::Capabilities(fields) =
        read(r#"{"type":"capabilities","board":"b","lease_state":true}"#)
    else {
        panic!("it says what it can");
    };
    assert_eq!(fields["lease_state"], true);
}

#[test]
fn what_a_server_says_is_read() {
    for message in [
        ToPod::Request {
            request_id: "1".into(),
            command: json!({"cmd": "ping"}).as_object().cloned().unwrap(),
        },
        ToPod::Open {
            tunnel_id: "t1".into(),
            tier: Tier::Instrument,
        },
        ToPod::Close {
            tunnel_id: "t1".into(),
        },
        ToPod::Lease { held: None },
        ToPod::Lease {
            held: Some(("job".to_owned(), 60)),
        },
        ToPod::Ping,
    ] {
        assert_eq!(ToPod::read(&message.write()).unwrap(), message);
    }
    // As firmware of any age is asked.
    let open = ToPod::read(r#"{"type":"tunnel.open","tunnel_id":"t"}"#).unwrap();
    assert!(matches!(
        open,
        ToPod::Open {
            tier: Tier::Firmware,
            ..
        }
    ));
}

#[test]
fn frames_that_are_no_messages_are_refused() {
    for text in [
        "",
        "[]",
        "1",
        "{}",
        r#"{"type":1}"#,
        r#"{"type":"command.response"}"#,
        r#"{"type":"command.response","request_id":"7","status":"odd"}"#,
        r#"{"type":"efuse.event"}"#,
        r#"{"type":"tunnel.data","tunnel_id":{}}"#,
        r#"{"type":"pong""#,
    ] {
        let read = FromPod::read(text);
        assert!(matches!(read, Err(MessageError::Malformed(_))), "{text}");
    }
    let long = format!(
        r#"{{"type":"tunnel.data","tunnel_id":"{}"}}"#,
        "t".repeat(64)
    );
    assert!(matches!(FromPod::read(&long), Err(MessageError::Id)));
    let long = " ".repeat(FROM_POD_BYTES_MAX + 1);
    assert!(matches!(
        FromPod::read(&long),
        Err(MessageError::TooLong { .. })
    ));
    let long = " ".repeat(TO_POD_BYTES_MAX + 1);
    assert!(matches!(
        ToPod::read(&long),
        Err(MessageError::TooLong { .. })
    ));
}

#[test]
fn everything_a_server_sends_fits_a_pod() {
    let id = "t18446744073709551615";
    assert!(frame(id, &[0xFF; SERVER_DATA_BYTES]).len() <= TO_POD_BYTES_MAX);
    let mut command = json!({"cmd": ""});
    let envelope = command.to_string().len();
    command["cmd"] = "x".repeat(REQUEST_LINE_BYTES_MAX - envelope).into();
    let request = ToPod::Request {
        request_id: id.into(),
        command: command.as_object().cloned().unwrap(),
    };
    assert!(request.write().len() <= TO_POD_BYTES_MAX);
}

#[test]
fn data_goes_there_and_back() {
    let mut all = BytesMut::from(&b"before"[..]);
    for length in 0..10_u8 {
        let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(77)).collect();
        let text = frame("t1", &bytes);
        let Ok(FromPod::Data { data, .. }) = FromPod::read(&text) else {
            panic!("{text}");
        };
        // Nothing is copied on the way.
        assert!(matches!(data, std::borrow::Cow::Borrowed(_)));
        assert_eq!(data::len(&data), bytes.len());
        all.truncate(6);
        assert_eq!(decode(&data, &mut all), Some(bytes.len()));
        assert_eq!(&all[6..], bytes);
    }
    for wrong in ["a", "a=", "a b0", "äöü"] {
        assert_eq!(decode(wrong, &mut all), None, "{wrong}");
    }
    assert_eq!(all.len(), 15);
}
