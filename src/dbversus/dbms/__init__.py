"""The DBMSs that dbversus knows, and what tells one from another; nothing else asks \"which DBMS is this?\"."""
