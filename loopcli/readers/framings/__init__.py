"""How bytes are divided into documents, one framing a file."""
