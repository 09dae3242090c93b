"""Texts of values and of DataFrames, in JSON and CSV: missing values are null, numbers keep their digits."""

import json
import math
import re
import warnings


def dump_json(value):
    """Returns the JSON of a value, with arrays, series and times of numpy and pandas; numbers that JSON lacks are null."""
    try:
        return json.dumps(value, default=_to_plain, allow_nan=False)
    except ValueError:
        return json.dumps(_without_nan(value), default=_to_plain, allow_nan=False)


def _to_plain(value):
    """Converts a value that JSON lacks."""
    if getattr(getattr(value, "dtype", None), "kind", "") in "Mm" and type(value).__module__ == "numpy":
        # As numbers, times would be in units of their own.
        texts = value.astype(str).tolist()
        return _without_nat(texts)
    # Missing values of pandas.
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    for name in ("tolist", "isoformat", "to_plotly_json"):
        if hasattr(value, name):
            return getattr(value, name)()
    return str(value)


def _without_nat(texts):
    if isinstance(texts, list):
        return [_without_nat(text) for text in texts]
    return None if texts in ("NaT", "") else texts


def _without_nan(value):
    """Returns a copy of a value with None for NaN and infinite numbers, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return value if isinstance(value, (str, int, type(None))) else _without_nan(_to_plain(value))


def dump_frame(frame, types=None, known=None):
    """Returns the rows of a DataFrame as lines of JSON, one object each.

    ``types``: types of columns by name; texts that can be read as such values are. ``known``: names of the columns that
    an index without a name can belong to. Default: any.
    """
    columns = _list_columns(frame, known)
    cells = []
    for name, values in columns:
        start = json.dumps(name) + ":"
        convert = _CONVERSIONS.get((types or {}).get(name), str)
        cells.append([start + convert(text) for text in _dump_column(name, values)])
    return "\n".join("{" + ",".join(row) + "}" for row in zip(*cells))


def dump_csv(frame):
    """Returns a DataFrame as CSV with a header, and the types of its columns by name. ``\\N`` is a missing value."""
    lines, types = [], {}
    columns = [(name, values, _dump_column(name, values)) for name, values in _list_columns(frame)]
    for name, values, texts in columns:
        if '"\\\\N"' in texts:
            raise ValueError(f"column {name}: the text \\N is a missing value where types of dates are given")
        kind = values.dtype.kind
        types[name] = "number" if kind in "iuf" else "boolean" if kind == "b" else "datetime" if kind == "M" else "text"
    lines.append(",".join(_quote_cell(name) for name, _, _ in columns))
    lines.extend(",".join(row) for row in zip(*([_to_cell(text) for text in texts] for _, _, texts in columns)))
    return "\n".join(lines) + "\n", types


def _quote_cell(text):
    return '"' + text.replace('"', '""') + '"'


def _to_cell(text):
    """Returns a JSON value as a cell of CSV."""
    if text == "null":
        return "\\N"
    return _quote_cell(json.loads(text) if text.startswith('"') else text)


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BOOLEANS = {"true": "true", "false": "false", "1": "true", "0": "false", "": "null"}


def _to_text(item):
    """Returns a JSON value as a text; null stays null."""
    return item if item.startswith('"') or item == "null" else json.dumps(item)


def _to_number(item):
    """Returns a text as a number, if it is one."""
    text = json.loads(item).strip() if item.startswith('"') else item
    return "null" if text == "" else text if _NUMBER.fullmatch(text) else item


def _to_boolean(item):
    """Returns a text or a number as a boolean, if it is one."""
    text = json.loads(item).strip().lower() if item.startswith('"') else item
    return _BOOLEANS.get(text, item)


def _to_date(item):
    return "null" if item == '""' else item


# How values are written for a column of a type, by its name.
_CONVERSIONS = {
    "text": _to_text,
    "number": _to_number,
    "boolean": _to_boolean,
    "date": _to_date,
    "datetime": _to_date,
}


def _list_columns(frame, known=None):
    """Returns the names and values of the columns of a DataFrame. An index that only counts the rows is no column.

    ``known``: as in ``dump_frame``.
    """
    index, columns = frame.index, []
    is_named = any(name is not None for name in index.names)
    has_labels = len(frame) > 0 and (index.nlevels > 1 or index.dtype.kind not in "iu")
    for level in range(index.nlevels if is_named or has_labels else 0):
        name = index.names[level]
        missing = f"level_{level}" if index.nlevels > 1 else "index"
        if is_named or known is None or missing in known:
            values = index.get_level_values(level).to_series()
            columns.append((missing if name is None else _name_of(name), values))
    for position, name in enumerate(frame.columns):
        columns.append((_name_of(name), frame.iloc[:, position]))
    names = _unique_names([name for name, _ in columns])
    return [(name, values) for name, (_, values) in zip(names, columns)]


def _name_of(name):
    """Returns the name of a column as text. The levels of a name are joined by spaces."""
    parts = name if isinstance(name, tuple) else (name,)
    return " ".join(text for text in (str(part) for part in parts) if text)


def _unique_names(names):
    """Numbers names that are there before: ``a``, ``a (2)``."""
    unique = {}
    for name in names:
        number, free = 1, name
        while free in unique:
            number += 1
            free = f"{name} ({number})"
        unique[free] = True
    return list(unique)


def _dump_column(name, values):
    """Returns the JSON of the values of a column. Warns about infinite numbers."""
    missing = values.isna().tolist()
    kind = values.dtype.kind
    if kind in "Mm":
        # Days without times stay days.
        items = [json.dumps(text) for text in values.astype(str)]
    elif kind == "f" and values.dtype.itemsize < 8:
        items = [_dump_number(float(text)) for text in values.astype(str)]
    elif kind in "iuf":
        items = [_dump_number(value) for value in values.tolist()]
    else:
        items = [_dump_cell(value) for value in values.astype(object)]
    if any(item == "null" and not is_missing for item, is_missing in zip(items, missing)):
        warnings.warn(f"column {name}: infinite numbers became missing values", stacklevel=4)
    return ["null" if is_missing else item for item, is_missing in zip(items, missing)]


def _dump_number(value):
    return repr(value) if not isinstance(value, float) or math.isfinite(value) else "null"


def _dump_cell(value):
    if isinstance(value, str):
        return json.dumps(value)
    if type(value).__name__ == "Decimal":
        return str(value) if value.is_finite() else "null"
    return dump_json(value)


__all__ = ["dump_csv", "dump_frame", "dump_json"]
