"""Grids: reading and uploading."""

import json
import os
from urllib.parse import quote

from ._client import default_client


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
    values = {column: data["data"] for column, data in cols}
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


def _encode(data, name):
    """Returns the bytes of rows, and a file name with the extension of their format."""
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        with open(path, "rb") as file:
            return file.read(), name + os.path.splitext(path)[1]
    if hasattr(data, "to_csv"):
        keeps_index = getattr(getattr(data, "index", None), "name", None) is not None
        return data.to_csv(index=keeps_index).encode("utf-8"), f"{name}.csv"
    rows = [json.dumps(row, default=str, allow_nan=False) for row in data]
    return "\n".join(rows).encode("utf-8"), f"{name}.ndjson"


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
    ``key``: column or columns that identify a row. ``on_conflict``: fail, rename or replace.
    """
    client = client or default_client()
    path, _, last = name.rpartition("/")
    parent = "/".join(part for part in (folder, path) if part)
    body, file_name = _encode(data, last)
    keys = [key] if isinstance(key, str) else key
    headers = _headers(
        file_name,
        types,
        Key=",".join(quote(one) for one in keys) if keys else None,
        On_Conflict=on_conflict,
        World_Readable="true" if public else None,
        Parent_Path=_header_text(parent) if parent else None,
    )
    return client.call("POST", "/v2/grids/upload", body=body, headers=headers)["file"]


def append(data, name, client=None):
    """Appends rows to a grid; if it has a key, rows with a known key are updated. Returns the counts."""
    client = client or default_client()
    grid = client.find(name, "grids")
    body, file_name = _encode(data, "rows")
    extension = os.path.splitext(file_name)[1]
    types = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".ndjson": "application/x-ndjson"}
    headers = {"Content-Type": types.get(extension, "text/csv")}
    path = f"/v2/grids/{quote(grid['fid'], safe=':')}/row"
    return client.call("POST", path, body=body, headers=headers)
