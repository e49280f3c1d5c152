"""A priced month to numbered invoices: due days, yearly and deposit amounts, records and their digests."""
