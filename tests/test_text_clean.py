"""Raw text to markup: entities, tags, TeX outside of mathematics, characters, idempotence."""

from __future__ import annotations

import gzip
import json
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.text import clean, split_math
from tests.shared import shared

ENTITIES = [
    ("Ocado to axe &#39;Low Price Promise&#39;", "Ocado to axe 'Low Price Promise'"),  # C01, after the XML reader
    ("Ocado to axe &amp;#39;Low Price Promise&amp;#39;", "Ocado to axe 'Low Price Promise'"),  # C01, before it
    ("std::unique_ptr&lt;S&gt; x", "std::unique_ptr<S> x"),  # C03
    ("std::unique_ptr&amp;lt;S&amp;gt; x", "std::unique_ptr<S> x"),
    ("J&ouml;rg M&uuml;ller", "Jörg Müller"),  # B17
    ("D&D agents", "D&D agents"),  # C04
    ("AT&amp;T and R&D", "AT&T and R&D"),
    ("a&nbsp;b&mdash;c", "a b—c"),
    ("see http://x.org/?a=1&copy=2&lt=3", "see http://x.org/?a=1&copy=2&lt=3"),  # no semicolon, no reference
    ("&unknownthing; &;", "&unknownthing; &;"),
    ("&#0;a&#x1F600;b", "\ufffda😀b"),
    ("$a &lt; b$ and &lt;i&gt;", "$a < b$ and <i>"),
]

GLYPHS = [
    ("an optimization prob(cid:173) lem", "an optimization problem"),
    ("com(cid:173)\n munication", "communication"),
    ("a classi(cid:12)cation, e(cid:11)ects, coe(cid:14)cients", "a classification, effects, coefficients"),
    ("a (cid:12)xed point", "a fixed point"),
    ("a (cid:15)-tube and (cid:96) norms", "a \ufffd-tube and \ufffd norms"),
]

TAGS = [
    ("for <tex>$k$</tex>-Ray Lamps", "for $k$-Ray Lamps"),
    ("<i>\n In vitro\n </i> assay", "*In vitro* assay"),  # B14
    ("the <i>E. coli</i> genome", "the *E. coli* genome"),
    ("<b>1)</b> first", "**1)** first"),
    ("<jats:p>One.</jats:p><jats:p>Two.</jats:p>", "One. Two."),
    ("<jats:title>Abstract</jats:title><jats:italic>x y</jats:italic>", "Abstract *x y*"),
    ("H<sub>2</sub>O, 10<sup>-3</sup>, CO<inf>2</inf>", "H₂O, 10⁻³, CO₂"),
    ("T<sub>max</sub> and LEN<sup>p</sup>", "T_max and LEN^p"),
    ("re<i>in</i>force", "reinforce"),  # marks inside of a word would not be read as marks
    ("a < b and c > d", "a < b and c > d"),
    ("std::vector<T> and map<K, V>", "std::vector<T> and map<K, V>"),
    ("std::unique_ptr<S> x", "std::unique_ptr<S> x"),
    ("the triple <subject, predicate, object>", "the triple <subject, predicate, object>"),
    ("agents ($<500$ of them, $>1000$ never)", "agents ($<500$ of them, $>1000$ never)"),
    ('<a href="http://x.org">text</a> <span class="c">y</span>', "text y"),
    ("line<br/>break<br>again", "line break again"),
    ("<!-- hidden -->shown <![CDATA[kept]]>", "shown kept"),
    ("<mml:math><mml:mi>x</mml:mi></mml:math> y", "x y"),
    ("<b><i>both</i></b>", "***both***"),
]

ACCENTS = [
    (r"Czerwi\'nski", "Czerwiński"),  # C05
    (r"Lazi\'c", "Lazić"),
    (r"J\"ager", "Jäger"),
    (r"G\"odel", "Gödel"),
    (r"Schr\"odinger", "Schrödinger"),
    (r"\L{}ukasz", "Łukasz"),
    (r"\v{C}apek", "Čapek"),
    (r"Erd\H{o}s", "Erdős"),
    (r"\^{i}le", "île"),  # F06
    (r"{\^i}le", "île"),
    (r"Gedenk\"uberlieferung", "Gedenküberlieferung"),
    (r"Gr{\=u}z{\=i}tis", "Grūzītis"),
    (r"Ljube{\v s}i{\'c}", "Ljubešić"),
    (r"Ne{\v s}pore-B{\=e}rzkalne", "Nešpore-Bērzkalne"),
    (r"\'{\i}ndice, \'\i, {\'\i}", "índice, í, í"),
    (r"na\"{i}ve, na{\"\i}ve, na\"ive", "naïve, naïve, naïve"),
    (r"Stra\ss e, \ss{}", "Straße, ß"),
    (r"\aa{}ngstr\"om, \AA", "ångström, Å"),
    (r"S\o ren, \O{}re, {\o}", "Søren, Øre, ø"),
    (r"\c{c}, \c c, \k{a}, \u{g}, \r{u}, \d{s}, \.{z}, \~n, \`a", "ç, ç, ą, ğ, ů, ṣ, ż, ñ, à"),
    (r"Nguy{\~{\^e}}n, \'{\^e}", "Nguyễn, ế"),
    (r"\t{oo}", "o\u0361o"),
    ("He\u0301le\u0300ne", "Hélène"),  # B11
    ("na{ı\u0308}ve", "naïve"),
    ("R{é}nyi and 10{,}071", "Rényi and 10,071"),
    (r"it\'s what they don\'t say", "it's what they don't say"),
    (r"they say \"hello\", then \"a cat\".", 'they say "hello", then "a cat".'),
    (r"\r{ho} and \k{appa}", "ρ and κ"),
]

COMMANDS = [
    (r"known as \lq strange' metals", "known as ‘strange' metals"),
    (r"known as \textquotedblleft strange\textquotedblright{} metals", "known as “strange” metals"),
    (r"\emph{one} \textit{two} {\em three} {\it four}", "*one* *two* *three* *four*"),
    (r"\textbf{one} {\bf two}", "**one** **two**"),
    (r"\textbf{\textit{both}}", "***both***"),
    (r"\textbf{S}peech \underline{\textbf{D}}ual", "**S**peech **D**ual"),
    (r"\texttt{partially\_correct}", "`partially_correct`"),
    (r"\emph{for all $x$ in {\bf X}}", "for all $x$ in **X**"),
    (r"\textsc{Neural} \mbox{Net} \textcolor{red}{hot} \text{plain}", "Neural Net hot plain"),
    ("``double'' and `single'", "“double” and ‘single’"),
    ("a `code` span and f''(x)", "a `code` span and f''(x)"),
    ("bias--variance, a -- b, one---two", "bias–variance, a – b, one—two"),
    ("run --verbose or ----", "run --verbose or ----"),
    ("Table~1, work~(A), 1%~5%, ~20%, a ~ b", "Table 1, work (A), 1%~5%, ~20%, a ~ b"),
    (r"50\% of R\&D, a\_b, \#1, \{x\}", "50% of R&D, a_b, #1, {x}"),
    (r"known~\cite{a,b}, see \citep[p.~2]{c}.", "known, see."),
    (r"good work (\citealp{x}) here", "good work here"),
    (r"at \url{https://a.org/x\_y}.", "at https://a.org/x_y."),
    (r"\href{https://a.org/b}{here}", "[here](https://a.org/b)"),
    (r"\href{https://a.org/b}{https://a.org/b}", "https://a.org/b"),
    (r"\href{javascript:alert(1)}{x}", "x"),
    (r"public~\footnote{\url{https://a.org}}.", "public (https://a.org)."),
    (r"\method{} is \method, 2\texttimes", r"\method is \method, 2×"),
    (r"N \times N, \alpha_L, {\approx} 3, 10\,000", "N × N, α_L, ≈ 3, 10 000"),
    (r"\begin{itemize} \item one \item two \end{itemize}", "• one • two"),
    (r"M\textsuperscript{4}, \ding{182}, \ding{173}", "M⁴, ❶, ②"),
    (r"\emphPrefMRF, \textbfOR", "PrefMRF, OR"),
    ("High-level {GPU} programming in {Julia}, {M}onte {C}arlo", "High-level GPU programming in Julia, Monte Carlo"),
    ("{{Deep} Learning}", "Deep Learning"),
    ("epsilon=8{255}, t_{mix}, mathcal{O}, {a, b}, {0,1}^n", "epsilon=8{255}, t_{mix}, mathcal{O}, {a, b}, {0,1}^n"),
    (
        "as _emphasis_ and _**both**_, not snake_case_name, __init__",
        "as *emphasis* and ***both***, not snake_case_name, __init__",
    ),
    (r"\emph{never closed", r"\emph{never closed"),
    ("https://x.org/~user/a--b_c and more---so", "https://x.org/~user/a--b_c and more—so"),
]

CHARACTERS = [
    ("a\u200bb\ufeff \u202eevil\u202c \x00c\x07\x7fd", "ab evil cd"),
    ("line one\r\n\tline  two\u2003three\xa0four ", "line one line two three four"),
    ("\x93quoted\x94 robot\x92s", "“quoted” robot’s"),
    ("Cafe\u0301 Mu\u0308ller", "Café Müller"),
    ("bad \ud800 surrogate", "bad \ufffd surrogate"),
    ("क्\u200dष stays, x\u200dy goes", "क्\u200dष stays, xy goes"),
    ("soft\xadhyphen", "softhyphen"),
    ("", ""),
    ("   ", ""),
]

MATH = [
    (r"the \(k\)-means and \[ x^2 \] bound", "the $k$-means and $$x^2$$ bound"),
    (r"\begin{equation} a = b \end{equation}", "$$a = b$$"),
    (r"probability 1-\ensuremath{\beta}", r"probability 1-$\beta$"),
    (r"$\mathcal{O}(\sqrt{n})$ \'e $\tilde{a}_{\text{\'e}}$", r"$\mathcal{O}(\sqrt{n})$ é $\tilde{a}_{\text{\'e}}$"),
    ("$a  --  b$ ``c''", "$a -- b$ “c”"),
    (r"less than \$30 or \$40", "less than $30 or $40"),
    (r"only \$x and y\$ here", r"only \$x and y\$ here"),  # bare, these two would be read as a formula
    (r"\(5\)0 points", "${5}$0 points"),  # "$5$0" would be read as money
    ("$ extit{are}$ and $2 imes 3$", r"$\textit{are}$ and $2 \times 3$"),  # backslash-t once read as a tab
    (r"$5 and $10, \textbf{x}", "$5 and $10, **x**"),
]


@pytest.mark.parametrize(("raw", "markup"), [*ENTITIES, *GLYPHS, *TAGS, *ACCENTS, *COMMANDS, *CHARACTERS, *MATH])
def test_clean(raw: str, markup: str) -> None:
    assert clean(raw) == markup


@pytest.mark.parametrize("raw", [raw for raw, _ in [*GLYPHS, *ACCENTS, *COMMANDS, *CHARACTERS, *MATH]])
def test_cases_are_idempotent(raw: str) -> None:
    assert clean(clean(raw)) == clean(raw)


FRAGMENTS = st.sampled_from(
    [
        "\\'",
        '\\"',
        "e",
        "i",
        "\\i",
        "{",
        "}",
        "$",
        "\\$",
        "x",
        " ",
        "5",
        "\\emph{",
        "\\textbf{",
        "``",
        "''",
        "`",
        "'",
        "--",
        "~",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "\\\\",
        "\\",
        "_",
        "*",
        "**",
        "\\cite{a}",
        "\\url{http://a.b}",
        "\\href{http://a.b}{",
        "\\%",
        "word",
        "Two Words",
        "&",
        ";",
        "é",
        "ı",
        "中",
        "\u200d",
        "\u0301",
        "\n",
        "A",
        "^",
        "(",
        ")",
        ",",
        ".",
        "\\method{}",
        "\\alpha",
        "\\begin{equation}",
        "\\end{equation}",
        "\\ensuremath{",
        "\\textdollar",
        "-",
        "http://x.y/~z",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
def test_clean_is_idempotent_on_tex(raw: str) -> None:
    once = clean(raw)
    assert clean(once) == once


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60).filter(lambda text: "&" not in text and "<" not in text))
def test_clean_is_idempotent_on_any_text(raw: str) -> None:
    once = clean(raw)
    assert clean(once) == once


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_clean_gives_one_line_of_nfc(raw: str) -> None:
    markup = clean(raw)
    assert unicodedata.is_normalized("NFC", markup)
    assert markup == markup.strip()
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in markup)
    markup.encode()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["&amp;", "&lt;", "&#39;", "a", "&", ";", "amp;", "&amp;amp;", " ", "#38;"]), max_size=12
    ).map("".join)
)
def test_references_are_decoded_to_the_end(raw: str) -> None:
    once = clean(raw)
    assert clean(once) == once or "<" in once


@pytest.mark.parametrize(
    "raw",
    [
        "{" * 20000,
        "\\emph{" * 4000,
        "$" * 20001,
        "\\(" * 10000,
        "<i>" * 10000,
        "`" * 20001,
        "*" * 20001,
        "\\" * 20001,
        "&amp;" * 10000,
        "&" + "amp;" * 3000,
        "\\'" * 10000,
        "[" * 20000,
        "_ " * 10000,
    ],
)
def test_hostile_input_takes_no_time(raw: str) -> None:
    started = time.process_time()
    clean(raw)
    assert time.process_time() - started < 5


def test_formulas_are_untouched_in_real_abstracts() -> None:
    path = shared("data", "conference_papers", "papers.jsonl.gz")
    seen = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            abstract = json.loads(line)["abstract"]
            if "$" not in abstract:
                continue
            if seen > 300:
                break
            markup = clean(abstract)
            assert clean(markup) == markup
            formulas = {" ".join(tex.split()) for kind, tex in split_math(abstract) if kind != "text"}
            kept = {tex for kind, tex in split_math(markup) if kind != "text"}
            if "\\(" not in abstract and "\\[" not in abstract and "imes" not in abstract:
                assert len(formulas - kept) <= len(formulas) // 10, (formulas - kept, abstract)
            seen += 1
    assert seen > 200
