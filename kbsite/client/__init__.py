"""The methods of a library for programs, and those of a server's over REST."""
