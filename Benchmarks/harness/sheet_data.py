"""Workbooks of many rows, written as a stream: .xlsx as Excel writes it (shared texts) or as openpyxl does (texts in the cells),
and .ods. All hold the same rows: an ascending id, a name of its own in each row, one of a hundred cities, an amount, a day, a count."""

import datetime
import os
import random
import zipfile

KINDS = ("xlsx", "inline.xlsx", "ods")
COLUMNS = ("id", "name", "city", "amount", "day", "count")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
FIRST_DAY = 36526  # 2000-01-01, as spreadsheets count


def workbook(folder, kind, rows, seed):
    """The file, made once. The date of this module is part of the decision."""
    path = folder / f"sheet-{rows}-{seed}.{kind}"
    if path.is_file() and path.stat().st_mtime > os.stat(__file__).st_mtime:
        return path
    partial = folder / (path.name + ".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        (write_ods if kind == "ods" else write_xlsx)(archive, rows, seed, kind.startswith("inline"))
    partial.rename(path)
    return path


def records(rows, seed):
    """Names are as long as names are, and no two are equal."""
    chance = random.Random(seed)
    for row in range(rows):
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)} {row}"
        amount = chance.randrange(1, 10_000_000) / 1000
        yield row + 1, name, chance.randrange(100), amount, chance.randrange(9000), chance.randrange(1000)


FIRST = ("Ada", "Bertrand", "Chloé", "Dörte", "Émile", "Fatima", "Giovanni", "Hjördís", "Ida", "João")
LAST = ("Åkesson", "Brown", "Černý", "Dupont", "Eriksen", "Ferreira", "García", "Hoffmann", "Ivanova", "Jørgensen")


def write_xlsx(archive, rows, seed, is_inline):
    types = "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.{kind}+xml"/>'
        for name, kind in (("workbook", "sheet.main"), ("worksheets/sheet1", "worksheet"), ("styles", "styles"), ("sharedStrings", "sharedStrings")))
    archive.writestr("[Content_Types].xml", (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{types}</Types>'))
    archive.writestr("_rels/.rels", relationships(("officeDocument", "xl/workbook.xml")))
    archive.writestr("xl/workbook.xml", (
        f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>'))
    archive.writestr("xl/_rels/workbook.xml.rels", relationships(
        ("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")))
    archive.writestr("xl/styles.xml", (
        f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" xfId="0"/>'
        '<xf numFmtId="14" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/>'
        '</cellStyles></styleSheet>'))
    with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
        part.write(f'<worksheet xmlns="{MAIN}"><sheetData>'.encode())
        part.write(xlsx_row(1, [text(name, number, is_inline) for number, name in enumerate(COLUMNS)]))
        for number, (key, name, city, amount, day, count) in enumerate(records(rows, seed)):
            part.write(xlsx_row(number + 2, [
                value(key), text(name, 106 + number, is_inline), text(f"City {city}", 6 + city, is_inline), value(amount),
                value(FIRST_DAY + day, ' s="1"'), value(count)]))
        part.write(b"</sheetData></worksheet>")
    with archive.open("xl/sharedStrings.xml", "w", force_zip64=True) as part:
        part.write(f'<sst xmlns="{MAIN}">'.encode())
        if not is_inline:
            for word in (*COLUMNS, *(f"City {city}" for city in range(100))):
                part.write(f"<si><t>{word}</t></si>".encode())
            for record in records(rows, seed):
                part.write(f"<si><t>{record[1]}</t></si>".encode())
        part.write(b"</sst>")


def relationships(*targets):
    return f'<Relationships xmlns="{PACKAGE}/relationships">' + "".join(
        f'<Relationship Id="r{number + 1}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets)) + "</Relationships>"


def xlsx_row(number, cells):
    """A cell is what follows its reference."""
    return (f'<row r="{number}">' + "".join(
        f'<c r="{letter}{number}"{cell}</c>' for letter, cell in zip("ABCDEF", cells)) + "</row>").encode()


def value(number, style=""):
    return f"{style}><v>{number!r}</v>"


def text(words, number, is_inline):
    return f' t="inlineStr"><is><t>{words}</t></is>' if is_inline else f' t="s"><v>{number}</v>'


def write_ods(archive, rows, seed, _):
    archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
    archive.writestr("META-INF/manifest.xml", "<manifest/>")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text"))
    with archive.open("content.xml", "w", force_zip64=True) as part:
        part.write(f'<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name="Data">'.encode())
        part.write(ods_row([ods_text(name) for name in COLUMNS]))
        for key, name, city, amount, day, count in records(rows, seed):
            part.write(ods_row([
                ods_float(key), ods_text(name), ods_text(f"City {city}"), ods_float(amount), ods_day(day), ods_float(count)]))
        part.write(b"</table:table></office:spreadsheet></office:body></office:document-content>")


def ods_row(cells):
    return f"<table:table-row>{''.join(cells)}</table:table-row>".encode()


def ods_float(number):
    return f'<table:table-cell office:value-type="float" office:value="{number!r}"><text:p>{number}</text:p></table:table-cell>'


def ods_text(words):
    return f'<table:table-cell office:value-type="string"><text:p>{words}</text:p></table:table-cell>'


def ods_day(day):
    shown = datetime.date(2000, 1, 1) + datetime.timedelta(days=day)
    return f'<table:table-cell office:value-type="date" office:date-value="{shown}"><text:p>{shown}</text:p></table:table-cell>'
