"""From config files and inline settings to the settings of a server on this host."""
