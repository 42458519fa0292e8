"""DocC's RenderJSON as HTML: blocks, inline text and declarations. What it has no rule for is an error, so nothing is lost."""

import re
from html import escape


def slug(text):
    """The anchor that GitHub gives a heading, so that one link works in the source and on the site."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def code(text):
    """Code in a sentence. An option is not broken at its hyphens."""
    short = ' class="short"' if len(text) <= 24 else ""
    return f"<code{short}>{escape(text, quote=False)}</code>"


def heading(text):
    """A heading, whose backticks DocC leaves as they are."""
    return re.sub(r"`([^`]+)`", lambda found: code(found.group(1)), escape(text, quote=False))


def plain(node, references):
    """The words of blocks or inline text, for the search. `references` has the titles of links."""
    if isinstance(node, str):
        return node
    if isinstance(node, list):
        is_inline = any(isinstance(each, dict) and each.get("type") in ("text", "codeVoice") for each in node)
        return ("" if is_inline else " ").join(plain(each, references) for each in node)
    if node.get("type") == "codeListing":
        return "\n".join(node["code"])
    if node.get("type") == "reference":
        return node.get("overridingTitle") or references.get(node["identifier"], {}).get("title", "")
    parts = (node.get(key) for key in ("name", "text", "code", "inlineContent", "content", "items", "rows", "parameters"))
    return " ".join(plain(part, references) for part in parts if part)


class Content:
    """Writes the content of one page. `link` turns an identifier of DocC into an address and a text."""

    def __init__(self, link, anchors):
        self.link = link
        self.anchors = anchors  # the ids of this page's headings, by DocC's names

    def inline(self, nodes):
        return "".join(map(self.inline_node, nodes))

    def inline_node(self, node):
        kind = node["type"]
        if kind == "text":
            return escape(node["text"], quote=False)
        if kind == "codeVoice":
            return code(node["code"])
        if kind in ("strong", "emphasis", "strikethrough"):
            name = {"strong": "strong", "emphasis": "em", "strikethrough": "s"}[kind]
            return f"<{name}>{self.inline(node['inlineContent'])}</{name}>"
        if kind == "reference":
            address, title = self.link(node["identifier"])
            if "overridingTitleInlineContent" in node:
                title = self.inline(node["overridingTitleInlineContent"])
            return f'<a href="{escape(address)}">{title}</a>' if address else title
        raise ValueError(f"no rule for inline content of the type {kind}: add one to .ci/site/content.py")

    def blocks(self, nodes, level=0):
        """Headings move `level` steps down."""
        return "\n".join(self.block(node, level) for node in nodes)

    def block(self, node, level):
        kind = node["type"]
        if kind == "paragraph":
            return f"<p>{self.inline(node['inlineContent'])}</p>"
        if kind == "heading":
            depth, name = min(node["level"] + level, 6), self.anchors.get(node["anchor"], slug(node["text"]))
            # DocC begins each text with one of these, which says nothing.
            if node["text"] in ("Overview", "Discussion"):
                return f'<div id="{name}"></div>'
            return f'<h{depth} id="{name}"><a href="#{name}">{heading(node["text"])}</a></h{depth}>'
        if kind == "codeListing":
            return self.listing(node)
        if kind in ("unorderedList", "orderedList"):
            name = "ul" if kind == "unorderedList" else "ol"
            start = f' start="{node["start"]}"' if node.get("start", 1) != 1 else ""
            items = "".join(f"<li>{self.item(item['content'], level)}</li>\n" for item in node["items"])
            return f"<{name}{start}>\n{items}</{name}>"
        if kind == "table":
            return self.table(node, level)
        if kind == "aside":
            name = node.get("name") or node["style"].capitalize()
            return f'<aside><p class="name">{escape(name)}</p>{self.blocks(node["content"], level)}</aside>'
        if kind == "thematicBreak":
            return "<hr>"
        raise ValueError(f"no rule for content of the type {kind}: add one to .ci/site/content.py")

    def item(self, nodes, level):
        """A list's item or a table's cell of one paragraph needs no paragraph."""
        if len(nodes) == 1 and nodes[0]["type"] == "paragraph":
            return self.inline(nodes[0]["inlineContent"])
        return self.blocks(nodes, level)

    def listing(self, node):
        lines = [escape(line, quote=False) for line in node["code"]]
        if node.get("syntax") == "console":
            # What is typed stands out from what is printed.
            lines = [f"<b>{line}</b>" if line.startswith("$ ") else line for line in lines]
        return '<pre tabindex="0"><code>' + "\n".join(lines) + "</code></pre>"

    def table(self, node, level):
        alignments = node.get("alignments", [])

        def row(cells, name):
            parts = []
            for column, cell in enumerate(cells):
                side = alignments[column] if column < len(alignments) else "unset"
                style = f' class="{side}"' if side in ("right", "center") else ""
                parts.append(f"<{name}{style}>{self.item(cell, level)}</{name}>")
            return f"<tr>{''.join(parts)}</tr>\n"

        rows = node["rows"]
        head = f"<thead>{row(rows[0], 'th')}</thead>" if node["header"] == "row" else ""
        body = "".join(row(cells, "td") for cells in (rows[1:] if head else rows))
        return f'<div class="scroll" tabindex="0"><table>{head}<tbody>\n{body}</tbody></table></div>'

    def declaration(self, tokens):
        """A declaration of Swift, whose types are links where they are ours."""
        parts = []
        for token in tokens:
            text = escape(token["text"], quote=False)
            address = self.link(token["identifier"])[0] if "identifier" in token else None
            if address:
                text = f'<a href="{escape(address)}">{text}</a>'
            elif token["kind"] in ("keyword", "attribute"):
                text = f"<i>{text}</i>"
            elif token["kind"] == "identifier":
                text = f"<b>{text}</b>"
            parts.append(text)
        return f'<pre class="declaration"><code>{"".join(parts)}</code></pre>'
