"""Speech in audio and video files: decoded in parts, and heard by Whisper."""
