"""Which pages the site has, from the archives of DocC, and where links lead."""

import json
import os
import re
from html import escape
from pathlib import Path

from content import Content, code, slug

ROOT = Path(__file__).resolve().parent.parent.parent
MANUAL = "UpsurgeCommand"
# The products, in a reader's order. All other modules are inside the engine.
PRODUCTS = ["Upsurge", "UpsurgeMirror", "UpsurgeModels", "UpsurgeGRDB"]


class Page:
    """A file of the site."""

    def __init__(self, file, document, title):
        self.file, self.document, self.title = file, document, title
        self.module = document["module"]
        self.is_landing = document["metadata"].get("symbolKind") == "module"
        self.is_article = document["kind"] == "article" or file == "index.html"
        self.group = None  # the topic that lists it
        self.owner = None  # of a nested type: the page of the outermost type
        self.members = []  # titles of groups, with the documents that are sections here
        self.anchors = {}  # ids of headings by DocC's names
        self.ids = set()

    def new_id(self, text):
        """An id that this page does not have yet, numbered as GitHub numbers headings."""
        name = base = slug(text)
        number = 0
        while name in self.ids:
            number += 1
            name = f"{base}-{number}"
        self.ids.add(name)
        return name


class Site:
    def __init__(self, archives):
        self.documents = {}  # of DocC, by identifier
        self.pages = {}  # by file
        self.places = {}  # identifier: (file, id or None)
        self.by_symbol = {}  # the compiler's name of a symbol: its place
        self.faults = []  # links that lead nowhere
        self.sequences = {}  # module: its pages in the order of its topics
        found = sorted(path.name for path in archives.iterdir() if (path / "data").is_dir())
        products = [name for name in PRODUCTS if name in found]
        self.engine = [name for name in found if name not in [MANUAL] + PRODUCTS]
        self.products = products
        self.modules = [name for name in [MANUAL] if name in found] + products + self.engine
        for module in self.modules:
            self.read(archives / module, module)
        for module in self.modules:
            self.sequences[module] = []
            self.lay_out(self.landing(module), self.add_page(self.landing(module), "index"))

    # Which pages there are.

    def read(self, archive, module):
        for file in sorted((archive / "data").rglob("*.json")):
            document = json.loads(file.read_text())
            document["module"] = module
            self.documents[document["identifier"]["url"]] = document

    def landing(self, module):
        return f"doc://{module}/documentation/{module}"

    def lay_out(self, identifier, parent):
        """Gives each article and each type a page, in the order of the topics. A member of a type is a section of its page, and a
        nested type's page follows."""
        for section in self.documents[identifier].get("topicSections", []):
            topic = section.get("title", "Topics")
            if topic == "Default Implementations":
                continue  # what Swift writes for each Equatable
            members = []
            for child in section["identifiers"]:
                document = self.documents.get(child)
                if document is None or child in self.places:
                    continue
                symbol = document["metadata"].get("externalID")
                title = document["metadata"]["title"]
                if symbol in self.by_symbol:
                    # Upsurge shows what the modules inside the engine declare: one page is enough.
                    self.places[child] = self.by_symbol[symbol]
                elif parent.is_landing or "topicSections" in document:
                    name = title if document["kind"] == "symbol" else child.rsplit("/", 1)[1]
                    page = self.add_page(child, re.sub(r"[^\w.]+", "-", name).strip("-"))
                    page.group = topic if parent.is_landing else parent.group
                    page.owner = None if parent.is_landing else parent.owner or parent
                    self.lay_out(child, page)
                else:
                    members.append(document)
                    self.places[child] = (parent.file, parent.new_id(title))
                if symbol:
                    self.by_symbol.setdefault(symbol, self.places[child])
            if members:
                parent.members.append((topic, members))

    def file(self, module, name):
        return f"{name}.html" if module == MANUAL else f"{module}/{name}.html"

    def add_page(self, identifier, name):
        document = self.documents[identifier]
        file, number = self.file(document["module"], name), 1
        # Two names may differ only in case, which some disks do not see.
        while file.lower() in map(str.lower, self.pages):
            number += 1
            file = self.file(document["module"], f"{name}-{number}")
        title = "Upsurge" if identifier == self.landing(MANUAL) else document["metadata"]["title"]
        page = self.pages[file] = Page(file, document, title)
        for block in self.blocks_of(document):
            if block["type"] == "heading":
                page.anchors[block["anchor"]] = page.new_id(block["text"])
        self.places[identifier] = (file, None)
        self.sequences[document["module"]].append(page)
        return page

    def blocks_of(self, document):
        return [
            block for section in document.get("primaryContentSections", []) if section["kind"] == "content"
            for block in section["content"]
        ]

    # Where links lead.

    def link(self, page, document, identifier):
        """The address, from this page, and the text of what DocC calls `identifier`. The address is None where there is no page."""
        reference = document.get("references", {}).get(identifier, {})
        title = reference.get("title", identifier.rsplit("/", 1)[-1]).removeprefix("Swift.")
        text = code(title) if reference.get("kind") == "symbol" else escape(title, quote=False)
        if "titleInlineContent" in reference:
            text = Content(lambda _: (None, ""), {}).inline(reference["titleInlineContent"])
        if identifier.startswith("doc://"):
            base, _, anchor = identifier.partition("#")
            return self.address(page, self.places.get(base), anchor), text
        if reference.get("type") == "link":
            url = reference["url"]
            if re.match(r"\w+:", url):
                return url, text
            return self.address_of_file(page, document, url, text)
        return None, text

    def address(self, page, place, anchor):
        if place is None:
            return None
        file, name = place
        if anchor:
            name = self.pages[file].anchors.get(anchor, slug(anchor))
        if file == page.file:
            return f"#{name}" if name else os.path.basename(file)
        return os.path.relpath(file, os.path.dirname(page.file)) + (f"#{name}" if name else "")

    def address_of_file(self, page, document, url, text):
        """Links in the source lead from file to file. Those to files that are no articles name the file instead."""
        path, _, anchor = url.partition("#")
        module = document["module"]
        file = os.path.normpath(f"Sources/{module}/{module}.docc/{path}")
        article = re.fullmatch(r"Sources/(\w+)/\1\.docc/(\w+)\.md", file)
        if article:
            owner, name = article.groups()
            identifier = self.landing(owner) + ("" if name == owner else f"/{name}")
            if identifier in self.places:
                return self.address(page, self.places[identifier], anchor), text
        if not (ROOT / file).exists():
            self.faults.append(f"{module}.docc: the link {url} leads nowhere")
        return None, f'{text} (<code>{escape(file)}</code> in the source)'
