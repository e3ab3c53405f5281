//! Counter files of the kernel: opened once, read again from their start, parsed without allocation.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Enough for every file read here but `/proc/stat`.
const LONGEST_BYTES: usize = 2048;

/// One such file.
#[derive(Debug)]
pub struct Gauge {
    file: File,
}

impl Gauge {
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
        })
    }

    /// The file's present content, parsed. Fails with ESRCH where the file was that of a process that is gone.
    pub fn read<T>(&self, parse: impl FnOnce(&[u8]) -> Option<T>) -> io::Result<T> {
        let mut buffer = [0; LONGEST_BYTES];
        let length = self.file.read_at(&mut buffer, 0)?;
        parse(&buffer[..length]).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// The same of a file of up to `longest` bytes.
    pub fn read_long<T>(&self, longest: usize, parse: impl FnOnce(&[u8]) -> Option<T>) -> io::Result<T> {
        let mut buffer = vec![0; longest];
        let length = self.file.read_at(&mut buffer, 0)?;
        parse(&buffer[..length]).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// The number that is the file's first or only word.
    pub fn read_number(&self) -> io::Result<u64> {
        self.read(|content| number(words(content).next()?))
    }
}

/// None where a file is that of a process that is gone, or cannot be read by us. What tells nothing of the process, a lack of
/// descriptors or memory, stays an error: who takes it for the same loses sight of a process that works on.
pub fn if_there<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM)) => Err(error),
        outcome => Ok(outcome.ok()),
    }
}

/// Words between blanks and line ends.
pub fn words(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
}

/// A decimal number, without sign.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |sum, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| sum.wrapping_mul(10).wrapping_add(digit.into()))
    })
}

/// The value of `key` in lines such as `key: 12`, `key 12` or `key=12`.
pub fn value_of(content: &[u8], key: &str) -> Option<u64> {
    let separator = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b':' | b'=');
    let mut words = content.split(separator).filter(|word| !word.is_empty());
    words.find(|word| *word == key.as_bytes())?;
    number(words.next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_key_in_every_notation() {
        assert_eq!(value_of(b"usage_usec 12\nuser_usec 7\n", "user_usec"), Some(7));
        assert_eq!(value_of(b"rchar: 1\nread_bytes: 4096\n", "read_bytes"), Some(4096));
        assert_eq!(
            value_of(b"some avg10=0.00 avg60=0.10 total=345\nfull total=1\n", "total"),
            Some(345)
        );
        assert_eq!(value_of(b"rchar: 1\n", "wchar"), None);
    }

    #[test]
    fn only_digits_are_numbers() {
        assert_eq!(number(b"120"), Some(120));
        assert_eq!((number(b""), number(b"-1"), number(b"1a")), (None, None, None));
    }

    #[test]
    fn what_is_not_there_is_told_from_what_cannot_be_looked_at() {
        let looked_at = |errno| if_there::<()>(Err(io::Error::from_raw_os_error(errno)));
        for gone in [libc::ENOENT, libc::ESRCH, libc::EACCES] {
            assert_eq!(looked_at(gone).unwrap(), None);
        }
        for lack in [libc::EMFILE, libc::ENFILE, libc::ENOMEM] {
            assert_eq!(looked_at(lack).unwrap_err().raw_os_error(), Some(lack));
        }
    }
}
