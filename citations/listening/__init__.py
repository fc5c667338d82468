"""Recordings -> captions: who recognises speech, and the work on one recording."""
