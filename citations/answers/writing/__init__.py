"""What an answer says: prompts, extracts, and the parsing of what a language model wrote. Pure."""
