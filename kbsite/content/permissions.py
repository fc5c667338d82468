"""Permissions: viewers read, editors write content, owners also change the collection."""

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission

from transcripts.errors import Forbidden
from transcripts.models import Collection, Membership, Role


class EditorsWrite(BasePermission):
    """Members read, editors and owners write, read-only tokens never write."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return request.method in SAFE_METHODS or request.auth is None or request.auth.can_write

    def has_object_permission(self, request: Any, view: Any, obj: Any) -> bool:
        return request.method in SAFE_METHODS or obj.collection_id in request.access.writable


class OwnersWrite(EditorsWrite):
    """Members read, owners write."""

    def has_object_permission(self, request: Any, view: Any, obj: Any) -> bool:
        collection = obj.pk if isinstance(obj, Collection) else obj.collection_id
        return request.method in SAFE_METHODS or owns(request, collection)


def require_owner(request: Any, collection_id: int) -> None:
    """Raise Forbidden unless the caller may change the collection itself."""
    if not owns(request, collection_id):
        raise Forbidden("Only an owner of the collection may do this.")


def owns(request: Any, collection_id: int) -> bool:
    """Check that the caller may change the collection itself."""
    if collection_id not in request.access.writable:
        return False
    owned = Membership.objects.filter(user=request.user, collection=collection_id, role=Role.OWNER)
    return request.user.is_superuser or owned.exists()
