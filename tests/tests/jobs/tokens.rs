//! Session tokens that a job's programs mint from its key: nothing that the job leaves has one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tests::can_isolate;

use super::Jobs;
use crate::secrets::with_text;

/// Exchanges the job's key for a token as published clients do, and says it in every way that it knows. Backwards is one
/// that nobody blots out, by which the test knows the token.
const TELLTALE: &str = r#"
version: 1
benches:
  - id: bench
    device: { name: demo }
    steps:
      - run: |
          cat > mint.bash << 'END'
          exec 3<> /dev/tcp/127.0.0.1/8099
          printf '%s /api%s HTTP/1.1\r\nhost: bench\r\nauthorization: %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n' "$@" >&3
          cat <&3
          END
          bash mint.bash POST /auth/token "ApiKey $BENCHPOD_API_KEY" > answer
          cat answer
          token=$(sed -n 's/.*"token":"\([^"]*\)".*/\1/p' answer)
          bash mint.bash POST /auth/token "ApiKey $BENCHPOD_API_KEY" | grep -q "\"$token\""
          bash mint.bash GET /benchpod/devices "Bearer $token" | grep '"demo"'
          printf 'backwards '; printf '%s\n' "$token" | rev
          printf 'plain %s\n' "$token"
          printf '%s' "$token" | base64
          printf 'user:%s!' "$token" | base64 -w0; echo
          printf '?token=%s\n' "$token" >&2
          printf '%s' "$token" | cut -c1-150 | tr -d '\n'; sleep 0.3; printf '%s\n' "$token" | cut -c151-
          echo "<testsuite name='s'><testcase name='n $token' classname='c'><failure message='m $token' type='t'>d $token</failure></testcase></testsuite>" > cases.xml
          echo over
        junit: '*.xml'
    always:
      - { run: 'printf "always %s\n" "$(sed -n "s/.*\"token\":\"\([^\"]*\)\".*/\1/p" answer)"' }
"#;

#[test]
fn nobody_sees_a_token_that_a_job_mints() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    let id = jobs.submit(TELLTALE);
    let job = jobs.ended(&id);
    assert_eq!(job["runs"][0]["code"], "tests", "{job}");
    let log = jobs.get(&id, "/log").text;
    let (_, backwards) = log.split_once("backwards ").expect(&log);
    let token: String = backwards.lines().next().unwrap().chars().rev().collect();
    assert!(
        token.starts_with("eyJ") && token.matches('.').count() == 2,
        "{log}"
    );
    for said in [
        "\"token\":\"[secret]\"",
        "\nplain [secret]\n",
        "?token=[secret]\n",
        "\n[secret]\nover\n",
        "\nalways [secret]\n",
    ] {
        assert!(log.contains(said), "{said:?} in {log}");
    }
    let encoded = STANDARD.encode(format!("user:{token}!"));
    let forms = [
        &token,
        &token[..token.len() / 2],
        &STANDARD.encode(&token)[..60],
        &encoded[8..68],
    ];
    let assert_hidden = |what: &str, text: &str| {
        for form in forms {
            assert!(!text.contains(form), "{what} has {form}: {text}");
        }
    };
    assert!(jobs.get(&id, "/junit.xml").text.contains("m [secret]"));
    for what in ["", "/why", "/log", "/junit.xml", "/report", "/trace.json"] {
        assert_hidden(what, &jobs.get(&id, what).text);
    }
    assert!(jobs.server.stop().unwrap());
    assert_hidden("the server's log", &jobs.server.log());
    for form in forms {
        assert_eq!(with_text(jobs.dir.path(), form), [] as [&str; 0]);
    }
}
