"""The screen on which a session asks: a local page, a widget for notebooks, and the terminal.

`things` says what is shown of a row, `desk` what can be done, `server` and `widget` carry that to `page.js`.
"""
