#!/usr/bin/env python
"""Django's own command line; people use `kb`."""

import os
import sys

from django.core.management import execute_from_command_line

from kbsite import boot

WITHOUT_DATABASE = {"help", "--help", "--version", "collectstatic"}

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbsite.settings.django")
    if not WITHOUT_DATABASE & set(sys.argv[1:2]):
        boot.join_database()
    execute_from_command_line(sys.argv)
