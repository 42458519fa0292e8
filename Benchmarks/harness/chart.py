"""Bar charts as SVG, without a library: horizontal bars, each with its label before it and its figures behind it, so that
nothing can overlap; colours for a light and a dark page."""

from dataclasses import dataclass
from xml.sax.saxutils import escape

FONT = 13
CHARACTER = 7.4  # of the widest usual font at that size; texts are only ever narrower
ROW, BAR = 26, 16
MARGIN = 16

STYLE = """
  .page { fill: #ffffff } .title { fill: #1f2328; font-weight: 600 } .text { fill: #1f2328 } .soft { fill: #59636e }
  .ours { fill: #0969da } .floor { fill: #8c959f } .peer { fill: #d4a72c } .range { stroke: #1f2328 } .axis { stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .title { fill: #f0f6fc } .text { fill: #f0f6fc } .soft { fill: #9198a1 }
    .ours { fill: #4493f8 } .floor { fill: #656c76 } .peer { fill: #bb8009 } .range { stroke: #f0f6fc } .axis { stroke: #3d444d }
  }
"""


@dataclass
class Bar:
    label: str
    value: float
    text: str  # shown behind the bar
    kind: str = "peer"  # ours, floor or peer: its colour
    low: float | None = None
    high: float | None = None


def bar_chart(title, subtitle, bars, width=860):
    """The chart as SVG text; bars in the given order, all from 0."""
    label_width = max(len(bar.label) for bar in bars) * CHARACTER
    text_width = max(len(bar.text) for bar in bars) * CHARACTER
    left = MARGIN + label_width + 10
    plot = max(80, width - left - text_width - 10 - MARGIN)
    width = left + plot + 10 + text_width + MARGIN
    longest = max(max(bar.value, bar.high or 0) for bar in bars)
    subtitles = wrap(subtitle, int((width - 2 * MARGIN) / (CHARACTER * 0.92)))
    top = MARGIN + 24 + 17 * len(subtitles) + 8
    height = top + ROW * len(bars) + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(title, {chr(34): "&quot;"})}" '
        f'font-family="-apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="{FONT}">',
        f"<style>{STYLE}</style>", '<rect class="page" width="100%" height="100%" rx="6"/>',
        f'<text class="title" x="{MARGIN}" y="{MARGIN + 13}" font-size="15">{escape(title)}</text>']
    lines += [
        f'<text class="soft" x="{MARGIN}" y="{MARGIN + 33 + 17 * number}" font-size="12">{escape(line)}</text>'
        for number, line in enumerate(subtitles)]
    lines.append(f'<line class="axis" x1="{left:.1f}" x2="{left:.1f}" y1="{top}" y2="{height - MARGIN}"/>')
    for number, bar in enumerate(bars):
        y = top + ROW * number
        end = left + plot * bar.value / longest
        edge = end
        lines.append(
            f'<text class="text" x="{left - 10:.1f}" y="{y + 17}" text-anchor="end">{escape(bar.label)}</text>')
        lines.append(
            f'<rect class="{bar.kind}" x="{left:.1f}" y="{y + 5}" width="{max(1, end - left):.1f}" height="{BAR}" rx="2"/>')
        if bar.low is not None and bar.high is not None:
            edge = max(end, left + plot * bar.high / longest)
            middle = y + 5 + BAR / 2
            lines.append(
                f'<line class="range" x1="{left + plot * bar.low / longest:.1f}" x2="{edge:.1f}" y1="{middle}" '
                f'y2="{middle}" stroke-width="1.2"/>')
        lines.append(f'<text class="text" x="{edge + 8:.1f}" y="{y + 17}">{escape(bar.text)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def wrap(text, limit):
    """Lines of at most `limit` characters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > limit:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
