"""Charts, with the functions of the module for Chart Studio: ``import gridline.plotly as py``."""

import html
import json
import os
import webbrowser
from urllib.parse import quote

from ._client import GridlineError, default_client
from ._dump import dump_json

SHARINGS = ("private", "secret", "public")


def _encode_figure(figure):
    """Returns the JSON of a figure: of plotly, a dict, or a list of traces."""
    if hasattr(figure, "to_json"):
        return figure.to_json()
    if isinstance(figure, (list, tuple)):
        figure = {"data": list(figure)}
    return dump_json(figure)


class Chart:
    """A saved chart. In a notebook, it is shown live."""

    def __init__(self, meta, url, embed_url, height):
        self.meta = meta
        self.fid = meta["fid"]
        self.url = url
        self._embed_url = embed_url
        self._height = height

    def _repr_html_(self):
        return (
            f'<iframe src="{html.escape(self._embed_url)}" title="{html.escape(self.meta["filename"])}" '
            f'width="100%" height="{int(self._height)}" style="border: 0" loading="lazy" '
            'sandbox="allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"></iframe>'
        )

    def __repr__(self):
        return f"<Chart {self.fid} {self.url}>"


def _save(figure, filename, sharing, folder, client, height):
    if sharing not in SHARINGS:
        raise ValueError(f"sharing must be one of {', '.join(SHARINGS)}")
    client = client or default_client()
    fields = {"raw_data": "grid", "world_readable": sharing == "public"}
    if filename is not None:
        path, _, fields["filename"] = filename.rpartition("/")
        parent = "/".join(part for part in (folder, path) if part)
        fields["on_conflict"] = "replace"
    else:
        parent = folder
    if parent:
        fields["parent_path"] = parent
    rest = json.dumps(fields)
    # The JSON of the figure is sent as it is, so that its numbers stay exact.
    body = f'{{"figure":{_encode_figure(figure)},{rest[1:]}'.encode()
    meta = client.call("POST", "/v2/plots", body=body, headers={"Content-Type": "application/json"})["file"]
    path = f"/v2/files/{quote(meta['fid'], safe=':')}"
    # A chart that is replaced keeps its access; sharing can also take it away.
    wanted = {"world_readable": sharing == "public", "share_key_enabled": sharing == "secret"}
    changes = {name: value for name, value in wanted.items() if bool(meta.get(name)) != value}
    if changes:
        meta = {**meta, **client.call("PATCH", path, body=changes)}
    key = f"?share_key={quote(meta['share_key'])}" if sharing == "secret" else ""
    return Chart(meta, meta["web_url"] + key, meta["embed_url"] + key, height)


def plot(figure, filename=None, sharing="private", folder=None, auto_open=False, client=None):
    """Saves a chart and returns its link. A chart of the same name is replaced, and keeps its link."""
    chart = _save(figure, filename, sharing, folder, client, 525)
    if auto_open:
        webbrowser.open(chart.url)
    return chart.url


def iplot(figure, filename=None, sharing="secret", folder=None, height=525, client=None):
    """Saves a chart, and shows it live in a notebook. Private charts need a login, which frames do not have."""
    return _save(figure, filename, sharing, folder, client, height)


def image(figure, path, width=None, height=None, scale=None, client=None):
    """Saves an image of a figure, or of the saved chart of a name. The extension sets the format."""
    client = client or default_client()
    extension = os.path.splitext(os.fspath(path))[1][1:].lower()
    options = {"format": {"jpg": "jpeg"}.get(extension, extension), "width": width, "height": height, "scale": scale}
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(figure, str):
        fid = client.find(figure, "plots")["fid"]
        data = client.request("GET", f"/v2/files/{quote(fid, safe=':')}/image", query=given)
    else:
        body = f'{{"figure":{_encode_figure(figure)},{json.dumps(given)[1:]}'.encode()
        data = client.request("POST", "/v2/images", body=body, headers={"Content-Type": "application/json"})
    with open(path, "wb") as file:
        file.write(data)


__all__ = ["Chart", "GridlineError", "image", "iplot", "plot"]
