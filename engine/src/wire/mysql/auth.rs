//! How passwords are proven: the two methods that servers from 5.5 to 9.x and MariaDB use by default.

use rsa::pkcs8::DecodePublicKey;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Native,
    CachingSha2,
}

impl Method {
    pub const ACCEPTED: &'static str = "mysql_native_password and caching_sha2_password";

    pub fn of_name(name: &[u8]) -> Option<Self> {
        [Self::Native, Self::CachingSha2]
            .into_iter()
            .find(|method| method.name().as_bytes() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
        }
    }

    /// The first thing to send, in answer to the server's challenge.
    pub fn response(self, password: &[u8], challenge: &[u8]) -> Vec<u8> {
        match self {
            Self::Native if password.is_empty() => Vec::new(),
            // As its own client does; old versions know no empty packet.
            Self::CachingSha2 if password.is_empty() => vec![0],
            Self::Native => {
                let hash = Sha1::digest(password);
                xor(&hash, &digest_of_both::<Sha1>(challenge, &Sha1::digest(hash)))
            }
            Self::CachingSha2 => {
                let hash = Sha256::digest(password);
                let twice = Sha256::digest(hash);
                xor(&hash, &digest_of_both::<Sha256>(&twice, challenge))
            }
        }
    }
}

fn digest_of_both<D: Digest>(first: &[u8], second: &[u8]) -> Vec<u8> {
    D::new().chain_update(first).chain_update(second).finalize().to_vec()
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

/// The password as only the owner of the key, in PEM, can read it. Errors are sentences.
pub fn encrypt(password: &[u8], challenge: &[u8], key: &[u8]) -> Result<Vec<u8>, String> {
    let refused = |error: &dyn std::fmt::Display| format!("the server's public key cannot be used: {error}");
    let pem = std::str::from_utf8(key).map_err(|error| refused(&error))?;
    let key = RsaPublicKey::from_public_key_pem(pem.trim()).map_err(|error| refused(&error))?;
    let mut plain = password.to_vec();
    plain.push(0);
    let masked: Vec<u8> = plain
        .iter()
        .zip(challenge.iter().cycle())
        .map(|(plain, mask)| plain ^ mask)
        .collect();
    key.encrypt(&mut rsa::rand_core::OsRng, Oaep::new::<Sha1>(), &masked)
        .map_err(|error| refused(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        (0..text.len()).step_by(2).map(digits).collect()
    }

    #[test]
    fn responses_are_those_of_other_clients() {
        let challenge = hex("4e523348503a714959615f393d64623f53647b60");
        assert_eq!(
            Method::Native.response(b"G!ider27", &challenge),
            hex("09cff8855e9e705340ff2270d8fb9fadba906b70")
        );
        let challenge = hex("0a2f4a6f4b492230584c724a250d035052021715");
        assert_eq!(
            Method::CachingSha2.response(b"secret", &challenge),
            hex("f490e76f66d9d86665ce54d98c78d0acfe2fb0b08b423da807144873d30b312c")
        );
        assert_eq!(
            Method::CachingSha2.response(b"secret2", &challenge),
            hex("abc3934a012cf342e876071c8ee202de51785b430258a7a0138bc79c4d800bc6")
        );
    }

    #[test]
    fn an_empty_password_is_no_secret() {
        assert_eq!(Method::Native.response(b"", b"01234567890123456789"), b"");
        assert_eq!(Method::CachingSha2.response(b"", b"01234567890123456789"), b"\0");
    }

    #[test]
    fn methods_have_names() {
        for method in [Method::Native, Method::CachingSha2] {
            assert_eq!(Method::of_name(method.name().as_bytes()), Some(method));
            assert!(Method::ACCEPTED.contains(method.name()));
        }
        assert_eq!(Method::of_name(b"sha256_password"), None);
    }

    #[test]
    fn a_key_that_is_none_is_refused() {
        for key in [
            &b""[..],
            b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
            b"\xff",
        ] {
            let error = encrypt(b"p", b"01234567890123456789", key).unwrap_err();
            assert!(error.contains("public key cannot be used"), "{error}");
        }
    }
}
