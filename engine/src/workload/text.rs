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
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Puts a decimal number where one of as many digits was; false when it is longer or shorter.
#[inline]
pub fn put_integer(value: i64, out: &mut [u8]) -> bool {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value).as_bytes();
    let fits = digits.len() == out.len();
    if fits {
        out.copy_from_slice(digits);
    }
    fits
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
