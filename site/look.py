#!/usr/bin/env python3
"""Looks at the site in a browser: every page has its heading, every link and picture leads somewhere, and what the browser paints is no blank.

The screenshots stay in OUT/screenshots for people. A blank page and a page without its picture must be found first.

usage: look.py BOOK OUT     BOOK: the folder that mdbook made
"""
import html.parser
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

SHOTS = ["index.html", "docs/tutorial.html", "docs/language.html", "report/report.html", "docs/certify.html", "docs/diagnostics/range.html"]
WIDTH, HEIGHT = 1200, 1600


class Page(html.parser.HTMLParser):
    """Headings, links, pictures and anchors of a page."""

    def __init__(self):
        super().__init__()
        self.headings, self.links, self.ids = 0, [], set()

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.headings += tag == "h1"
        if a.get("id"):
            self.ids.add(a["id"])
        link = a.get("href") if tag == "a" else a.get("src") if tag == "img" else None
        if link:
            self.links.append(link)


def parsed(path):
    page = Page()
    page.feed(path.read_text())
    return page


def faults(book):
    """What is wrong with links and headings; how many links were followed."""
    pages = {p: parsed(p) for p in sorted(book.rglob("*.html")) if p.name not in ("404.html", "toc.html", "print.html")}
    wrong, followed = [], 0
    for path, page in pages.items():
        if not page.headings:
            wrong.append(f"{path}: no heading")
        for link in page.links:
            url = urllib.parse.urlparse(link)
            if url.scheme or url.netloc:
                continue
            followed += 1
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if not target.exists():
                wrong.append(f"{path}: {link} leads nowhere")
            elif url.fragment and target in pages and urllib.parse.unquote(url.fragment) not in pages[target].ids:
                wrong.append(f"{path}: {link} names no place of its page")
    return wrong, followed, len(pages)


def colours(png):
    """How many colours a picture has, and what share of its points is not the commonest."""
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", png
    at, packed, width, height, kind = 8, b"", 0, 0, 0
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if name == b"IHDR":
            width, height, _, kind = struct.unpack(">IIBB", body[:10])
        packed += body if name == b"IDAT" else b""
        at += 12 + length
    size = {2: 3, 6: 4}[kind]
    raw, stride = zlib.decompress(packed), width * size
    counts, before, place = {}, bytearray(stride), 0
    for _ in range(height):
        method, line = raw[place], bytearray(raw[place + 1 : place + 1 + stride])
        place += 1 + stride
        for i in range(stride):
            a = line[i - size] if i >= size else 0
            b, c = before[i], before[i - size] if i >= size else 0
            if method == 1:
                line[i] = (line[i] + a) & 255
            elif method == 2:
                line[i] = (line[i] + b) & 255
            elif method == 3:
                line[i] = (line[i] + (a + b) // 2) & 255
            elif method == 4:
                p = a + b - c
                near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                line[i] = (line[i] + near) & 255
        for i in range(0, stride, size):
            point = bytes(line[i : i + 3])
            counts[point] = counts.get(point, 0) + 1
        before = line
    return len(counts), 1 - max(counts.values()) / (width * height)


def shot(browser, page, to):
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}", "--virtual-time-budget=5000", f"--screenshot={to}", page.resolve().as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if not to.exists():
        sys.exit(f"{page}: the browser painted nothing: {done.stderr[-2000:]}")
    return colours(to)


def painted(found):
    """Text has shades, and covers a part of the page."""
    return found[0] > 16 and found[1] > 0.02


def twins(browser, folder):
    """What must be found: a blank page, a dead link, a page without a heading."""
    blank = folder / "blank.html"
    blank.write_text("<html><body></body></html>")
    if painted(shot(browser, blank, folder / "blank.png")):
        sys.exit("a blank page is taken for a painted one")
    (folder / "dead.html").write_text('<h1 id="x">x</h1><a href="none.html">n</a><img src="none.svg"><a href="#y">y</a>')
    wrong, followed, _ = faults(folder)
    if len(wrong) != 4 or followed != 3:
        sys.exit(f"dead links and a missing heading are not found: {wrong}")


def main(book, out):
    browser = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
    if not browser:
        sys.exit("site: no Chromium is here; `tools/setup.sh site` installs it")
    with tempfile.TemporaryDirectory() as folder:
        twins(browser, pathlib.Path(folder))
    wrong, followed, pages = faults(book)
    if wrong or not followed:
        sys.exit("\n".join(wrong[:40]) + f"\nsite: {len(wrong)} faults")
    shots = out / "screenshots"
    shutil.rmtree(shots, ignore_errors=True)
    shots.mkdir(parents=True)
    for page in SHOTS:
        to = shots / (page.replace("/", "-").removesuffix(".html") + ".png")
        found = shot(browser, book / page, to)
        if not painted(found):
            sys.exit(f"{page}: blank in the browser: {found[0]} colours, {found[1]:.1%} painted")
        print(f"site: {to}: {found[0]} colours, {found[1]:.0%} of it painted")
    print(f"site: {pages} pages, {followed} links followed, {len(SHOTS)} screenshots")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
