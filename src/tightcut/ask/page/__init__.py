"""The screen on which a session asks: a local page, a widget for notebooks, and the terminal.

`things` describes what is shown of a row, `desk` has the actions, `server` and `widget` connect them to `page.js`.
"""
