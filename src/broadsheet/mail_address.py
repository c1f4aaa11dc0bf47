"""Mail addresses: read strictly, so that nothing in them can become a header, and only the name is encoded."""

from __future__ import annotations

import re
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.utils import parseaddr

from broadsheet.errors import InputError

_LONGEST_NAME = 100
_LONGEST_ADDRESS = 254  # RFC 5321 with erratum 1690
_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")  # RFC 5322: dot-atom
# Letters of which IDNA 2003, which Python has, and IDNA 2008 make different domains (UTS 46: deviation characters).
_OF_TWO_MEANINGS = frozenset("ßẞς")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")


def mailbox(text: str, what: str) -> Address:
    """``name@example.org`` or ``A name <name@example.org>`` as an address; ``what`` names it in errors.

    A domain in another script is written as DNS has it (``xn--…``). Raises InputError for anything else: several
    addresses, line breaks, encoded words, a local part outside ASCII (which needs SMTPUTF8, and few servers have it).
    """
    text = text.strip()
    if not text.isprintable():
        raise InputError(f"{what}: {text!r} has line breaks or control characters; give NAME@HOST")
    if "=?" in text:  # RFC 2047: Python's email package decodes it, line breaks and all
        raise InputError(f"{what}: {text!r} is encoded; write the name as it is read")
    name, address = _divided(text)
    local, at, domain = address.rpartition("@")
    if set(domain) & _OF_TWO_MEANINGS:
        raise InputError(f"{what}: {text!r}: write the domain as it is registered (xn--…)")
    domain = _in_ascii(domain)
    fits = bool(at) and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(domain)
    if not fits or len(local) > 64 or len(local) + 1 + len(domain) > _LONGEST_ADDRESS or len(name) > _LONGEST_NAME:
        raise InputError(f"{what}: {text!r} is no mail address; give NAME@HOST, or A NAME <NAME@HOST>")
    try:
        return Address(display_name=name, username=local, domain=domain)
    except (ValueError, HeaderParseError) as error:
        raise InputError(f"{what}: {text!r} is no mail address ({error}); give NAME@HOST") from error


def _divided(text: str) -> tuple[str, str]:
    """The name and the address in angle brackets; quoted names lose their quotes."""
    if not text.endswith(">"):
        return "", text
    name, _, address = text[:-1].rpartition("<")
    name = name.strip()
    if name.startswith('"') and name.endswith('"') and len(name) >= 2:
        name = parseaddr(f"{name} <a@b.example>")[0]
    return name, address.strip()


def _in_ascii(domain: str) -> str:
    try:
        return domain.encode("idna").decode("ascii")
    except UnicodeError:  # a label that is empty or too long
        return ""
