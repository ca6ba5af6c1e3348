"""Words that name nobody by themselves: who they mean depends on who says them. Data per language."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from langmemory.languages.language import ordered, word_set


def phrases(text: str) -> frozenset[str]:
    """The phrases of a list separated by semicolons."""
    return frozenset(" ".join(phrase.split()) for phrase in text.split(";"))


SELF = phrases(
    """i; me; my; mine; myself; we; us; our; the user; user; the speaker; speaker; the human; ich;
    mich; mir; mein; meine; wir; uns; der nutzer; die nutzerin; der benutzer; yo; mí; mi; nosotros;
    nosotras; el usuario; la usuaria; 我; 我们; 本人; 自己; 用户"""
)
"""The person who speaks. "We" at least means them."""

NOBODY = word_set(
    """he she it they him her them his their this that these those someone somebody everyone
    everybody nobody people you one who er sie es ihn ihm ihr ihnen jemand niemand alle man du él
    ella ellos ellas alguien nadie todos tú usted 他 她 它 他们 她们 有人 你 您 大家"""
)
"""Words an extractor should have replaced by a name; a claim about one of them is left out."""

MY = word_set("""my our mein meine meiner meinem meinen meines unser unsere unserer unserem unseren mi mis
    nuestro nuestra 我 我的 我们的""")

ROLES: dict[str, tuple[str, ...]] = {
    "mother": ordered("mum mom mommy mummy mama mother mutter mutti madre mamá 妈妈 母亲 妈"),
    "father": ordered("dad daddy papa father vater vati padre papá 爸爸 父亲 爸"),
    "grandmother": ordered(
        "grandma granny nana grandmother oma grossmutter großmutter abuela 奶奶 外婆"
    ),
    "grandfather": ordered(
        "grandpa grandad granddad grandfather opa grossvater großvater abuelo 爷爷 外公"
    ),
    "wife": ordered("wife ehefrau frau esposa mujer 妻子 老婆"),
    "husband": ordered("husband ehemann mann marido esposo 丈夫 老公"),
    "girlfriend": ordered("girlfriend freundin novia 女朋友"),
    "boyfriend": ordered("boyfriend freund novio 男朋友"),
    "partner": ordered("partner partnerin pareja 伴侣"),
    "sister": ordered("sister schwester hermana 姐姐 妹妹"),
    "brother": ordered("brother bruder hermano 哥哥 弟弟"),
    "daughter": ordered("daughter tochter hija 女儿"),
    "son": ordered("son sohn hijo 儿子"),
    "grandson": ordered("grandson enkel enkelsohn nieto 孙子"),
    "granddaughter": ordered("granddaughter enkelin enkeltochter nieta 孙女"),
    **{
        f"{role} in law": (f"{role} in law", f"{role}-in-law", *ordered(words))
        for role, words in {
            "mother": "schwiegermutter suegra 婆婆 岳母 丈母娘",
            "father": "schwiegervater suegro 公公 岳父",
            "sister": "schwägerin cuñada 嫂子 弟妹",
            "brother": "schwager cuñado 姐夫 妹夫",
            "daughter": "schwiegertochter nuera 儿媳",
            "son": "schwiegersohn yerno 女婿",
        }.items()
    },
    "stepmother": ordered("stepmother stepmum stepmom step-mother stiefmutter madrastra 继母 后妈"),
    "stepfather": ordered("stepfather stepdad step-father stiefvater padrastro 继父 后爸"),
    "stepsister": ordered("stepsister stiefschwester hermanastra"),
    "stepbrother": ordered("stepbrother stiefbruder hermanastro"),
    "stepdaughter": ordered("stepdaughter stieftochter hijastra 继女"),
    "stepson": ordered("stepson stiefsohn hijastro 继子"),
    "godmother": ordered("godmother patentante taufpatin madrina 教母"),
    "godfather": ordered("godfather patenonkel taufpate padrino 教父"),
    "goddaughter": ordered("goddaughter patentochter ahijada 教女"),
    "godson": ordered("godson patensohn ahijado 教子"),
    "boss": ordered("boss chef chefin jefe jefa 老板"),
    "landlord": ordered("landlord landlady vermieter vermieterin casero casera 房东"),
    "flatmate": (
        *ordered("flatmate roommate housemate mitbewohner mitbewohnerin 室友"),
        "compañero de piso",
        "compañera de piso",
    ),
    "teacher": ordered("teacher lehrer lehrerin profesor profesora maestro maestra 老师"),
    "coach": ordered("coach trainer trainerin entrenador entrenadora 教练"),
    "doctor": ordered("doctor gp hausarzt hausärztin médico médica 医生"),
    "therapist": ordered("therapist therapeut therapeutin terapeuta 治疗师"),
    "dog": ordered("dog hund perro 狗"),
    "cat": ordered("cat katze gato 猫"),
}
"""What somebody can be to the speaker, with its words."""

ROLE_OF: dict[str, str] = {word: role for role, words in ROLES.items() for word in words}

SPOKEN_AS_NAMES = frozenset({"mother", "father", "grandmother", "grandfather"})
"""Roles that stand for a person without "my": "Mum called"."""

UNIQUE_ROLES = frozenset({"mother", "father", "wife", "husband"})
"""Roles only one holds at a time, so that the role is another name of whoever is said to hold it."""

SHARED_ROLES = frozenset(
    {
        "sister", "brother", "daughter", "son", "grandmother", "grandfather", "grandson",
        "granddaughter", "law", "stepsister", "stepbrother", "stepdaughter", "stepson", "godmother",
        "godfather", "goddaughter", "godson", "aunt", "uncle", "cousin", "niece", "nephew", "friend",
        "colleague", "neighbour", "flatmate", "teacher", "coach", "doctor", "therapist",
        "dog", "cat",
    }
)  # fmt: skip
"""Roles several may hold, by their last word ("sister in law"): "my sister" is taken for one person, but
what is said of her now need not end what was said of her before."""

MANY_ROLES = word_set(
    """friend friends colleague colleagues coworker coworkers neighbour neighbours neighbor neighbors
    cousin cousins aunt uncle niece nephew kid kids child children student students classmate
    teammate siblings sisters brothers sons daughters parents grandparents freunde kollege
    kollegin kollegen nachbar nachbarin kind kinder geschwister eltern tante onkel amigo amiga amigos
    colega colegas vecino vecina hijos primo prima tío tía 朋友 同事 邻居 孩子"""
)
"""Roles that mean nobody in particular."""

_ANIMALS = frozenset({"dog", "cat"})
_OF = re.compile(r"(\w+) (?:of|von|de) (.+)", re.IGNORECASE)
_TITLES = frozenset({"frau", "mann", "chef", "mama", "papa", "padre", "madre", *ROLES["teacher"],
                     *ROLES["coach"], *ROLES["doctor"], *ROLES["therapist"],
                     *ROLES["godmother"], *ROLES["godfather"]})  # fmt: skip
"""Roles that begin names and titles: "Frau von Stein", "Doctor of Philosophy"."""
_MOST_WORDS = 3
"""Of a role: "sister in law"."""


@dataclass(frozen=True, slots=True)
class Role:
    """What somebody is to somebody."""

    whose: str
    what: str

    @property
    def kind(self) -> str | None:
        """Kind of entity that holds it; None where it may be anything ("my office")."""
        if self.what in _ANIMALS:
            return "animal"
        return "person" if self.what in ROLES else None


def role_in(name: str, speaker: str | None, *, known: Callable[[str], bool]) -> Role | None:
    """Lena's mother for "my mother", "Mum", "Lena's mum", "mother of Lena"; None for a plain name.

    Args:
        speaker: who says it.
        known: whether somebody has this name; German writes the genitive without apostrophe.
    """
    words = name.casefold().replace("’", "'").split()
    if not words:
        return None
    if speaker is not None and (mine := _mine(words)) is not None:
        return Role(speaker, ROLE_OF.get(mine, mine))
    matched = _OF.fullmatch(name.strip())
    role = matched[1].casefold() if matched else ""
    if matched and role in ROLE_OF and role not in _TITLES:
        return Role(_whose(matched[2], speaker), ROLE_OF[role])
    for length in range(min(_MOST_WORDS, len(words) - 1), 0, -1):
        if (role := " ".join(words[-length:])) not in ROLE_OF:
            continue
        head = " ".join(name.split()[:-length])
        for ending in ("'s", "’s", "'", "s"):
            owner = head.removesuffix(ending)
            if owner != head and (ending != "s" or known(owner)):
                return Role(_whose(owner, speaker), ROLE_OF[role])
    return None


def _mine(words: list[str]) -> str | None:
    """What the speaker calls their own: "mother" for "my mother" and "Mum"."""
    if len(words) > 1:
        return " ".join(words[1:]) if words[0] in MY else None
    for mine in ("我的", "我"):
        rest = words[0].removeprefix(mine)
        if rest != words[0] and (rest in ROLE_OF or rest in MANY_ROLES):
            return rest
    return words[0] if ROLE_OF.get(words[0]) in SPOKEN_AS_NAMES else None


def _whose(name: str, speaker: str | None) -> str:
    return speaker if speaker is not None and name.casefold() in SELF else name
