"""From a question to an answer whose every quote was checked against its source."""
