"""What a page shows, and what all pages have around it."""

import os
import re
from html import escape

from content import Content
from pages import MANUAL, Site


class Layout(Site):
    # What a page shows.

    def render(self, page):
        document = page.document
        content = Content(lambda identifier: self.link(page, document, identifier), page.anchors)
        parts = [f"<h1>{escape(page.title)}</h1>"]
        if document.get("abstract"):
            parts.append(f'<p class="abstract">{content.inline(document["abstract"])}</p>')
        parts += self.sections(content, document, 0)
        parts += self.see_also(content, document)
        if page.is_landing:
            parts += self.topics(page)
        for title, members in page.members:
            parts.append(f'<h2 id="{page.new_id(title)}">{escape(title)}</h2>')
            parts += [self.member(page, member) for member in members]
        if page.file == "index.html":
            parts += self.library(page)
        return "\n".join(parts)

    def sections(self, content, document, level):
        """Declaration, parameters and text of an article or a symbol."""
        parts = []
        for section in document.get("primaryContentSections", []):
            if section["kind"] == "declarations":
                parts += [content.declaration(each["tokens"]) for each in section["declarations"][:1]]
            elif section["kind"] == "parameters":
                items = "".join(
                    f"<dt><code>{escape(each['name'])}</code></dt><dd>{content.item(each['content'], level)}</dd>"
                    for each in section["parameters"])
                parts.append(f"<dl>{items}</dl>")
            elif section["kind"] == "content":
                parts.append(content.blocks(section["content"], level))
        for label, identifiers in self.relations(document):
            links = [f'<a href="{escape(address)}">{text}</a>' if address else text
                     for address, text in map(content.link, identifiers)]
            parts.append(f'<p class="relations">{label}: {", ".join(dict.fromkeys(links))}</p>')
        return parts

    def relations(self, document):
        for section in document.get("primaryContentSections", []):
            if section["kind"] == "mentions":
                yield "Mentioned in", section["mentions"]
        for section in document.get("relationshipsSections", []):
            # What every value has says nothing.
            yield section["title"].capitalize(), [each for each in section["identifiers"] if "SendableMetatype" not in each]

    def see_also(self, content, document):
        for section in document.get("seeAlsoSections", []):
            if not section.get("generated"):
                links = [content.link(each) for each in section["identifiers"]]
                items = "".join(f'<li><a href="{escape(address)}">{text}</a></li>' for address, text in links if address)
                yield f"<h2>{escape(section['title'])}</h2><ul>{items}</ul>"

    def topics(self, page):
        """The pages of a module by topic, each with the sentence it begins with."""
        for section in page.document.get("topicSections", []):
            items = []
            for identifier in section["identifiers"]:
                address, text = self.link(page, page.document, identifier)
                if address:
                    items.append(self.entry(page, address, text, self.documents[identifier]))
            if items:
                title = section.get("title", "Topics")
                yield f'<h2 id="{page.new_id(title)}">{escape(title)}</h2>\n<dl class="topics">{"".join(items)}</dl>'

    def library(self, page):
        """On the first page: the modules."""
        for title, modules in (("The library", self.products), ("Inside the engine", self.engine)):
            items = []
            for module in modules:
                target = self.documents[self.landing(module)]
                address = self.address(page, self.places[self.landing(module)], None)
                items.append(self.entry(page, address, f"<code>{module}</code>", target))
            if items:
                yield f'<h2 id="{page.new_id(title)}">{title}</h2>\n<dl class="topics">{"".join(items)}</dl>'

    def entry(self, page, address, text, target):
        abstract = Content(lambda identifier: (None, self.link(page, target, identifier)[1]), {}).inline(target.get("abstract", []))
        return f'<dt><a href="{escape(address)}">{text}</a></dt><dd>{abstract}</dd>\n'

    def member(self, page, document):
        name = self.places[document["identifier"]["url"]][1]
        anchors = {block["anchor"]: page.new_id(f"{name}-{block['text']}")
                   for block in self.blocks_of(document) if block["type"] == "heading"}
        content = Content(lambda identifier: self.link(page, document, identifier), anchors)
        abstract = content.inline(document.get("abstract", []))
        title = escape(document["metadata"]["title"], quote=False)
        return "\n".join(
            [f'<section class="member"><h3 id="{name}"><a href="#{name}"><code>{title}</code></a></h3>']
            + ([f"<p>{abstract}</p>"] if abstract else []) + self.sections(content, document, 2) + ["</section>"])

    # Around it.

    def menu(self, page, is_here=True):
        """This module's pages by topic, then the other modules."""
        parts = [f'<p><a href="{self.address(page, ("index.html", None), None)}">The manual</a></p>'] if page.module != MANUAL else []
        group = object()
        for each in self.sequences[page.module]:
            if each.owner and each.owner not in (page, page.owner):
                continue  # nested types are listed with their type
            title = "The manual" if each.file == "index.html" else each.title
            if each.group != group:
                parts.append("</ul>" if len(parts) > 1 else "")
                parts.append(f"<p>{escape(each.group)}</p>" if each.group else "")
                parts.append("<ul>")
                group = each.group
            current = ' aria-current="page"' if is_here and each is page else ""
            name = escape(title, quote=False) if each.is_article else f"<code>{escape(title, quote=False)}</code>"
            parts.append(f'<li><a href="{escape(os.path.relpath(each.file, os.path.dirname(page.file)))}"{current}>{name}</a></li>')
        parts.append("</ul>")
        for title, modules in (("The library", self.products), ("Inside the engine", self.engine)):
            links = "".join(
                f'<li><a href="{self.address(page, self.places[self.landing(each)], None)}"><code>{each}</code></a></li>\n'
                for each in modules)
            if links:
                parts.append(f"<p>{title}</p><ul>{links}</ul>")
        return "\n".join(filter(None, parts))

    def contents(self, main):
        """The headings of a page that has several."""
        headings = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', main)
        if len(headings) < 2:
            return ""
        items = "".join(f'<li><a href="#{name}">{re.sub("</?a[^>]*>", "", text)}</a></li>\n' for name, text in headings)
        return f"""<nav class="contents" aria-label="On this page">
<input type="checkbox" class="show" id="show-contents" aria-label="Show the headings of this page">
<label for="show-contents" aria-hidden="true">On this page</label>
<ul>
{items}</ul></nav>"""

    def neighbours(self, page):
        sequence = self.sequences[page.module]
        place = sequence.index(page)
        parts = []
        for word, index in (("Previous", place - 1), ("Next", place + 1)):
            if 0 <= index < len(sequence):
                other = sequence[index]
                address = os.path.relpath(other.file, os.path.dirname(page.file))
                parts.append(f'<a class="{word.lower()}" rel="{word.lower()[:4]}" href="{escape(address)}">'
                             f"<span>{word}</span> {escape(other.title)}</a>")
        return f'<nav class="neighbours" aria-label="Next pages">{"".join(parts)}</nav>' if parts else ""

    def place_of(self, page):
        """Where the reader is: over the title."""
        steps = []
        if page.module != MANUAL:
            steps.append(f'<a href="{self.address(page, ("index.html", None), None)}">Manual</a>')
            if not page.is_landing:
                address = self.address(page, self.places[self.landing(page.module)], None)
                steps.append(f'<a href="{address}">{page.module}</a>')
            if page.owner:
                steps.append(f'<a href="{os.path.basename(page.owner.file)}">{escape(page.owner.title)}</a>')
        if page.group and not page.owner:
            steps.append(escape(page.group))
        return f'<p class="place">{" › ".join(steps)}</p>' if steps else ""

    def html(self, page):
        main = self.render(page)
        title = page.title if page.file == "index.html" else f"{page.title} · {'Upsurge' if page.module == MANUAL else page.module}"
        return frame(page.file, title, self.menu(page), self.place_of(page) + main + self.neighbours(page), self.contents(main))


def frame(file, title, menu, main, contents=""):
    """What all pages have around them."""
    root = "../" * file.count("/")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="stylesheet" href="{root}style.css">
<script defer src="{root}search.js" data-root="{root}"></script>
</head>
<body>
<a class="skip" href="#main-text">Skip to the text</a>
<header>
<a class="brand" href="{root}index.html">Upsurge</a>
<form role="search" action="{root}search.html">
<input type="search" name="q" placeholder="Search" aria-label="Search all pages" autocomplete="off">
<div class="found" aria-live="polite" hidden></div>
</form>
<input type="checkbox" class="show" id="show-menu" aria-label="Show all pages"><label for="show-menu" aria-hidden="true">Pages</label>
<nav class="menu" aria-label="Pages">
{menu}
</nav>
</header>
<div class="columns">
{contents}
<main id="main-text">
{main}
</main>
</div>
</body>
</html>
"""
