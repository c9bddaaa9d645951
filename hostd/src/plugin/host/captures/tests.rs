//! What a plugin may ask for.

use super::*;

fn order() -> DecodeOrder {
    DecodeOrder {
        decoder: "i2c".to_owned(),
        channels: vec![("scl".to_owned(), "LA1".to_owned())],
        options: vec![("address_format".to_owned(), "shifted".to_owned())],
        classes: vec!["addr-data".to_owned()],
        skip: 0,
        limit: 1,
        extra: Vec::new(),
    }
}

#[test]
fn each_text_of_an_order_has_a_limit() {
    type Place = fn(&mut DecodeOrder) -> &mut String;
    let places: [Place; 6] = [
        |order| &mut order.decoder,
        |order| &mut order.channels[0].0,
        |order| &mut order.channels[0].1,
        |order| &mut order.options[0].0,
        |order| &mut order.options[0].1,
        |order| &mut order.classes[0],
    ];
    for (at, place) in places.into_iter().enumerate() {
        let mut order = order();
        *place(&mut order) = "x".repeat(TEXT_BYTES_MAX);
        assert!(check(&order).is_ok(), "{at}");
        place(&mut order).push('x');
        let refused = check(&order).unwrap_err();
        assert_eq!(refused.code, "invalid", "{at}");
        assert!(refused.message.contains("at most 1024 bytes"), "{at}");
    }
    let mut long = order();
    long.classes = vec!["start".to_owned(); ORDER_MAX + 1];
    assert!(check(&long).is_err());
}
