"""TeX names of symbols, letters and accents, and what they are in Unicode."""

from __future__ import annotations

import re
import unicodedata
from functools import cache


def listed(names: str) -> frozenset[str]:
    """The names in a list separated by spaces."""
    return frozenset(names.split())


GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "varkappa": "ϰ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "omicron": "ο", "pi": "π", "varpi": "ϖ", "rho": "ρ", "varrho": "ϱ", "sigma": "σ", "varsigma": "ς",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ",
    "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "varGamma": "Γ", "varDelta": "Δ", "varTheta": "Θ", "varLambda": "Λ", "varXi": "Ξ",
    "varPi": "Π", "varSigma": "Σ", "varUpsilon": "Υ", "varPhi": "Φ", "varPsi": "Ψ", "varOmega": "Ω",
}  # fmt: skip

RELATIONS = {
    "leq": "≤", "le": "≤", "leqslant": "≤", "geq": "≥", "ge": "≥", "geqslant": "≥", "neq": "≠", "ne": "≠",
    "approx": "≈", "equiv": "≡", "sim": "∼", "simeq": "≃", "cong": "≅", "propto": "∝", "ll": "≪", "gg": "≫",
    "in": "∈", "ni": "∋", "notin": "∉", "subset": "⊂", "subseteq": "⊆", "subsetneq": "⊊", "supset": "⊃",
    "supseteq": "⊇", "prec": "≺", "preceq": "⪯", "succ": "≻", "succeq": "⪰", "lesssim": "≲", "gtrsim": "≳",
    "perp": "⊥", "parallel": "∥", "mid": "|", "to": "→", "rightarrow": "→", "longrightarrow": "→", "leftarrow": "←",
    "gets": "←", "leftrightarrow": "↔", "Rightarrow": "⇒", "implies": "⇒", "Leftarrow": "⇐", "Leftrightarrow": "⇔",
    "iff": "⇔", "mapsto": "↦", "triangleq": "≜", "doteq": "≐", "vdash": "⊢", "models": "⊨", "uparrow": "↑",
    "downarrow": "↓", "hookrightarrow": "↪", "coloneqq": "≔", "rightsquigarrow": "⇝", "rightleftharpoons": "⇌",
    "asymp": "≍", "gtrapprox": "⪆", "lessapprox": "⪅", "nearrow": "↗", "lll": "⋘", "ggg": "⋙", "trianglelefteq": "⊴",
    "sqsubseteq": "⊑", "Longrightarrow": "⇒", "searrow": "↘",
}  # fmt: skip

OPERATORS = {
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "div": "÷", "ast": "*", "star": "⋆", "circ": "∘", "bullet": "•",
    "cup": "∪", "cap": "∩", "sqcup": "⊔", "setminus": "∖", "oplus": "⊕", "otimes": "⊗", "odot": "⊙", "wedge": "∧",
    "land": "∧", "vee": "∨", "lor": "∨", "dagger": "†", "dag": "†", "ddag": "‡", "bigcup": "⋃", "bigcap": "⋂",
    "uplus": "⊎", "ltimes": "⋉", "rtimes": "⋊", "bigoplus": "⨁", "bigotimes": "⨂", "diamond": "⋄", "boxtimes": "⊠",
    "backslash": "∖",
}  # fmt: skip

PLAIN_SYMBOLS = {
    "infty": "∞", "partial": "∂", "nabla": "∇", "forall": "∀", "exists": "∃", "emptyset": "∅", "varnothing": "∅",
    "ell": "ℓ", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ", "wp": "℘", "aleph": "ℵ", "neg": "¬", "lnot": "¬", "top": "⊤",
    "bot": "⊥", "angle": "∠", "triangle": "△", "Box": "□", "square": "□", "blacksquare": "■", "checkmark": "✓",
    "sum": "∑", "prod": "∏", "coprod": "∐", "int": "∫", "oint": "∮", "iint": "∬", "ldots": "…", "dots": "…",
    "cdots": "⋯", "dotsc": "…", "dotsb": "⋯", "vdots": "⋮", "ddots": "⋱", "prime": "′", "degree": "°", "lfloor": "⌊",
    "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩", "lVert": "‖", "rVert": "‖", "Vert": "‖",
    "lvert": "|", "rvert": "|", "vert": "|", "lbrace": "{", "rbrace": "}", "imath": "ı", "jmath": "ȷ",
    "clubsuit": "♣", "diamondsuit": "♦", "heartsuit": "♥", "spadesuit": "♠", "sharp": "♯", "flat": "♭",
    "natural": "♮", "mho": "℧", "complement": "∁", "surd": "√", "therefore": "∴", "because": "∵", "colon": ":",
    "lbrack": "[", "rbrack": "]", "bigstar": "★",
}  # fmt: skip

SYMBOLS = {**GREEK, **RELATIONS, **OPERATORS, **PLAIN_SYMBOLS}

FUNCTIONS = listed(
    "arccos arcsin arctan arg argmax argmin cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf "
    "limsup ln log max min polylog Pr sec sin sinh sup tan tanh poly"
)

TEXT_SYMBOLS = {
    "ss": "ß", "SS": "ẞ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
    "ng": "ŋ", "NG": "Ŋ", "S": "§", "P": "¶", "copyright": "©", "textcopyright": "©", "textregistered": "®",
    "texttrademark": "™", "pounds": "£", "textsterling": "£", "texteuro": "€", "euro": "€", "textyen": "¥",
    "textendash": "–", "textemdash": "—", "textbullet": "•", "textdegree": "°", "textpm": "±", "texttimes": "×",
    "textmu": "µ", "micro": "µ", "textquoteleft": "‘", "textquoteright": "’", "textquotedblleft": "“",
    "textquotedblright": "”", "textquotesingle": "'", "textless": "<", "textgreater": ">", "textbar": "|",
    "lq": "‘", "rq": "’",
    "textellipsis": "…", "textasciitilde": "∼", "textunderscore": "_", "textbraceleft": "{",
    "textbraceright": "}", "textbackslash": "∖", "textasciicircum": "^", "slash": "/", "LaTeX": "LaTeX", "TeX": "TeX",
    "BibTeX": "BibTeX", "ie": "i.e.", "eg": "e.g.", "etal": "et al.", "etc": "etc.", "textdollar": "\\$",
    "textpercent": "%", "guillemotleft": "«", "guillemotright": "»", "quad": " ", "qquad": " ", "xspace": "",
    "space": " ", "cmark": "✓", "xmark": "✗", "textrightarrow": "→", "textleftarrow": "←", "linebreak": " ",
    "newline": " ", "par": " ", "newpage": " ", "textdagger": "†", "textasteriskcentered": "∗", "textonehalf": "½",
    "Alph": "", "noindent": "", "centering": "", "protect": "", "relax": "", "displaystyle": "", "maketitle": "",
    "small": "", "footnotesize": "", "large": "", "Large": "", "normalsize": "", "null": "", "leavevmode": "",
}  # fmt: skip

LETTERS = listed("ss SS o O l L ae AE oe OE aa AA i j dh DH th TH dj DJ ng NG")
"""Names in TEXT_SYMBOLS that are letters of a word: a space after them only ends the name."""

OPENING = listed("lq textquoteleft textquotedblleft")
"""Names of opening quotation marks: the space after them only ends the name as well."""

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331", "t": "\u0361", "G": "\u030f", "f": "\u0311", "h": "\u0309",
}  # fmt: skip

MATH_ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304", "dot": "\u0307",
    "ddot": "\u0308", "check": "\u030c", "breve": "\u0306", "acute": "\u0301", "grave": "\u0300",
    "mathring": "\u030a", "vec": "\u20d7", "overline": "\u0304",
}  # fmt: skip

AUTHOR_MACROS = {
    "eps": r"\epsilon", "ep": r"\epsilon", "e": r"\epsilon", "de": r"\delta", "half": r"\frac{1}{2}",
    "nicefrac": r"\frac", "sfrac": r"\frac", "mc": r"\mathcal", "mb": r"\mathbb", "bb": r"\mathbb", "mat": r"\mathbf",
    "wt": r"\widetilde", "wh": r"\widehat", "Tilde": r"\tilde", "Hat": r"\hat", "Bar": r"\bar", "vect": r"\mathbf",
    "vecx": r"\mathbf{x}", "mleft": r"\left", "mright": r"\right", "textsc": r"\text", "textsf": r"\text",
    "texttt": r"\text", "emph": r"\text", "reals": r"\mathbb{R}", "Real": r"\mathbb{R}", "real": r"\mathbb{R}",
    "RR": r"\mathbb{R}", "Rd": r"\mathbb{R}^d", "EE": r"\mathbb{E}", "bigo": "O", "bigO": "O", "order": "O",
    "bigomega": r"\Omega", "otilde": r"\tilde{O}", "Otilde": r"\tilde{O}", "Ot": r"\tilde{O}",
    "bigOtil": r"\tilde{O}", "SS": r"\mathcal{S}", "ts": r"\sim", "T": r"\top", "allowbreak": "", "xspace": "",
    "bf": r"\mathbf", "it": r"\mathit", "textemdash": "—", "lp": r"\left(", "rp": r"\right)",
    "argmax": r"\operatorname{argmax}", "argmin": r"\operatorname{argmin}", "lVert": r"\|", "rVert": r"\|",
}  # fmt: skip
"""Macros of authors (and a few packages) by the standard commands that they stand for."""

MACRO_FAMILIES = (
    (re.compile(r"([RNZQCEP])"), "mathbb"),
    (re.compile(r"([A-Z])|c(?:al)?([A-Z])|([A-Z])cal|cu([A-Z])|m([A-Z])"), "mathcal"),
    (re.compile(r"([a-z])|(?:bf?|bv|v|vec|mat)([a-zA-Z])|([a-zA-Z])bf?"), "mathbf"),
)
"""How authors name the letters of an alphabet: ``\\cA``, ``\\calA``, ``\\bx``, ``\\vx``; and the alphabet's command."""

GREEK_NAMES = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron", "π": "pi", "ρ": "rho",
    "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip


@cache
def accented(base: str, mark: str) -> str:
    """``base`` (one letter, ı and ȷ included) with a combining ``mark``, composed where Unicode can."""
    plain = {"ı": "i", "ȷ": "j"}.get(base, base) if unicodedata.combining(mark) == 230 else base
    return unicodedata.normalize("NFC", plain[:1] + mark + plain[1:])
