"""What every page does with a request, and streams of events."""
