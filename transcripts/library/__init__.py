"""What there is: collections, channels, recordings and how they are read and exported."""
