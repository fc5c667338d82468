"""Speech becomes windows: two or three whole sentences, the last of which begins the next window. Pure."""
