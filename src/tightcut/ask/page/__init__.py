"""The screen on which a session asks: a local page, a widget for notebooks, and the terminal.

`items` describes what is shown of a row, `read_items` reads it from files, `controller` has the actions, `windows` knows which
window asks what, `serializers` turns what a session knows into what is drawn, `server` and `widget` connect the actions to
`page.js`.
"""
