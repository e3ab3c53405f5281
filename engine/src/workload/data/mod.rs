//! The user's own data, staged as text: a line per row, a tab between columns, `\N` for NULL; in texts `\\`, `\t`, `\n` and
//! `\r` stand for a backslash, a tab and line ends. Times are days or microseconds since 1970-01-01 UTC, decimals integers
//! of their last digit, bytes hexadecimal.
//!
//! `field` makes values of what stands in a line, `rows` gives a table its rows, `column` holds what parameters are drawn from,
//! `stored` is what generators see of it.

mod column;
mod field;
mod rows;
mod stored;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

pub use rows::RowReader;
pub use stored::Stored;

const BUFFER_BYTES: usize = 256 << 10;

/// Relative names are looked for in the folder that this names.
const FOLDER: &str = "DBVERSUS_DATA";

fn open(name: &str) -> Result<BufReader<File>, String> {
    let path = path_of(name);
    match File::open(&path) {
        Ok(file) => Ok(BufReader::with_capacity(BUFFER_BYTES, file)),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

fn path_of(name: &str) -> PathBuf {
    match std::env::var_os(FOLDER) {
        Some(folder) => Path::new(&folder).join(name),
        None => PathBuf::from(name),
    }
}

#[cfg(test)]
pub use test::test_file;

#[cfg(test)]
mod test {
    use std::sync::atomic::{AtomicU32, Ordering};

    static FILES: AtomicU32 = AtomicU32::new(0);

    /// A file that is gone with this.
    pub struct TestFile(String);

    impl TestFile {
        pub fn name(&self) -> &str {
            &self.0
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    pub fn test_file(text: &str) -> TestFile {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dbversus-data-{}-{number}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        TestFile(path.to_str().unwrap().to_owned())
    }
}
