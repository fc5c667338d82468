"""From live speech to citations."""
