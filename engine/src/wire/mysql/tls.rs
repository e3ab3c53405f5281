//! TLS as MySQL's own clients have it by default: encrypted, and the server's certificate is not checked, as the ones
//! that servers make for themselves cannot be.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

use super::stream::Stream;
use crate::wire::WireResult;
use crate::wire::socket::{Socket, lost_with};

pub struct TlsStream(StreamOwned<ClientConnection, Socket>);

impl TlsStream {
    /// Shakes hands over a connected socket.
    pub fn start(socket: Socket) -> WireResult<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            lost_with(format!(
                "the TLS handshake failed: {error}; `tls` in the address may be \"off\""
            ))
        };
        let client = client().map_err(|error| failed(&error))?;
        let mut stream = StreamOwned::new(client, socket);
        while stream.conn.is_handshaking() {
            stream
                .conn
                .complete_io(&mut stream.sock)
                .map_err(|error| failed(&error))?;
        }
        Ok(Self(stream))
    }
}

fn client() -> Result<ClientConnection, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    // MySQL's servers have no use for names, and those of containers are often not valid ones.
    config.enable_sni = false;
    let name = ServerName::try_from("localhost").expect("it is a valid name");
    ClientConnection::new(Arc::new(config), name)
}

#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    // Checking the signature would want to read the certificate; those of MySQL 5.7 are of a version that is refused.
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl Read for TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for TlsStream {
    /// Nothing waits for a flush.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.0.flush()?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Stream for TlsStream {
    fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.0.sock.set_read_timeout(timeout);
    }

    fn shut(&self) {
        self.0.sock.shut();
    }
}
