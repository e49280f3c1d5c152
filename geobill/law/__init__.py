"""The tariff law: dated figures, policy for its silences, and pure functions that say what a statute asks for."""
