"""Cut clips out of audio and video files in a sandboxed child process."""
