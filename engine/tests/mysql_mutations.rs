//! The mysql wire against conversations that are broken at random. `DBVERSUS_FUZZ_CORPUS` names a directory to write the sound
//! conversations to, for the fuzz target in `fuzz/`.

#[path = "support/broken.rs"]
mod broken;
#[path = "support/mysql_conversation.rs"]
mod mysql_conversation;
#[path = "support/mysql_script.rs"]
mod mysql_script;

use broken::hold_broken;
use mysql_conversation::hold;
use mysql_script::{DATETIME, LONG, OK, Script, VAR_STRING};

/// The answer to an INSERT of so many.
const TWO_ROWS: &[u8] = &[0, 2, 0, 2, 0, 0, 0];

/// All that `hold` asks for, answered.
fn conversation(deprecate_eof: bool, method: &str, login: impl FnOnce(&mut Script)) -> Vec<u8> {
    let mut script = Script::new(deprecate_eof, method);
    login(&mut script);
    script.text("THREAD_OS_ID", "4711");
    script.answer().packet(&[0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0]);
    let columns = [("a", LONG), ("b", VAR_STRING), ("c", DATETIME)];
    script.definitions(&columns);
    script.ok();
    let row: &[u8] = b"\0\0\x05\0\0\0\x02ab\x07\xe8\x07\x02\x1d\x17\x05\x06";
    // The second and the third column are NULL.
    let with_nulls: &[u8] = b"\0\x18\x07\0\0\0";
    for _ in 0..2 {
        script.answer().result(&columns, &[row, with_nulls], 2);
    }
    script.answer().result(&columns, &[b"\x015\xfb\x02xy"], 2);
    script.ok();
    const MORE: u8 = 8;
    script.answer().result(&[("a", LONG)], &[b"\x011"], 2 | MORE);
    script.result(&[("b", LONG)], &[b"\x012"], 2);
    script.answer().packet(&[0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    script.definitions(&[("?", LONG), ("?", LONG)]);
    script.ok();
    script.answer().packet(TWO_ROWS);
    script.ok();
    script.bytes
}

fn log_in_natively(script: &mut Script) {
    script.packet(OK);
}

fn switch_and_tell_all(script: &mut Script) {
    script.packet(b"\xfecaching_sha2_password\0uvwxyzuvwxyzuvwxyzuv\0");
    script.sequence += 1;
    script.packet(&[1, 4]);
    script.sequence += 1;
    script.packet(OK);
}

fn conversations() -> [Vec<u8>; 3] {
    [
        conversation(true, "mysql_native_password", log_in_natively),
        conversation(false, "mysql_native_password", log_in_natively),
        conversation(true, "mysql_native_password", switch_and_tell_all),
    ]
}

#[test]
fn sound_conversations_go_well_to_their_end() {
    for (number, bytes) in conversations().into_iter().enumerate() {
        if let Some(corpus) = std::env::var_os("DBVERSUS_FUZZ_CORPUS") {
            std::fs::write(std::path::Path::new(&corpus).join(format!("sound-{number}")), &bytes).unwrap();
        }
        let heard = hold(bytes).unwrap();
        assert_eq!(heard.backend, Some(4711));
        assert_eq!((heard.tally.statements, heard.tally.rows), (5, 5));
        let binary = ["5", "ab", "2024-02-29 23:05:06", "7", "-", "-"];
        assert_eq!(heard.values, [&binary[..], &["5", "-", "xy"]].concat());
        assert_eq!(heard.columns, ["b"]);
    }
}

#[test]
fn rows_that_the_server_did_not_take_are_told() {
    let [mut bytes, ..] = conversations();
    let answer = bytes.windows(TWO_ROWS.len()).rposition(|part| part == TWO_ROWS);
    bytes[answer.unwrap() + 1] = 1;
    let error = hold(bytes).unwrap_err();
    assert_eq!(error.message, "table \"t\": the server took 1 of 2 rows");
}

#[test]
fn broken_conversations_end_with_an_error_or_go_on() {
    hold_broken(&conversations(), hold);
}
