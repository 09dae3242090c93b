"""Client of Gridline servers: grids and charts from scripts and notebooks."""

from ._client import Client, GridlineError, connect, default_client
from ._grids import GridlineWarning, append, read, upload

__all__ = ["Client", "GridlineError", "GridlineWarning", "append", "connect", "default_client", "read", "upload"]
__version__ = "0.1.0"
