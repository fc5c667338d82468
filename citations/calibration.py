"""How near is near enough: the distance from which on a lecture cites nothing, found on the library itself."""
