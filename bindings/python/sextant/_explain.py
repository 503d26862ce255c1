# SPDX-License-Identifier: BSD-3-Clause
"""Explanations: what was chosen, what else was considered, at what predicted cost, and why not."""

from __future__ import annotations

import json

from ._library import get_text, lib


class Explanation:
    """Why the library chose as it did.

    ``str(e)`` is the text that the command prints.

    Attributes
    ----------
    data : dict
        All of it: "title", "problem", "notes", "plan" and "candidates".
    rows : list of dict
        The candidates, one a row: role, kernel, format, launch, predicted_setup_s and predicted_run_s (seconds), rel_error,
        measured_run_s, memory_bytes, chosen, and the reason.
    """

    def __init__(self, text: str, data: dict):
        self._text = text
        self.data = data

    @property
    def rows(self) -> list[dict]:
        """The candidates, one a row."""
        return self.data.get("candidates", [])

    def to_pandas(self):
        """The rows as a ``pandas.DataFrame``; needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows)

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<sextant.Explanation: {self.data.get('title', '')}, {len(self.rows)} candidates>"


def explanation(call, function, *arguments) -> Explanation:
    """What one of the library's explain functions says, as text and as data; `call` is that of its context."""
    form = [get_text(call, function, *arguments, kind) for kind in (lib.SXT_TEXT, lib.SXT_JSON)]
    return Explanation(form[0], json.loads(form[1]))
