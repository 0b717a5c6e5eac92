# SPDX-License-Identifier: Apache-2.0
"""lintlib - what the lints in Python share: the project's files, C without its noise, self-tests"""
import pathlib
import re
import sys
import tempfile

# Folders whose C is shipped; tests are looked at only where a lint says so.
SHIPPED = ("netstack", "daemon", "ctl", "config", "seccomp")


def files(root, folders, suffixes):
    """All files of these folders with one of these suffixes, sorted, as paths below root."""
    found = []
    for folder in folders:
        found += [p for p in (root / folder).rglob("*") if p.suffix in suffixes and p.is_file()]
    return sorted(p.relative_to(root) for p in found)


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


_NOISE = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' |
    ^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def bare_c(text):
    """C text with comments, literals and preprocessor lines blanked; line numbers stay."""
    return _NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def main(check, planted):
    """ROOT: run check(root), which returns the complaints. --self-test: each planted tree must be told.

    planted: list of ({path: text}, part of the complaint, or None where nothing may be said).
    """
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ROOT|--self-test")
    if sys.argv[1] != "--self-test":
        bad = check(pathlib.Path(sys.argv[1]).resolve())
        print(*bad, sep="\n", end="\n" if bad else "")
        sys.exit(1 if bad else 0)
    for tree, want in planted:
        with tempfile.TemporaryDirectory(prefix="sl-lint-") as tmp:
            root = pathlib.Path(tmp)
            for path, text in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            bad = check(root)
        if want is None and bad:
            sys.exit(f"complains about a clean tree {list(tree)}: {bad}")
        if want is not None and (len(bad) != 1 or want not in bad[0]):
            sys.exit(f"planted {list(tree)}, want one complaint with '{want}', got {bad}")
    print(f"{len(planted)} planted trees judged as they should be")
