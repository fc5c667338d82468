"""Who was invited to a collection and has not come yet."""

from django import template
from django.contrib.auth.models import User

from kbsite.accounts import users
from transcripts.models import Collection

register = template.Library()


@register.simple_tag
def guests(collection: Collection, of: User) -> dict[int, User]:
    """Return the invited members of a collection whom this user may invite again."""
    return users.guests(collection, of=of)
