"""From files and transcripts to blocks of text with their page or second."""
