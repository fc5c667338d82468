"""Who somebody is: sign-in at an OIDC provider, and second factors, over django-allauth."""
