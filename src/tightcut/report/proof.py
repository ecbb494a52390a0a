"""The proof of a report: a sentence about the lower bound, and bound and cut over time."""

from __future__ import annotations

from html import escape

import numpy as np

from tightcut.certificates import Certificate
from tightcut.report.html import section

WIDTH, HEIGHT, MARGIN = 480, 120, 24


def proof_section(certificate: Certificate | None) -> str:
    """The lower bound on all cuts, and its proof; empty without a certificate."""
    if certificate is None:
        return ""
    count = len(certificate.proofs)
    kind = f", in {count:,} cases that cover all clusterings" if count > 1 else ""
    about = (
        f'<p>{escape(str(certificate)).capitalize()}.</p><p class="about">The bound holds in this graph and for this number of '
        f"clusters, however they are found. It is proven{kind}; <code>tightcut verify</code> checks the proof.</p>"
    )
    return section("proof", "How good is this cut?", about + _picture(certificate))


def _picture(certificate: Certificate) -> str:
    """Bound and cut over time, as an SVG; empty for fewer than two measurements."""
    history = certificate.history
    if len(history) < 2:
        return ""
    seconds, bound, cut = history.T
    span, top = max(seconds[-1], 1e-9), float(cut.max()) * 1.05

    def steps(values: np.ndarray) -> str:
        x = MARGIN + (WIDTH - 2 * MARGIN) * seconds / span
        y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * np.clip(values / top, 0, 1)
        corners = np.column_stack([np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]])
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)

    base = HEIGHT - MARGIN
    said = f"Bound and cut over {seconds[-1]:.1f} seconds: the bound ends at {certificate.bound:.4g}."
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}" style="max-width:{WIDTH}px">'
        f'<line x1="{MARGIN}" y1="{base}" x2="{WIDTH - MARGIN}" y2="{base}" stroke="currentColor" stroke-opacity=".4"/>'
        f'<polyline points="{steps(cut)}" fill="none" stroke="currentColor" stroke-width="2"/>'
        f'<polyline points="{steps(bound)}" fill="none" stroke="currentColor" stroke-dasharray="5 3"/>'
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 8}" font-size="12" text-anchor="end" fill="currentColor">'
        f"{seconds[-1]:.1f} s</text></svg><figcaption>The cut (line) and the bound (dashes) while the proof was made, from 0. "
        "The last bound is proven, those before it are estimates.</figcaption></figure>"
    )
