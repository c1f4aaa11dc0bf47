"""TeX outside of mathematics: accents, letters, text commands, quotes and dashes, decoded to markup."""

from __future__ import annotations

import re
import unicodedata

from .markuptags import lowered, raised
from .mathtext import HELD, Kind, Part, dollars, hold_math, is_formula, release_math, split_math
from .symbols import ACCENTS, LETTERS, OPENING, SYMBOLS, TEXT_SYMBOLS, accented, listed

_DEEPEST = 30
_LITERAL_DOLLAR = "\ufdd2"

_DELIMITED = re.compile(r"(?<!\\)\\\((.{1,4000}?)(?<!\\)\\\)|(?<!\\)\\\[(.{1,4000}?)(?<!\\)\\\]")
_ENVIRONMENT = re.compile(
    r"\\begin\{(equation|align|gather|multline|eqnarray|displaymath|math)(\*?)\}(.{1,4000}?)\\end\{\1\2\}"
)
_ENSURED = re.compile(r"\\ensuremath\{((?:[^{}]|\{[^{}]*\})*)\}")

# Every alternative begins with a literal, which lets the regex engine skip ahead to the next candidate.
_TRIGGER = re.compile(
    r"h(?P<url>ttps?://[^\s\\{}\ufdd0]+)|\\(?P<name>[A-Za-z]+)\*?|\\(?P<sign>[^A-Za-z])|\{(?P<group>)"
    r"|`(?P<open>`?)|'(?P<close>')|-(?P<dash>-+)|~(?P<tie>)"
)
_SPACE = re.compile(r"\s*")
_OPTIONS = re.compile(r"(?:\s*\[[^\[\]]*\])+")
_BRACE = re.compile(r"\\[\s\S]|[{}]")
_LETTER_COMMAND = re.compile(rf"\\({'|'.join(sorted(LETTERS, key=len, reverse=True))})(?![A-Za-z])\s?(?:\{{\}})?")
_LINK_TARGET = re.compile(r"https?://[^\s()\[\]]+")
_SWITCH = re.compile(r"\\(em|it|itshape|sl|bf|bfseries|tt|ttfamily|sc|scshape|rm|sf|cal)(?![A-Za-z])\s*")
_PROTECTED = re.compile(r"[\w-]*[A-Z][\w.+-]*")
_STYLED_WORD = re.compile(r"emph|text(?:it|bf|sc|tt|rm|sf)(?=[A-Za-z])")
_UNBRACED = re.compile("[^\x00-\x7f\ufdd0-\ufdef]{1,3}|[,=+<>*:-]")
_CODE_SPAN = re.compile(r"`([^`\n]+)`(?!`)")
_SINGLE_QUOTED = re.compile(r"`([^`]{1,200}?)'(?!\w)")
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])\\'(?=(?:s|t|re|ve|ll|d|m)(?![A-Za-z]))")
_ESCAPED_QUOTE = re.compile(r'\\"(?![A-Za-z{\\ ])')

_ITALIC = listed("emph textit textsl it em sl itshape")
_BOLD = listed("textbf bf bfseries strong")
_CODE = listed("texttt tt ttfamily verb lstinline code path")
_UNWRAPPED = listed(
    "textsc textrm textsf textnormal textup textmd mbox hbox text underline uline uuline ul textls textlf fbox "
    "enquote gls Gls glspl acrshort acrlong acrfull ac acp title abstract MakeUppercase uppercase lowercase "
    "textlcase hl"
)
_DROPPED = listed(
    "cite citep citet citealp citealt citeauthor citeyear citeyearpar parencite textcite autocite Citet Citep "
    "shortcite nocite ref eqref cref Cref autoref label vspace hspace footnotemark index pagestyle thispagestyle "
    "input bibliographystyle bibliography vskip color"
)
_SWITCHES = listed("em it itshape sl bf bfseries tt ttfamily sc scshape rm sf rmfamily sffamily normalfont")
_NOTES = listed("footnote thanks footnotetext")
_OF_TWO = listed("href textcolor colorbox hyperref")
_SCRIPT_SIGNS = frozenset("_^}\\$")
_SPACES = {" ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "@": "", "-": "", "\n": " "}
_TIDY = ((re.compile(r"\(\s*\)|\[\s*\]"), ""), (re.compile(r" +(?=[,.;:!?)](?:\s|$))"), ""), (re.compile(r"\( +"), "("))


# "\textit{" whose "\t" a careless parser took for a tab (by now a space, or nothing), and the like.
_BEHEADED = re.compile(
    r"(?<![A-Za-z\\])(?:(?P<t>ext(?:it|bf|tt|rm|sc|sf)\{|imes\b|heta\b|ilde\{)|(?P<b>oldsymbol\b|egin\{)|(?P<f>rac\{)"
    r"|(?P<n>abla\b))"
)
_BEHEADED_TAILS = listed("extit{ extbf{ exttt{ extsc{ extrm{ extsf{ imes heta ilde{ oldsymbol egin{ rac{ abla")


def decode_tex(text: str) -> str:
    """One-line ``text`` with TeX outside of mathematics decoded one level, and every formula delimited by dollars."""
    if any(tail in text for tail in _BEHEADED_TAILS):
        text = _BEHEADED.sub(lambda found: f"\\{found.lastgroup}{found[0]}", text)
    if "\\" in text:
        if "\\(" in text or "\\[" in text:
            text = _DELIMITED.sub(_delimited, text)
        if "\\ensuremath" in text:
            text = _ENSURED.sub(lambda found: _in_dollars("inline", found[1], found), text)
        if "\\begin" in text:
            text = _ENVIRONMENT.sub(_environment, text)
    bare, held = hold_math(text)
    if "\\" in bare:
        bare = _APOSTROPHE.sub("'", bare) if "\\'" in bare else bare
        if '\\"' in bare and _ESCAPED_QUOTE.search(bare):
            bare = bare.replace('\\"', '"')
    decoded = _Decoder(bare).decode()
    if "\\" in bare:
        for pattern, replacement in _TIDY:
            decoded = pattern.sub(replacement, decoded)
    formulas = [(kind, " ".join(tex.split())) for kind, tex in held]
    return _settle_dollars(" ".join(decoded.split()), formulas)


def _settle_dollars(decoded: str, formulas: list[Part]) -> str:
    """Formulas back in; an escaped dollar is written bare where it cannot be taken for the start of a formula."""
    released = release_math(decoded, [dollars(kind, tex) for kind, tex in formulas])
    if _LITERAL_DOLLAR not in released:
        return released
    bare = released.replace(_LITERAL_DOLLAR, "$")
    unchanged = [part for part in split_math(bare) if part[0] != "text"] == formulas
    return bare if unchanged else released.replace(_LITERAL_DOLLAR, "\\$")


def _delimited(found: re.Match[str]) -> str:
    return _in_dollars("inline", found[1], found) if found[1] is not None else _in_dollars("display", found[2], found)


def _environment(found: re.Match[str]) -> str:
    aligned = found[1] in {"align", "gather", "multline", "eqnarray"}
    tex = f"\\begin{{aligned}}{found[3]}\\end{{aligned}}" if aligned else found[3]
    return _in_dollars("inline" if found[1] == "math" else "display", tex, found)


def _in_dollars(kind: Kind, tex: str, found: re.Match[str]) -> str:
    body = " ".join(re.sub(r"(?<!\\)\$", "", tex).split()).strip()
    if body.endswith("\\"):
        body += " "
    if not body.strip():
        return ""
    following = found.string[found.end() : found.end() + 1]
    if not is_formula(body, following):
        body = f"{{{body}}}"
        if not is_formula(body, following):
            return tex
    return dollars(kind, body)


class _Decoder:
    """Decodes one text; arguments are decoded by decoders of their own, ``depth`` deep."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self._text = text
        self._depth = depth
        self._closing = _closing_braces(text)
        self._quoted = '"' in text or "“" in text

    def decode(self) -> str:
        text = self._text
        if self._depth > _DEEPEST:
            return text
        pieces: list[str] = []
        at = 0
        while found := _TRIGGER.search(text, at):
            pieces.append(text[at : found.start()])
            piece, at = self._handle(found)
            pieces.append(piece)
        pieces.append(text[at:])
        return "".join(pieces)

    def _handle(self, found: re.Match[str]) -> tuple[str, int]:  # noqa: PLR0911
        match found.lastgroup:
            case "name":
                return self._command(found)
            case "sign":
                return self._sign(found)
            case "group":
                return self._group(found)
            case "open" | "close":
                return self._quote(found)
            case "dash":
                return self._dash(found)
            case "tie":
                return self._tie(found)
            case _:  # a URL stays as it is
                return found[0], found.end()

    def _inside(self, inner: str) -> str:
        return _Decoder(inner, self._depth + 1).decode()

    def _around(self, start: int, end: int) -> tuple[str, str]:
        """The characters before and after, "" at the ends."""
        return self._text[start - 1 : start] if start else "", self._text[end : end + 1]

    def _skip(self, pattern: re.Pattern[str], at: int) -> int:
        found = pattern.match(self._text, at)
        return found.end() if found else at

    def _argument(self, at: int) -> tuple[str, int] | None:
        """The braced argument at ``at`` (after spaces) and its end; None where there is none or it never closes."""
        start = self._skip(_SPACE, at)
        end = self._closing.get(start)
        return None if end is None else (self._text[start + 1 : end], end + 1)

    def _command(self, found: re.Match[str]) -> tuple[str, int]:  # noqa: PLR0911
        name, end = found["name"], found.end()
        if name in ACCENTS and (letter := self._accent(name, end)):
            return letter
        if name in TEXT_SYMBOLS or name in SYMBOLS:
            return self._symbol(name, end)
        argument = self._argument(self._skip(_OPTIONS, end))
        if name in {"begin", "end"} and argument:
            return " ", self._skip(_OPTIONS, argument[1])
        if name == "item":
            return " • ", end
        if name in _DROPPED:
            return "", argument[1] if argument else end
        if argument is None:
            return self._lone_command(found)
        return self._applied(found, *argument)

    def _lone_command(self, found: re.Match[str]) -> tuple[str, int]:
        """A command whose argument is lost, or that takes none."""
        name, end = found["name"], found.end()
        if name in _SWITCHES:
            return "", self._skip(_SPACE, end)
        if name in _ITALIC or name in _BOLD or name in _CODE:
            return (found[0], end) if self._text[end : end + 1] == "{" else ("", end)
        if styled := _STYLED_WORD.match(name):  # \emphPrefMRF: the braces are lost, the word is not
            return "", found.start() + 1 + styled.end()
        return found[0], end

    def _applied(self, found: re.Match[str], inner: str, end: int) -> tuple[str, int]:  # noqa: PLR0911
        """A command with its argument ``inner``, which ends before ``end``."""
        name = found["name"]
        if name in _ITALIC or name in _BOLD or name in _CODE:
            return self._marked(name, inner, found.start(), end), end
        if name in _UNWRAPPED:
            return self._inside(inner), end
        if name in _NOTES:
            return f" ({self._inside(inner).strip()})", end
        if name == "textsuperscript":
            return raised(self._inside(inner)), end
        if name == "textsubscript":
            return lowered(self._inside(inner)), end
        if name in _OF_TWO:
            return self._of_two(name, inner, end)
        if name == "url":
            return _unescape_url(inner), end
        if name == "ding" and inner.isdigit():
            return _dingbat(int(inner[:4])), end
        if not inner.strip():  # the empty group that ends the name of an unknown macro: \method{}
            return found[0], end
        return found[0], found.end()

    def _symbol(self, name: str, end: int) -> tuple[str, int]:
        symbol = TEXT_SYMBOLS[name] if name in TEXT_SYMBOLS else SYMBOLS[name]
        if self._text.startswith("{}", end):
            return symbol, end + 2
        is_bound = name in LETTERS or name in OPENING
        if is_bound and self._text[end : end + 1] == " " and self._text[end + 1 : end + 2].isalpha():
            return symbol, end + 1
        return (_LITERAL_DOLLAR if name == "textdollar" else symbol), end

    def _accent(self, name: str, at: int) -> tuple[str, int] | None:
        """The letter with the accent whose name ends at ``at``, or None where no letter follows."""
        mark = ACCENTS[name]
        if argument := self._argument(at):
            inner, end = argument[0].strip(), argument[1]
            if name.isalpha() and name + inner in SYMBOLS:  # "\r{ho}": a broken reading of \rho
                return SYMBOLS[name + inner], end
            base = self._inside(inner) if inner.startswith("\\") else inner
            takes = len(base) == 1 or (len(base) == 2 and (name == "t" or unicodedata.combining(base[1])))
            return (accented(base, mark), end) if takes and base[0].isalpha() else None
        start = self._skip(_SPACE, at) if name.isalpha() else at
        if dotless := _LETTER_COMMAND.match(self._text, start):
            return accented(TEXT_SYMBOLS[dotless[1]], mark), dotless.end()
        letter = self._text[start : start + 1]
        if not letter.isalpha() or (name.isalpha() and start == at):
            return None
        composed = accented(letter, mark)
        if len(composed) > 1 and not name.isalpha():  # no such letter: \' and \" are then escaped quotes
            return None
        return composed, start + 1

    def _sign(self, found: re.Match[str]) -> tuple[str, int]:  # noqa: PLR0911
        sign, end = found["sign"], found.end()
        if sign in ACCENTS and (letter := self._accent(sign, end)):
            return letter
        if sign in "%&_#{}'\"":
            return sign, end
        if sign == "$":
            return _LITERAL_DOLLAR, end
        if sign in _SPACES:
            return _SPACES[sign], end
        if sign == "\\":
            return " ", self._skip(_OPTIONS, end + self._text.startswith("*", end))
        if sign == "~" and self._text.startswith("{}", end):
            return "∼", end + 2
        return found[0], end

    def _group(self, found: re.Match[str]) -> tuple[str, int]:
        argument = self._argument(found.start())
        if argument is None:
            return "{", found.end()
        inner, end = argument
        if switch := _SWITCH.match(inner):
            return self._marked(switch[1], inner[switch.end() :], found.start(), end), end
        if _UNBRACED.fullmatch(inner):  # R{é}nyi, 10{,}071
            return inner, end
        before, after = self._around(found.start(), end)
        whole = not before and not after
        if whole or (inner.startswith("\\") and inner[1:2] not in {"{", "}"}):
            return self._inside(inner), end
        if _PROTECTED.fullmatch(inner) and not (before.isalnum() or before in _SCRIPT_SIGNS):
            return inner, end
        return f"{{{self._inside(inner)}}}", end

    def _marked(self, name: str, inner: str, start: int, end: int) -> str:
        """``inner`` between markdown marks; without them where they would touch a letter or other marks."""
        mark = "*" if name in _ITALIC else "**" if name in _BOLD else "`" if name in _CODE else ""
        body = self._inside(inner.removesuffix("\\/"))
        words = body.strip()
        before, after = self._around(start, end)
        touches = mark != "**" and (before.isalnum() or after.isalnum())
        if not words or not mark or mark in words or touches or (mark == "`" and HELD.search(words)):
            return body
        lead, tail = body[: len(body) - len(body.lstrip())], body[len(body.rstrip()) :]
        return f"{lead}{mark}{words}{mark}{tail}"

    def _of_two(self, name: str, first: str, end: int) -> tuple[str, int]:
        second = self._argument(end)
        if second is None:
            return (_unescape_url(first) if name == "href" else ""), end
        shown = self._inside(second[0]).strip()
        target = _unescape_url(first)
        if name != "href" or not _LINK_TARGET.fullmatch(target) or "[" in shown or "]" in shown:
            return shown, second[1]
        if not shown or "://" in shown:
            return target, second[1]
        return f"[{shown}]({target})", second[1]

    def _quote(self, found: re.Match[str]) -> tuple[str, int]:
        quote, start, end = found[0], found.start(), found.end()
        before, after = self._around(start, end)
        if quote == "``":
            if after == "`" or before == "`":
                return quote, end
            self._quoted = True
            return "“", end
        if quote == "''":
            return ("”" if self._quoted and after != "'" else quote), end
        if code := _CODE_SPAN.match(self._text, start):
            return code[0], code.end()
        quoted = _SINGLE_QUOTED.match(self._text, start)
        if quoted and not before.isalnum():
            return f"‘{self._inside(quoted[1])}’", quoted.end()
        return quote, end

    def _dash(self, found: re.Match[str]) -> tuple[str, int]:
        """En and em dashes; a command-line flag (space before, none after) and a rule of four or more stay."""
        before, after = self._around(found.start(), found.end())
        is_flag = before in {"", " ", "("} and after.isalnum()
        dash = {2: found[0] if is_flag else "–", 3: "—"}.get(len(found[0]), found[0])
        return dash, found.end()

    def _tie(self, found: re.Match[str]) -> tuple[str, int]:
        """A tie is a space; ``~20%``, ``1~5`` and ``a ~ b`` say "about" or "to" and stay."""
        before, after = self._around(found.start(), found.end())
        after_word = before.isalpha() or before in set(".),}]”")
        before_word = after.isalnum() or after in {"(", "[", "\\", "\ufdd0"}
        ties = (after_word and before_word) or (before.isdigit() and after.isalpha())
        return " " if ties or (after == "\\" and before in {"", " "}) else "~", found.end()


def _closing_braces(text: str) -> dict[int, int]:
    """Where each brace that opens is closed."""
    closing: dict[int, int] = {}
    if "{" not in text:
        return closing
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            closing[opened.pop()] = brace.start()
    return closing


def _unescape_url(url: str) -> str:
    url = re.sub(r"\\([%&_#$~{}])(?:\{\})?", r"\1", url.strip())
    return re.sub(r"\s+", "", url.replace("\\textasciitilde", "~"))


def _dingbat(number: int) -> str:
    """Circled digits of the Zapf Dingbats font: 172–181 open, 182–191 filled, 192–211 sans-serif; ticks, crosses."""
    for first, last, code in ((172, 181, 0x2460), (182, 191, 0x2776), (192, 211, 0x2780)):
        if first <= number <= last:
            return chr(code + number - first)
    return {51: "✓", 52: "✔", 55: "✗", 56: "✘"}.get(number, "")
