"""Redaction: credentials are replaced before a turn is stored, so that no memory, vector or index has them.

The patterns are few and strict: what has a fixed form (a key's prefix, a card's checksum, an IBAN's) is
known by it; a password is known by the words that announce it. Ordinary numbers, UUIDs and hashes stay.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from langmemory.errors import ConfigError
from langmemory.languages import is_unspaced
from langmemory.languages.secret_words import SecretWords, secret_words

logger = logging.getLogger("langmemory.redaction")


@dataclass(frozen=True, kw_only=True, slots=True)
class Redacted:
    """A text as it may be stored."""

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many passages were replaced, by kind: ``{"card number": 1}``."""


Redactor = Callable[[str], "str | Redacted"]
"""Takes the text of a turn and returns it as it may be stored. Where it returns a plain string, what
it changed is counted as one ``text``."""


def redact_credentials(text: str) -> Redacted:
    """Replace credentials by placeholders such as ``[redacted: card number]``.

    Known are private keys, API keys and tokens of common providers, JSON web tokens, passwords, PINs and
    recovery phrases where the text says that it is one (in a language of `langmemory.languages`),
    passwords in addresses, card numbers by the Luhn checksum and IBANs by theirs.
    """
    spans = _disjoint(_spans_by_form(text))
    if not spans:
        return Redacted(text=text)
    parts: list[str] = []
    end = 0
    for start, stop, kind in spans:
        parts += [text[end:start], f"[redacted: {kind}]"]
        end = stop
    parts.append(text[end:])
    return Redacted(text="".join(parts), counts=Counter(kind for _, _, kind in spans))


def redactor_of(given: Redactor | bool) -> Redactor | None:
    """Return what redacts: True is `redact_credentials`, False nothing, anything else itself.

    Raises:
        ConfigError: It is neither a boolean nor callable.
    """
    if isinstance(given, bool):
        return redact_credentials if given else None
    if not callable(given):
        raise ConfigError(
            f"redact is {given!r:.80}; pass True, False, or a function that takes the text of a turn "
            "and returns it as it may be stored."
        )
    return given


def log_redacted(counts: Mapping[str, int]) -> None:
    """Log how many passages were replaced, by kind; never what they said."""
    if counts:
        kinds = ", ".join(f"{kind}={count}" for kind, count in sorted(counts.items()))
        logger.info("redacted %s", kinds)


def redact_text(text: str, redactor: Redactor | None) -> Redacted:
    """Return the text as a redactor leaves it; None leaves everything."""
    if redactor is None:
        return Redacted(text=text)
    found = redactor(text)
    if isinstance(found, Redacted):
        return found
    return Redacted(text=found, counts={} if found == text else {"text": 1})


def redact_and_log(text: str, redactor: Redactor | None) -> str:
    """Return the text as a redactor leaves it, and log how much it replaced."""
    found = redact_text(text, redactor)
    log_redacted(found.counts)
    return found.text


class _Span(NamedTuple):
    start: int
    stop: int
    kind: str


def _spans_by_form(text: str) -> Iterator[_Span]:
    for pattern, kind, signs in _FORMS:
        if signs and not _has(text, signs):
            continue
        group = "value" if "value" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            yield _Span(*match.span(group), kind)
    if _CARD_DIGITS.search(text):
        yield from _cards(text)
    if _IBAN_DIGITS.search(text):
        yield from _ibans(text)
    folded = text.lower() if text.isascii() else text.translate(_SAME_LETTERS).lower()
    yield from _announced_secrets(text, folded)


def _has(text: str, signs: tuple[str, ...]) -> bool:
    """Whether one of these stands in a text. It takes a twentieth of the time of looking for a pattern, and
    most texts have none."""
    for sign in signs:  # noqa: SIM110 (any() takes twice as long)
        if sign in text:
            return True
    return False


def _disjoint(found: Iterable[_Span]) -> list[_Span]:
    """Spans that do not overlap: of two, the one that begins first, then the longer one."""
    spans: list[_Span] = []
    for span in sorted(found, key=lambda one: (one.start, -one.stop)):
        if not spans or span.start >= spans[-1].stop:
            spans.append(span)
    return spans


# Keys and tokens of a form of their own.

_START: Final = r"(?<![A-Za-z0-9_\-./+])"
_END: Final = r"(?![A-Za-z0-9_\-])"
_API_KEYS: Final = (
    r"sk-(?:proj-|ant-|or-|svcacct-|admin-)?(?=[\w-]*\d)[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
    r"whsec_[A-Za-z0-9+/=]{24,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",  # AWS
    r"AIza[A-Za-z0-9_-]{35}",  # Google
    r"hf_[A-Za-z0-9]{30,}",
    r"(?:gsk|xai|tvly|r8|pplx|nvapi|re|dop_v1|lin_api)[-_](?=[\w-]*\d)[A-Za-z0-9_-]{24,}",
    r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",  # LangSmith
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",  # Shopify
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"key-[a-f0-9]{32}",  # Mailgun
)
_TOKENS: Final = (
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9_]{30,}",
    r"gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{20,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgE[A-Za-z0-9_-]{40,}",
    r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}",  # Telegram
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # JSON web token
)
_API_KEY_SIGNS: Final = (
    "sk-", "k_live_", "k_test_", "whsec_", "AKIA", "ASIA", "AIza", "hf_", "gsk", "xai", "tvly", "r8", "pplx",
    "nvapi", "re_", "re-", "dop_v1", "lin_api", "lsv2_", "shp", "SG.", "key-",
)  # fmt: skip
"""One of them stands in each of `_API_KEYS`."""
_TOKEN_SIGNS: Final = (
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-", "gldt-", "glrt-", "xox",
    "ya29.", "npm_", "pypi-AgE", ":AA", "eyJ",
)  # fmt: skip
"""One of them stands in each of `_TOKENS`."""
_FORMS: Final[tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...]] = (
    (
        re.compile(
            r"-----BEGIN (?P<type>[A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?)-----"
            r"(?:.*?-----END (?P=type)-----|.*)",
            re.DOTALL,
        ),
        "private key",
        ("-----BEGIN ",),
    ),
    (
        re.compile(rf"{_START}AGE-SECRET-KEY-1[A-Z0-9]{{58}}{_END}"),
        "private key",
        ("AGE-SECRET-KEY-1",),
    ),
    (re.compile(f"{_START}(?:{'|'.join(_API_KEYS)}){_END}"), "API key", _API_KEY_SIGNS),
    (re.compile(f"{_START}(?:{'|'.join(_TOKENS)}){_END}"), "token", _TOKEN_SIGNS),
    (  # Discord; what begins the pattern is looked for quickly
        re.compile(
            r"[MNO](?<![A-Za-z0-9_\-./+].)[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"
            + _END
        ),
        "token",
        (),
    ),
    (
        re.compile(r"\b[Bb]earer +(?P<value>(?=[\w.~+/-]{0,200}\d)[A-Za-z0-9_.~+/-]{20,}=*)"),
        "token",
        ("earer ",),
    ),
    (
        re.compile(
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,80}:"
            r"(?P<value>(?!(?:pass(?:word|wd)?|pwd|secret|x+|\*+|\.+|\$?\{[^}@]*\}|<[^>@]*>)@)"
            r"[^\s/@\"'<>]{1,120})@",
            re.IGNORECASE,
        ),
        "password",
        ("://",),
    ),
)
"""Patterns, what they are of, and texts of which one stands in each match; none where the pattern is
quick."""


# Numbers with a checksum.

_CARD_DIGITS: Final = re.compile(r"\d{4}[ -]?\d{4}")
"""Within every card's number."""
_IBAN_DIGITS: Final = re.compile(r"\d(?<=[A-Za-z]{2}\d)\d(?: ?[A-Za-z0-9]){11}")
"""Within every IBAN; a pattern that begins with a digit is looked for quickly."""
_CARD: Final = re.compile(
    r"(?<![\w.+/-])(?:\d{4}(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}(?:(?P=gap)\d{1,3})?"
    r"|3\d{3}(?P<amex>[ -])\d{6}(?P=amex)\d{4,5}|\d{13,19})(?![\w/-]|[.,]\d)"
)
_BRAND: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}|(?:50[1-9]|5[6-8]\d|6[37]\d)\d{13}"
)
"""Visa, Mastercard, American Express, Diners, JCB, Discover, UnionPay and Maestro."""


def _cards(text: str) -> Iterator[_Span]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        before = text[max(match.start() - 40, 0) : match.start()]
        if (
            _BRAND.fullmatch(digits)
            and _luhn(digits)
            and not secret_words().other_number.search(before)
        ):
            yield _Span(*match.span(), "card number")


def _luhn(digits: str) -> bool:
    """Whether the last digit is the checksum of the others (ISO/IEC 7812-1). Zeros alone are no number."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return len(set(digits)) > 1 and sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


_IBAN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}")
_COUNTRIES: Final = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV", 29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC",
    33: "RU",
}  # fmt: skip
_IBAN_LENGTHS: Final = {
    country: length for length, countries in _COUNTRIES.items() for country in countries.split()
}
"""By country, ISO 13616."""


def _ibans(text: str) -> Iterator[_Span]:
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[0][:2].upper(), 0)
        places = [at for at, character in enumerate(match[0]) if character != " "][:length]
        if not length or len(places) < length:
            continue
        stop = match.start() + places[-1] + 1
        if text[stop : stop + 1].isalnum():
            continue
        iban = "".join(match[0][at] for at in places).upper()
        # ISO 7064, MOD 97-10.
        if int("".join(str(int(one, 36)) for one in iban[4:] + iban[:4])) % 97 == 1:
            yield _Span(match.start(), stop, "IBAN")


# What the text says is a password, a PIN, a key.

_PASS: Final = re.compile(r"pass\s*[:=]")
_SAME_LETTERS: Final = {0x130: "i", 0x131: "i", 0x17F: "s"}
"""Letters that a pattern takes for others where case does not matter, and that `str.lower` leaves."""
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_CODE: Final = re.compile(r"\$\{?\w|[A-Za-z_][\w.]*[(\[]|[<{\[*%]|\.\.\.|…")
"""How an expression of a program, or a placeholder, begins."""
_STRONG: Final = re.compile(r"\d|[!@#$%^&*+=~?](?=.)|(?<=[a-zß-ÿ])[A-ZÀ-Þ]")


def _announced_secrets(text: str, folded: str) -> Iterator[_Span]:
    """Yield what a text, which is given in lower case as well, says is secret."""
    words = secret_words()
    if _has(folded, words.passwords) or ("pass" in folded and _PASS.search(folded)):
        yield from _passwords(text, words)
    if _has(folded, words.phrase_signs):
        for match in words.phrase_pattern.finditer(text):
            if words.sentence.isdisjoint(match["value"].casefold().split()):
                yield _Span(*match.span("value"), "recovery phrase")
    if _has(folded, words.pin_signs):
        for match in words.pin_pattern.finditer(text):
            yield _Span(*match.span("value" if match["value"] else "secret"), "PIN")
    if _has(folded, words.card_code_signs):
        for match in words.card_code_pattern.finditer(text):
            yield _Span(*match.span("value"), "card security code")
    if _has(folded, words.key_signs):
        yield from _keys(text, words)


def _passwords(text: str, words: SecretWords) -> Iterator[_Span]:
    for match in words.password_pattern.finditer(text):
        if span := _value(match, text):
            value, quoted = text[slice(*span)], match["quoted"] is not None
            if _is_password(match, value, words, quoted=quoted, rest=text[span[1] :]):
                yield _Span(*span, "password")
    for pattern in words.password_elsewhere:
        for match in pattern.finditer(text):
            span = _value(match, text)
            value = "" if span is None else text[slice(*span)]
            strong = _STRONG.search(value) and not _CODE.match(value)
            if span and strong and (match["quoted"] is not None or re.search(r"\d", value)):
                yield _Span(*span, "password")


def _keys(text: str, words: SecretWords) -> Iterator[_Span]:
    for noun in words.key_pattern.finditer(text):
        if value_match := words.key_value.match(text, noun.end()):
            value = value_match["value"].rstrip(".")
            mixed = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
            if mixed and not (noun["plain"] and _UUID.fullmatch(value)) and "/" not in value[:2]:
                start = value_match.start("value")
                kind = "token" if noun[0].casefold().endswith(words.tokens) else "API key"
                yield _Span(start, start + len(value), kind)


def _value(match: re.Match[str], text: str) -> tuple[int, int] | None:
    """Where what is announced stands, without the punctuation behind it."""
    if match["quoted"] is not None:
        return match.span("quoted")
    start, stop = match.span("value")
    while stop > start and (
        text[stop - 1] in ".,;:)'’]}>" or (text[stop - 1] in "!?" and stop - start < 6)
    ):
        stop -= 1
    return (start, stop) if stop - start >= 3 else None


def _is_password(
    match: re.Match[str], value: str, words: SecretWords, *, quoted: bool, rest: str
) -> bool:
    noun, plain = match["noun"].casefold(), value.casefold().strip("!?'")
    if (
        (value.casefold() if quoted else plain) in words.predicates
        or words.unit.match(rest)
        or value.startswith("[redacted")
    ):
        return False
    if _CODE.match(value) or plain.startswith(("your", "my_", "xxx", "http")):
        return False
    if noun == "pass":
        return bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value))
    if quoted:
        return noun not in words.ambiguous or bool(_STRONG.search(value))
    if match["sign"] == "=":
        return bool(_STRONG.search(value)) and "(" not in value
    if _STRONG.search(value):
        return len(value) >= 4
    if noun in words.ambiguous or not words.clause_end.match(rest):
        return False
    if is_unspaced(noun) and value.isascii():
        return True
    return bool(match["mine"] or match["of"]) and not plain.endswith(words.ordinary_endings)
