//! Giving up root's rights, for good: a SQLite library that somebody else has made, and its SQL, run in this process.

use std::io;

/// Takes on the rights of a user, written `UID:GID`, and no others. Call it before there is another thread.
pub fn become_user(user: &str) -> Result<(), String> {
    let (uid, gid) = parse(user).ok_or("accepted are the numbers of a user, who is not root, and of a group")?;
    // SAFETY: these calls take numbers alone; of no list of groups nothing is read.
    unsafe {
        done("setgroups", libc::setgroups(0, std::ptr::null()))?;
        done("setresgid", libc::setresgid(gid, gid, gid))?;
        done("setresuid", libc::setresuid(uid, uid, uid))?;
        // nor shall a program that it executes have more
        done("no_new_privs", libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        // a change of user closes /proc/self, where the counters of our threads are, to that user
        done("dumpable", libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0))
    }
}

fn done(what: &str, status: libc::c_int) -> Result<(), String> {
    match status {
        0 => Ok(()),
        _ => Err(format!("{what}: {}", io::Error::last_os_error())),
    }
}

fn parse(user: &str) -> Option<(libc::uid_t, libc::gid_t)> {
    let (uid, gid) = user.split_once(':')?;
    let number = |text: &str| text.parse().ok().filter(|&number: &u32| number != u32::MAX);
    Some((number(uid).filter(|&uid| uid != 0)?, number(gid)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_root_nor_names_are_taken() {
        assert_eq!(parse("65534:0"), Some((65534, 0)));
        for user in [
            "0:1",
            "1",
            "nobody:nogroup",
            "1:",
            "-1:1",
            "4294967295:1",
            "1:4294967295",
        ] {
            assert!(become_user(user).unwrap_err().contains("accepted are"), "{user}");
        }
    }
}
