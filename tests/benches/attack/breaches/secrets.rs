//! A secret in pieces and in all the ways in which tools write it, in everything that is kept of a job.

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::breach::{Breach, Ground, Length, Seen, get, ok};

/// With what each language escapes.
const VALUE: &str = "hunter2-correct-horse:battery/staple+=&\"x\\y";

/// Bytes of it that nothing may show.
const PIECE_BYTES: usize = 10;

/// Pages of a job.
const PAGES: [&str; 6] = ["", "/why", "/log", "/junit.xml", "/report", "/trace.json"];

/// Writes it by accident, as tools do.
const SCRIPT: &str = r#"echo "plain $T"
printf '%s' "$T" | head -c 11; sleep 0.2; printf '%s\n' "$T" | tail -c +12
printf '%s' "$T" | base64
printf 'user:%s' "$T" | base64 -w 20
printf '%s' "$T" | od -An -tx1
printf '%s' "$T" | od -An -tx1 | tr -d ' \n'; echo
echo "https://u:$T@h/" | grep --color=always battery
bash -c 'printf "%q\n" "$T"; declare -p T'
( set -x; true "$T" ) 2>&1
printf '%s\n' "$T" | sed 's,&,%26,g; s,=,%3D,g; s,+,%2B,g; s,:,%3A,g; s,",%22,g; s,\\,%5C,g'
printf '%s\n' "$T" | sed 's/\\/\\\\/g; s/"/\\"/g'
printf '%s\n' "$T" | sed 's/&/\&amp;/g; s/"/\&quot;/g'
mkdir r
printf '<testsuite><testcase name="n"><failure message="m">%s</failure></testcase></testsuite>' "$(printf '%s' "$T" | sed 's/&/\&amp;/g')" > r/a.xml"#;

/// A step that says its secret in every way.
pub(crate) struct Forms;

impl Breach for Forms {
    fn name(&self) -> &'static str {
        "job-secrets"
    }

    fn does(&self) -> &'static str {
        "a step writes its secret in pieces, colours, quotes, base 64, hexadecimal, URLs, JSON, HTML and JUnit"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let owner = &ground.honest;
        let body = json!({"value": VALUE}).to_string();
        let set = owner.send("PUT", "/api/secrets/BREACH", Some(&body))?;
        ok(set, 201)?;
        let mut text = "version: 1\nbuilds:\n  - id: fw\n    steps:\n      - run: |\n".to_owned();
        for line in SCRIPT.lines() {
            text += &format!("          {line}\n");
        }
        text += "        env: { T: { secret: BREACH } }\n        junit: r/*.xml\n";
        let id = ground.submit(owner, &text)?;
        ground.ended(owner, &id)?;
        let log = ground.log(owner, &id)?;
        let marks = log.matches("[secret]").count();
        seen.note(format!("{marks} marks in the log"));
        seen.expect(
            marks >= 13,
            format!("{marks} marks for 13 ways to write it:\n{log}"),
        );
        let hexadecimal: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
        let forms = [VALUE, &STANDARD.encode(VALUE), &hexadecimal].map(str::to_owned);
        for page in PAGES {
            let told = owner.get(&format!("/api/jobs/{id}{page}"))?.text;
            let plain = told.replace(['\n', ' '], "");
            for form in &forms {
                let pieces = form.as_bytes().windows(PIECE_BYTES);
                let pieces = pieces.filter_map(|piece| std::str::from_utf8(piece).ok());
                for piece in pieces.filter(|piece| plain.contains(piece)).take(1) {
                    seen.fault(format!("{page} shows {piece:?}"));
                }
            }
        }
        let listed = get(owner, "/api/secrets")?.to_string();
        seen.expect(!listed.contains(VALUE), "the list of secrets has it");
        let gone = owner.delete("/api/secrets/BREACH")?.status;
        seen.expect(gone == 204, format!("it is not removed: {gone}"));
        Ok(())
    }
}
