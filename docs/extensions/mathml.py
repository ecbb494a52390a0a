"""Formulas as MathML, which browsers draw themselves: no script, no font and no network is needed to read them."""

from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import SphinxError


def visit_inline(translator, node):
    translator.body.append(_convert(node.astext(), as_block=False))
    _skip()


def visit_block(translator, node):
    translator.body.append(f'<div class="math-block"{_identifier(node)}>')
    translator.body.append(_convert(node.astext(), as_block=True))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({node["number"]})</span>')
    translator.body.append("</div>\n")
    _skip()


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _convert(tex, *, as_block):
    try:
        return tex2mathml(tex, as_block=as_block)
    except Exception as error:
        raise SphinxError(f"This formula cannot be drawn ({error}): {tex}") from error


def _identifier(node):
    return f' id="{node["ids"][0]}"' if node["ids"] else ""


def _skip():
    from docutils import nodes

    raise nodes.SkipNode
