"""Records to documents: words, maps, templates, and the PDF and CSV bytes that are filed and sent."""
