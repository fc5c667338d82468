"""The levels of detail as they are stored: built for a source when it is indexed, and read again."""
