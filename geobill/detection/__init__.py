"""A survey held against what permits allow: stretches and equipment that nobody declared, and those that aren't there."""
