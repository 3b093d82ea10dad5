#!/usr/bin/env python3
"""Lays out the sources of the site: pages of the tree in their places, lists of passes, diagnostics and decisions.

Links to files that are no page become plain text. A page of `docs/` that no list has is an error.

usage: pages.py OUT     OUT/src is made; OUT/src/report must be there
"""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def title(page):
    """The first heading of a page."""
    for line in page.read_text().splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    sys.exit(f"{page}: no heading")


def listed(folder, marker, summary, lines):
    """Entries for all pages of a folder but its README, put behind a marker."""
    pages = sorted(p for p in (ROOT / folder).glob("*.md") if p.name != "README.md")
    if not pages:
        sys.exit(f"{folder}: no pages")
    entries = [f"  - [{title(p)}]({p.relative_to(ROOT)})" for p in pages]
    assert marker in summary, marker
    lines.extend(p.relative_to(ROOT) for p in pages)
    return summary.replace(marker, "\n".join(entries))


def index(name, heading, folder):
    """A page that lists the pages of a folder."""
    pages = sorted((ROOT / folder).glob("*.md"))
    rows = "\n".join(f"- [{title(p)}]({p.relative_to(ROOT)})" for p in pages if p.name != "README.md")
    (SRC / name).write_text(f"# {heading}\n\n{rows}\n")


def relink(page):
    """The text of a page, links to what is not on the site taken out. How many were."""
    gone = 0

    def one(found):
        nonlocal gone
        picture, text, target = found.groups()
        path = target.split("#")[0]
        if not path or "://" in target or target.startswith("mailto:"):
            return found.group(0)
        if (page.parent / path).is_file():
            # mdbook makes index.html of a README.
            return found.group(0).replace("README.md", "index.md")
        gone += 1
        return text if picture else (text if text.startswith("`") else f"{text} (`{path}`)" if path not in text else f"`{text}`")

    # Blocks of code stay as they are.
    fenced = re.split(r"(^```.*?^```$)", page.read_text(), flags=re.S | re.M)
    page.write_text("".join(p if k % 2 else LINK.sub(one, p) for k, p in enumerate(fenced)))
    return gone


def main(out):
    global SRC
    SRC = pathlib.Path(out) / "src"
    summary, lines = (ROOT / "site/SUMMARY.md").read_text(), []
    summary = listed("docs/passes", "<!-- passes -->", summary, lines)
    summary = listed("docs/diagnostics", "<!-- diagnostics -->", summary, lines)
    summary = listed("docs/decisions", "<!-- decisions -->", summary, lines)
    (SRC / "SUMMARY.md").write_text(summary)
    index("diagnostics.md", "Diagnostics", "docs/diagnostics")
    index("decisions.md", "Decisions", "docs/decisions")
    pages = [pathlib.Path(m.group(3)) for m in LINK.finditer(summary)]
    known = set(pages)
    forgotten = [p.relative_to(ROOT) for p in sorted((ROOT / "docs").rglob("*.md")) if p.relative_to(ROOT) not in known]
    if forgotten:
        sys.exit(f"site/SUMMARY.md: not listed: {', '.join(map(str, forgotten))}")
    for path in pages:
        to = SRC / path
        if not to.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, to)
    for picture in (ROOT / "docs").rglob("*.svg"):
        to = SRC / picture.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, to)
    gone = sum(relink(SRC / p) for p in known)
    print(f"site: {len(known)} pages, {gone} links to files that are no page")


if __name__ == "__main__":
    main(sys.argv[1])
