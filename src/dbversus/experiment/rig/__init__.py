"""What runs on this host: set up, loaded, started, driven, mended and taken down again."""
