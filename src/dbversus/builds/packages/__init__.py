"""What is inside a package or an installation: unpacked, looked at, arranged so that it runs here."""
