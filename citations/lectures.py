"""The write and read side of live lectures: sessions, their segments and windows."""
