//! Texts with places for random digits and letters.

use super::stream::Stream;

/// A text with places for random digits and letters.
#[derive(Debug, Clone)]
pub(super) struct Template {
    text: Vec<u8>,
    digits: Vec<usize>,
    letters: Vec<usize>,
}

impl Template {
    pub fn new(template: &str) -> Self {
        let places = |mark: u8| {
            (0..template.len())
                .filter(|&at| template.as_bytes()[at] == mark)
                .collect()
        };
        Self {
            text: template.as_bytes().to_vec(),
            digits: places(b'#'),
            letters: places(b'@'),
        }
    }

    pub fn literal(text: &str) -> Self {
        Self {
            text: text.as_bytes().to_vec(),
            digits: Vec::new(),
            letters: Vec::new(),
        }
    }

    #[inline]
    pub fn write(&self, stream: &mut Stream, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.text);
        let text = &mut out[start..];
        for places in self.digits.chunks(16) {
            for (&place, digit) in places.iter().zip(sixteen_digits(stream.bits())) {
                text[place] = digit;
            }
        }
        for places in self.letters.chunks(8) {
            let mut bits = stream.bits();
            for &place in places {
                // 26 letters out of the next 8 bits, rounded down; the low bits move up for the next letter.
                let wide = u128::from(bits) * 26;
                text[place] = b'a' + (wide >> 64) as u8;
                bits = wide as u64;
            }
        }
    }
}

/// Sixteen decimal digits as text from 64 random bits (bias below 10^16 / 2^64).
#[inline]
fn sixteen_digits(bits: u64) -> [u8; 16] {
    let number = ((u128::from(bits) * 10_000_000_000_000_000) >> 64) as u64;
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&eight_digits(number / 100_000_000));
    digits[8..].copy_from_slice(&eight_digits(number % 100_000_000));
    digits
}

/// The eight digits of a number below 10^8, all at once: the number is split in lanes of 4, 2 and 1 digits; the
/// multiplications divide every lane by 100 and by 10.
#[inline]
fn eight_digits(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - 10 * tens) << 8);
    (ones + 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::stream::Part;

    #[test]
    fn templates_keep_their_text_and_fill_their_places_evenly() {
        let template = Template::new("é##########-@@@@@@@@@@");
        let mut stream = Stream::new(3, 0, 0, Part::Slot);
        let mut counts = [0u32; 256];
        for _ in 0..10_000 {
            let mut text = Vec::new();
            template.write(&mut stream, &mut text);
            let text = String::from_utf8(text).unwrap();
            assert!(text.starts_with('é') && text.as_bytes()[12] == b'-', "{text}");
            text.bytes().for_each(|byte| counts[byte as usize] += 1);
        }
        assert!(
            (b'0'..=b'9').all(|digit| (9_500..10_500).contains(&counts[digit as usize])),
            "{counts:?}"
        );
        assert!(
            (b'a'..=b'z').all(|letter| (3_500..4_200).contains(&counts[letter as usize])),
            "{counts:?}"
        );
    }

    #[test]
    fn eight_digits_are_those_of_the_number() {
        for number in [0, 9, 10, 99, 100, 9_999, 10_000, 12_345_678, 99_999_999] {
            assert_eq!(eight_digits(number), *format!("{number:08}").as_bytes());
        }
    }
}
