"""What is in the servers: tables and rows made, aged, refused, and found to be the same for all targets."""
