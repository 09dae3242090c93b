"""Grids: reading and uploading."""

import json
import os
import warnings
from urllib.parse import quote

from ._client import GridlineError, default_client
from ._dump import dump_csv, dump_frame, dump_json


def read(name, columns=None, where=None, sort=None, limit=None, version=None, client=None):
    """Reads the rows of a grid: a DataFrame if pandas is there, else a list of dicts.

    ``name``: path or id. ``where``, ``sort``: as for ``gridline cat``: ``temp > 20``, ``-date,city``.
    """
    client = client or default_client()
    grid = client.find(name, "grids")
    query = {
        "format": "json",
        "columns": columns,
        "where": where,
        "sort": sort,
        "head": limit,
        "version": version,
    }
    content = client.call("GET", f"/v2/grids/{quote(grid['fid'], safe=':')}/content", query=query)
    cols = sorted(content["cols"].items(), key=lambda item: item[1]["order"])
    if columns:
        cols = [(column, content["cols"][column]) for column in columns]
    # Columns of charts can differ in length.
    rows = max((len(data["data"]) for _, data in cols), default=0)
    values = {column: data["data"] + [None] * (rows - len(data["data"])) for column, data in cols}
    types = {column["name"]: column["type"] for column in grid["cols"]}
    try:
        import pandas
    except ImportError:
        names = list(values)
        return [dict(zip(names, row)) for row in zip(*values.values())]
    frame = pandas.DataFrame(values)
    for column in frame.columns:
        if types.get(column) in ("date", "datetime"):
            try:
                frame[column] = pandas.to_datetime(frame[column])
            except (ValueError, TypeError):
                pass  # Days that pandas cannot represent stay texts.
    return frame


def _encode(data, name, types=None, known=None):
    """Returns the bytes of rows, a file name with the extension of their format, and the types of columns to send.

    ``types``, ``known``: as in ``dump_frame``.
    """
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        with open(path, "rb") as file:
            return file.read(), name + os.path.splitext(path)[1], types
    if hasattr(data, "to_csv"):
        frame = data.to_frame() if hasattr(data, "to_frame") else data
        # Dates of other forms are read by the server, from CSV. Lines of JSON have no names without rows.
        has_dates = known is None and any(one.startswith("date") for one in (types or {}).values())
        if len(frame) > 0 and not has_dates:
            return dump_frame(frame, types, known).encode("utf-8"), f"{name}.ndjson", None
        text, own = dump_csv(frame)
        return text.encode("utf-8"), f"{name}.csv", {**own, **(types or {})} if len(frame) > 0 else types
    return "\n".join(dump_json(row) for row in data).encode("utf-8"), f"{name}.ndjson", types


# Content types of rows that are appended, by extension.
APPENDED_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
}

# Extensions of files whose rows cannot be appended.
OTHER_FORMATS = {".json", ".geojson", ".xlsx", ".ods", ".parquet", ".arrow", ".feather", ".zip", ".tar", ".gz"}

# How the CSV of a DataFrame is written: nothing is guessed.
CSV_OPTIONS = {"Header": "true", "Delimiter": "comma", "Quote": "%22", "Escape": "none", "Comment": "none"}


class GridlineWarning(UserWarning):
    """An assumption that the server has made to read a file."""


def _header_text(text):
    """Returns a text as the value of a header: its UTF-8 bytes as Latin-1."""
    return text.encode("utf-8").decode("latin-1")


def _headers(file_name, types=None, **fields):
    headers = {"Content-Type": "application/octet-stream", "X-File-Name": _header_text(file_name)}
    for name, value in fields.items():
        if value is not None:
            headers["Gridline-" + name.replace("_", "-")] = str(value)
    if types:
        headers["Gridline-Columns"] = quote(json.dumps(types))
    return headers


def upload(data, name, key=None, on_conflict="replace", public=False, folder=None, types=None, client=None):
    """Creates or replaces a grid. Returns its metadata.

    ``data``: a DataFrame, rows as dicts, or the path of a file. ``name``: with folders before it, if any.
    ``key``: column or columns that identify a row. ``on_conflict``: fail, rename, replace or append.
    Warns with ``GridlineWarning`` about assumptions that the server has made to read the data.
    """
    client = client or default_client()
    path, _, last = name.rpartition("/")
    parent = "/".join(part for part in (folder, path) if part)
    body, file_name, sent_types = _encode(data, last, types)
    keys = [key] if isinstance(key, str) else key
    headers = _headers(
        file_name,
        sent_types,
        Key=",".join(quote(one) for one in keys) if keys else None,
        On_Conflict=on_conflict,
        World_Readable="true" if public else None,
        Parent_Path=_header_text(parent) if parent else None,
        **(CSV_OPTIONS if hasattr(data, "to_csv") and file_name.endswith(".csv") else {}),
    )
    answer = client.call("POST", "/v2/grids/upload", body=body, headers=headers)
    for warning in answer.get("warnings") or ():
        text = warning if isinstance(warning, str) else warning.get("message", str(warning))
        warnings.warn(f"{name}: {text}", GridlineWarning, stacklevel=2)
    return answer["file"]


def append(data, name, client=None):
    """Appends rows to a grid; if it has a key, rows with a known key are updated. Returns the counts."""
    client = client or default_client()
    grid = client.find(name, "grids")
    types = {column["name"]: column["type"] for column in grid["cols"]}
    body, file_name, _ = _encode(data, "rows", types, set(types))
    extension = os.path.splitext(file_name)[1].lower()
    if extension in OTHER_FORMATS:
        raise GridlineError(
            0,
            "usage",
            f"cannot append {os.fspath(data)}: only CSV, TSV and lines of JSON are appended",
            'Add the rows of other files with upload(..., on_conflict="append")',
        )
    headers = {"Content-Type": APPENDED_TYPES.get(extension, "text/csv")}
    if hasattr(data, "to_csv") and extension == ".csv":
        headers.update({f"Gridline-{option}": value for option, value in CSV_OPTIONS.items()})
    path = f"/v2/grids/{quote(grid['fid'], safe=':')}/row"
    return client.call("POST", path, body=body, headers=headers)
