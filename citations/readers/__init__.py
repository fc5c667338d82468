"""Readers turn what is stored of a source into Blocks: text with the second or page it stands on."""
