"""Names the extra that brings a package which is not installed."""

from __future__ import annotations

EXTRAS = {
    "ray": ("ray", "fastapi", "starlette"),
    "chat": ("litellm", "openai", "aiohttp", "certifi", "tiktoken"),
    "s3": ("boto3", "botocore"),
    "models": ("torch", "sentence_transformers", "transformers", "sklearn"),
    "serve": ("prometheus_client", "httpx"),
    "files": ("pypdf", "docx"),
}
"""Extra -> the packages, by the names of their modules, that it brings and the default does without."""


def missing_words(error: ModuleNotFoundError) -> str | None:
    """Return the words for a package that no default installation has; None for a module that none of them brings."""
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f"expected the package {package}, found none; install it with: pip install 'longform[{extra}]'"
    return None
