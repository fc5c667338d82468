"""Made speech with known words, and the Whisper model that hears it."""
