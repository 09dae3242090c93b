"""Settings: the environment variables and profiles of the command line."""

import json
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

LOCAL_PROFILE = "local"


def config_folder(environment):
    """Returns the folder of config.json, as the command line does."""
    home = environment.get("GRIDLINE_HOME")
    if home:
        return Path(home)
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "gridline"
    return Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "gridline"


def origin_of(url):
    """Returns scheme, host and port of a URL."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port


def _read_profile(environment):
    """Returns the name of the active profile, and the profile."""
    try:
        config = json.loads((config_folder(environment) / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        config = {}
    profiles = config.get("profiles") or {}
    name = environment.get("GRIDLINE_PROFILE") or config.get("profile") or "default"
    return name, profiles.get(name) or {}


def _read_keychain(name, profile):
    """Returns the API key that the command line stored in the keychain; None without it."""
    try:
        import keyring
    except ImportError:
        return None
    origin = profile.get("key_origin") or "{}://{}".format(*urlsplit(profile.get("url", ""))[:2])
    try:
        return keyring.get_password("gridline", f"{name} {origin}")
    except Exception:  # A locked keychain: any error of the backend.
        return None


def read_settings(environment=None):
    """Returns url, user, api_key and ca_file; None for each that is not set.

    A key of a profile is used only for the server that it was made for.
    """
    environment = os.environ if environment is None else environment
    name, profile = _read_profile(environment)
    url = environment.get("GRIDLINE_URL") or profile.get("url")
    key_url = profile.get("key_origin") or profile.get("url")
    is_other = bool(url and key_url and origin_of(url) != origin_of(key_url))
    own = {} if is_other else profile
    user = environment.get("GRIDLINE_USER")
    key = environment.get("GRIDLINE_API_KEY")
    if not user and not key:
        user = own.get("user")
        key = own.get("api_key") or (own.get("keychain") and _read_keychain(name, profile)) or None
    elif user and not key and user == own.get("user"):
        key = own.get("api_key") or (own.get("keychain") and _read_keychain(name, profile)) or None
    return {
        "url": url,
        "user": user,
        "api_key": key,
        "ca_file": environment.get("GRIDLINE_CA_FILE") or own.get("ca_file"),
    }
