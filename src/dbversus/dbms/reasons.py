"""Why dbversus keeps some settings for itself."""

PRIVATE = "every server gets a place of its own"
SOCKET_ONLY = "servers listen on a private Unix socket only"
LOG = "dbversus reads the server's log from its standard error"
ONE_FOLDER = "all data of a target is in one folder, so that it can be kept and restored"
INSTALLATION = "it belongs to the build"
ENGINE = "tables of myrocks are in RocksDB"
