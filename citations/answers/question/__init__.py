"""What a question asks for. Pure: models are passed in as functions."""
