"""The workspace's database: the cadastre that changes, and the ledger whose rows are only ever added."""
