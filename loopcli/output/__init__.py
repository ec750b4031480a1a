"""What people and machines are shown: messages, reports, tables, charts."""
