"""Audio, video and images of recordings."""
