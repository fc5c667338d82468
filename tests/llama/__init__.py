"""A real model server, llama.cpp's, for the journey that talks to it."""
