"""The addresses of the pages of webhooks."""

from django.urls import path

from kbsite.webhooks import views

urlpatterns = [
    path("webhooks/", views.webhooks, name="webhooks"),
    path("webhooks/create/", views.create, name="webhook-create"),
    path("webhooks/<uuid:webhook_id>/", views.webhook, name="webhook"),
    path("webhooks/<uuid:webhook_id>/switch/", views.switch, name="webhook-switch"),
    path("webhooks/<uuid:webhook_id>/secret/", views.rotate, name="webhook-secret"),
    path("webhooks/<uuid:webhook_id>/test/", views.test, name="webhook-test"),
    path("webhooks/<uuid:webhook_id>/delete/", views.delete, name="webhook-delete"),
]
