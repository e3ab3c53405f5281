//! Small pieces of text: numbers in statements, names in error messages.

/// Names for an error message: `a, b` or `none`.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// Appends a decimal number without allocating.
#[inline]
pub fn write_integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(digits(value, &mut [0; MOST_DIGITS]));
}

/// Puts a decimal number where one of as many digits was; false when it is longer or shorter.
#[inline]
pub fn put_integer(value: i64, out: &mut [u8]) -> bool {
    let mut buffer = [0; MOST_DIGITS];
    let digits = digits(value, &mut buffer);
    let fits = digits.len() == out.len();
    if fits {
        out.copy_from_slice(digits);
    }
    fits
}

/// Of an integer, with its sign.
const MOST_DIGITS: usize = 20;

#[inline]
fn digits(value: i64, buffer: &mut [u8; MOST_DIGITS]) -> &[u8] {
    let mut at = buffer.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    &buffer[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_rust_writes_them() {
        for value in [0, 7, -1, 10, 1_234_567_890, i64::MIN, i64::MAX] {
            let mut out = Vec::new();
            write_integer(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
