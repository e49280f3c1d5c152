"""One revision per schema version. A file here never changes once a geobill with it was handed out."""
