"""The browser extension: it takes the captions of the video that somebody watches."""
