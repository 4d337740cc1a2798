"""The encoder that a configuration names: of this machine, or behind an endpoint."""

from __future__ import annotations

from actors.local_models.checkpoints import check_checkpoint, checkpoint_content, checkpoint_path
from actors.local_models.encoder import Encoder, TextEncoder
from actors.retrieval.endpoint_encoder import KIND, EndpointEncoder
from actors.serving.endpoint import token_of
from longform.settings.endpoints import EncoderSettings


def check_encoder(settings: EncoderSettings, *, with_keys: bool = True) -> None:
    """
    Find the model without reading its weights, or the token of its endpoint, which is not asked.

    Raises:
        UsageError: It is not there; the message says what to do.
    """
    if settings.endpoint is None:
        check_checkpoint(settings.model)
    elif with_keys:
        token_of(KIND, settings.endpoint)


def open_encoder(settings: EncoderSettings, *, threads: int = 1) -> TextEncoder:
    """
    Return the encoder.

    Raises:
        UsageError: The model cannot be loaded, the variable with the token is unset, or the cluster has no such
            application.
    """
    if settings.endpoint is None:
        return Encoder(checkpoint_path(settings.model), threads=threads)
    return EndpointEncoder(settings.endpoint)


def encoder_version(settings: EncoderSettings) -> str:
    """Return what changes with the vectors: the content of a model here, the place and name of one behind a URL."""
    if settings.endpoint is None:
        return checkpoint_content(settings.model)
    return f"{settings.url} {settings.model}"
