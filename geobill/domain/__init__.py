"""What the words mean: frozen records, money and its one rounding, months and dates. Imports nothing but errors."""
