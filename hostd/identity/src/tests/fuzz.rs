//! Untrusted bytes in every place of a credential: refused, never a panic, never accepted.

use super::*;

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap()
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() % end
    }

    /// `text` with a few characters replaced, removed, doubled or moved.
    fn mutate(&mut self, text: &str) -> String {
        const ODD: [char; 16] = [
            ' ',
            '_',
            '.',
            '=',
            ';',
            '\t',
            '\0',
            'é',
            '\u{10ffff}',
            '-',
            'A',
            '0',
            '"',
            '{',
            ',',
            '+',
        ];
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(chars.len().max(1));
            match self.below(5) {
                0 if at < chars.len() => chars[at] = ODD[self.below(ODD.len())],
                1 if at < chars.len() => {
                    chars.remove(at);
                }
                2 => chars.insert(at, ODD[self.below(ODD.len())]),
                3 => chars.truncate(at),
                _ => chars.extend_from_within(at.min(chars.len())..),
            }
        }
        chars.into_iter().collect()
    }
}

#[tokio::test]
async fn mutated_credentials_are_refused() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let made = key(&identity, &owner, &["bench:control"]).await.secret;
    let token = identity.mint_token(&owner, None, 3600).unwrap().token;
    let valid = [
        format!("ApiKey {}", made.expose()),
        format!("Bearer {}", token.expose()),
        format!("{COOKIE_NAME}={}", token.expose()),
        made.expose().to_owned(),
        token.expose().to_owned(),
    ];
    let mut random = Random(0x5eed_cafe);
    let mut refused = 0;
    for _ in 0..20_000 {
        let original = &valid[random.below(valid.len())];
        let text = random.mutate(original);
        let verified = match random.below(3) {
            0 => identity.authenticate(Some(&text), None, None),
            1 => identity.authenticate(None, Some(&text), None),
            _ => identity.authenticate(None, None, Some(&text)),
        };
        match verified {
            // Only spaces and what stands before or after a cookie may differ.
            Ok(_) => assert!(
                text.contains(made.expose())
                    || text.contains(token.expose())
                    || is_other_prefix(&text, &made),
                "let in: {text:?}"
            ),
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains(made.expose()));
            }
        }
    }
    assert!(refused > 15_000, "{refused}");
}

/// The prefix is not part of the proof.
fn is_other_prefix(text: &str, key: &Secret) -> bool {
    let tail = key.expose().split_once('_').unwrap().1;
    text.contains(tail)
}

#[tokio::test]
async fn signed_garbage_is_refused() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let token = identity.mint_token(&owner, None, 3600).unwrap().token;
    let claims = Claims::clone(&identity.signer.verify(token.expose()).unwrap());
    let text = serde_json::to_string(&claims).unwrap();
    let mut random = Random(0x5eed_f00d);
    let mut signed = 0;
    for _ in 0..2_000 {
        let mutated = random.mutate(&text);
        let Ok(value) = serde_json::from_str::<serde_json::Value>(&mutated) else {
            continue;
        };
        signed += 1;
        // Whatever is let in is the same caller.
        if let Ok(caller) = bearer(&identity, &identity.signer.sign_value(&value)) {
            assert_eq!(
                (caller.user(), caller.org()),
                (owner.user(), owner.org()),
                "{mutated}"
            );
        }
    }
    assert!(signed > 50, "{signed}");
}
