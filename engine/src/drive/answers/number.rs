//! Numbers as servers write them, told apart by value alone.

/// A decimal number: ± 0.digits × 10^`point`, without zeros at either end of the digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    point: i64,
}

/// Of an integer that has so many digits and ends in six zeros, these are dropped: microseconds of a moment in whole
/// seconds, from 1973 on, are the same as its seconds. SQLite has integers for both.
const DIGITS_OF_MICROSECONDS: std::ops::RangeInclusive<i64> = 15..=18;

impl Decimal {
    /// `-1.50`, `1e+20`; none where a number would not be written so, as in `007`.
    pub fn read(text: &[u8]) -> Option<Self> {
        let (is_negative, rest) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&rest[..at], read_exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.iter().position(|&byte| byte == b'.') {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &b""[..]),
        };
        let is_plain = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
        let has_sign_of_text = whole.len() > 1 && whole[0] == b'0';
        let has_empty_part = whole.is_empty() || (fraction.is_empty() && whole.len() < mantissa.len());
        if has_sign_of_text || has_empty_part || !is_plain(whole) || !is_plain(fraction) {
            return None;
        }
        let digits = [whole, fraction].concat();
        Some(Self::new(is_negative, &digits, whole.len() as i64 + exponent))
    }

    pub fn of_integer(value: i128) -> Self {
        let digits = value.unsigned_abs().to_string().into_bytes();
        Self::new(value < 0, &digits, digits.len() as i64)
    }

    fn new(is_negative: bool, digits: &[u8], point: i64) -> Self {
        let Some(first) = digits.iter().position(|&digit| digit != b'0') else {
            return Self {
                is_negative: false,
                digits: Vec::new(),
                point: 0,
            };
        };
        let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(first);
        let digits = digits[first..=last].to_vec();
        let mut point = point - first as i64;
        if DIGITS_OF_MICROSECONDS.contains(&point) && point - digits.len() as i64 >= 6 {
            point -= 6;
        }
        Self {
            is_negative,
            digits,
            point,
        }
    }

    pub fn as_float(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }
}

impl std::fmt::Display for Decimal {
    /// `-.15e1`
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        let digits = String::from_utf8_lossy(&self.digits);
        let digits = if digits.is_empty() { "0" } else { &digits };
        write!(out, "{sign}.{digits}e{}", self.point)
    }
}

fn read_exponent(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Decimal::read(text.as_bytes()).map(|number| number.to_string())
    }

    #[test]
    fn the_same_number_is_the_same_however_it_is_written() {
        for same in [
            &["1", "1.0", "1.000", "1e0", "10e-1", "0.1e1"][..],
            &["0", "-0", "0.00", "-0.0"],
            &["-12.5", "-12.50", "-1.25e1", "-1.25E+01"],
            &["100000000000000000000", "1e20", "1e+20", "1.0e+20"],
            &["0.00001", "1e-05", "1e-5"],
            &["1709247906", "1709247906000000"],
        ] {
            let first = read(same[0]);
            assert!(first.is_some());
            assert!(same.iter().all(|text| read(text) == first), "{same:?}");
        }
        let different = ["1", "-1", "10", "0.1", "1.01", "1709247906000001", "1000000", "0"].map(read);
        for (index, one) in different.iter().enumerate() {
            assert!(!different[index + 1..].contains(one), "{one:?}");
        }
    }

    #[test]
    fn what_is_not_written_as_a_number_is_none() {
        for text in [
            "", "-", ".", "1.", ".5", "007", "00", "+1", "1e", "1e1.5", "0x1", "1 2", "NaN", "1-2", "--1", "1e5e5",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn numbers_have_their_values() {
        for (text, value) in [
            ("-12.50", -12.5),
            ("0", 0.0),
            ("1e-7", 1e-7),
            ("1709247906", 1_709_247_906.0),
        ] {
            assert_eq!(Decimal::read(text.as_bytes()).unwrap().as_float(), value);
        }
    }
}
