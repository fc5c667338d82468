"""Who somebody is: sign-in, passwords, invitations, users, the caller of a request."""
