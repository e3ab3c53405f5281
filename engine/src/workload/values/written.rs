//! Values as text, without allocation beyond that of the buffer.

use std::io::Write;

use super::Moment;

/// The shortest text that is this number, with an exponent: `1.25e0` is a floating point number in every dialect, where
/// `1.25` is a decimal one in some.
pub fn write_float(value: f64, out: &mut Vec<u8>) {
    let _ = write!(out, "{value:e}");
}

/// The shortest text that is this number, as people write it.
pub fn write_plain_float(value: f64, out: &mut Vec<u8>) {
    let magnitude = value.abs();
    let _ = if value == 0.0 || (1e-5..1e15).contains(&magnitude) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
}

/// `-12.30`
pub fn write_decimal(units: i64, scale: u8, out: &mut Vec<u8>) {
    let unit = 10u64.pow(scale.into());
    let (whole, rest) = (units.unsigned_abs() / unit, units.unsigned_abs() % unit);
    if units < 0 {
        out.push(b'-');
    }
    let _ = write!(out, "{whole}");
    if scale > 0 {
        let _ = write!(out, ".{rest:0width$}", width = usize::from(scale));
    }
}

/// `2024-02-29`, from days since 1970-01-01.
pub fn write_date(days: i32, out: &mut Vec<u8>) {
    write_day(Moment::of_days(days.into()), out);
}

/// `2024-02-29 23:05:06`, and `.123456` where it is `fine`.
pub fn write_timestamp(us: i64, fine: bool, out: &mut Vec<u8>) {
    let moment = Moment::of_us(us);
    write_day(moment, out);
    for (mark, part) in [(b' ', moment.hour), (b':', moment.minute), (b':', moment.second)] {
        out.push(mark);
        write_digits(part.into(), 2, out);
    }
    if fine {
        out.push(b'.');
        write_digits(moment.us.into(), 6, out);
    }
}

/// Two lower-case digits for each byte.
pub fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

fn write_day(moment: Moment, out: &mut Vec<u8>) {
    let _ = write!(out, "{:04}", moment.year);
    for part in [moment.month, moment.day] {
        out.push(b'-');
        write_digits(part.into(), 2, out);
    }
}

/// The last `width` digits of a number; `write!` took a tenth of a client's CPU time where rows have a time in them.
fn write_digits(value: u64, width: u32, out: &mut Vec<u8>) {
    for place in (0..width).rev() {
        let digit = value / 10u64.pow(place) % 10;
        out.push(b'0' + u8::try_from(digit).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_servers_read_them() {
        assert_eq!(text(|out| write_float(-0.1, out)), "-1e-1");
        assert_eq!(text(|out| write_float(1250.0, out)), "1.25e3");
        assert_eq!(text(|out| write_decimal(-5, 2, out)), "-0.05");
        assert_eq!(text(|out| write_decimal(1230, 2, out)), "12.30");
        assert_eq!(text(|out| write_decimal(7, 0, out)), "7");
        assert_eq!(text(|out| write_date(19_782, out)), "2024-02-29");
        let us = 1_709_247_906_123_456;
        assert_eq!(text(|out| write_timestamp(us, true, out)), "2024-02-29 23:05:06.123456");
        assert_eq!(text(|out| write_timestamp(us, false, out)), "2024-02-29 23:05:06");
        assert_eq!(text(|out| write_hex(b"\x00\xafZ", out)), "00af5a");
    }
}
