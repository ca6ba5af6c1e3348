"""German, with "du" and "Sie"."""

from __future__ import annotations

from langmemory.formation.rules.questions.question import Asking, question

_YOUR = r"(?:dein|(?-i:Ihr)|euer|eur)(?:e[rmns]?)?"
_WHO = rf"(?:{_YOUR} {{adjectives}}(?P<kin>{{kin}})|(?P<name>{{Word}}))"
_REST = (
    r"(?P<rest>(?!.*\b(?:irgend\w*|oder|jemals|wenn|auch|was|wie|schon mal|lust|zeit|ahnung)\b).+)"
)
_ALLERGIES = r"(?:Allergien|Unverträglichkeiten|Lebensmittelallergien)"


def _verbs(you: str, formal: str, i: str) -> tuple[str, str]:
    """A question that a "yes" answers, and its statement."""
    return rf"(?:{you} (?:du|ihr)|{formal} (?-i:Sie)) {_REST}", f"Ich {i} {{rest}}{{answer}}"


GERMAN = Asking(
    code="de",
    ends=r"eigentlich|denn|jetzt|nochmal|noch mal|derzeit|momentan|genau|so|überhaupt|wenn ich fragen darf",
    yes=r"(?:ach )?(?:ja|jap|jep|jo|jawohl|klar|genau|richtig|stimmt|doch)(?: klar)?",
    no=r"nein|nee|ne|nö|nicht|nie|niemand\w*|nirgend\w*|kein\w*|nichts|kaum|jein|weder|beide\w*|früher|mal",
    evades=(
        r"rate|frag\w*|warum|wieso|weshalb|was|wo|wer|wie|wann|das|dies\w*|es|hier|da|dort|überall|irgendwo|"
        r"irgend\w*|zuhause|zu|daheim|auswärts|draußen|drinnen|weit|nah|nebenan|um|unter|hinter|neben|kommt|"
        r"schwer|gute|guten|geheim\w*|geheimnis|keine|immer|noch|nur|gleiche|wie|weiß|haha\w*|lol|hm+|äh+|"
        r"ähm|"
        r"tja|naja|na|puh|uff|egal|alles|viel\w*|einige|mehrere|arbeitslos|selbstständig|rentner|home|"
        r"homeoffice|schule|arbeit|uni|büro|land|stadt|dorf|mars|mond|hölle|himmel|mein\w*|dein\w*|ihr\w*|"
        r"sein\w*|unser\w*|danke|bitte|oh|ach|wow|stopp|sag\w*|schau\w*|siehe|ich|du|wir|mach\w*"
    ),
    trails=(
        r"ursprünglich|eigentlich|jetzt|derzeit|momentan|gerade|zurzeit|auch|leider|zum glück|danke|übrigens|"
        r"natürlich|vor allem|hauptsächlich|und du|und sie|und selbst|wieder"
    ),
    back=r"(?:und )?(?:du|dir|sie|ihnen|selbst|bei dir|bei ihnen|ihr|euch|deine?[rs]?|ihre?[rs]?)(?: so|"
    r" denn)?",
    mine=((r"\b([Dd])ein(e[rmns]?)?\b", r"mein\2"), (r"\bIhr(e[rmns]?)?\b", r"mein\1")),
    who="Meine {kin}",
    questions=(
        question(
            r"wo (?:(?:wohnst|lebst) du|(?:wohnen|leben) (?-i:Sie)|(?:wohnt|lebt) ihr)",
            "Ich wohne in {answer}", "name", lead="(?:ich )?(?:wohne |lebe )?(?:in|bei)",
        ),
        question(rf"wo (?:wohnt|lebt) {_WHO}", "{who} wohnt in {answer}", "name", lead="in"),
        question(
            r"woher (?:kommst du|kommen (?-i:Sie)|stammst du|stammen (?-i:Sie))|wo (?:kommst du|"
            r"kommen (?-i:Sie)) her|"
            r"wo (?:bist du|sind (?-i:Sie)) aufgewachsen",
            "Ich komme aus {answer}", "name", lead="(?:ich komme )?aus|in",
        ),
        question(rf"woher (?:kommt|stammt) {_WHO}", "{who} kommt aus {answer}", "name", lead="aus"),
        question(r"wo (?:bist du|sind (?-i:Sie)|wurdest du|wurden (?-i:Sie)) geboren",
        "Ich bin in {answer} geboren", "name",
                 lead="in"),
        question(r"wohin (?:bist du|sind (?-i:Sie)|seid ihr) (?:um)?gezogen", "Ich bin nach {answer} gezogen",
        "name",
                 lead="nach"),
        question(r"wohin (?:ziehst du|ziehen (?-i:Sie)|zieht ihr)(?: um)?", "Ich ziehe nach {answer}", "name",
                 lead="nach"),
        question(
            r"(?:bei wem|für wen|bei welcher firma|für welche firma) (?:arbeitest du|arbeiten (?-i:Sie))",
            "Ich arbeite bei {answer}", "name", lead="bei|für",
        ),
        question(r"wo (?:arbeitest du|arbeiten (?-i:Sie))", "Ich arbeite {answer}",
        "word", lead="ich arbeite"),
        question(rf"wo arbeitet {_WHO}", "{who} arbeitet {answer}", "word"),
        question(
            r"was (?:(?:machst|arbeitest) du|(?:machen|arbeiten) (?-i:Sie))(?: beruflich| von beruf|"
            r" so beruflich)?|"
            r"was (?:bist du|sind (?-i:Sie)) von beruf|was ist (?:dein|(?-i:Ihr)) (?:beruf|job)|"
            r"als was (?:arbeitest du|"
            r"arbeiten (?-i:Sie))",
            "Ich bin {answer}", "name", lead="(?:ich bin |ich arbeite als )?eine?|ich bin|ich arbeite als|"
            "als",
        ),
        question(
            rf"was (?:macht|arbeitet|ist) {_WHO}(?: beruflich| von beruf)?",
            "{who} ist {answer}", "name", lead="eine?|(?:er|sie) ist|als",
        ),
        question(
            rf"wie hei(?:ß|ss)t {_YOUR} {{adjectives}}(?P<kin>{{kin}})", "{who} heißt {answer}", "name",
        ),
        question(rf"wie hei(?:ß|ss)t {_YOUR} {{adjectives}}(?P<pet>{{pet}})", "Mein {pet} heißt {answer}",
        "name"),
        question(r"wie (?:hei(?:ß|ss)t du|hei(?:ß|ss)en (?-i:Sie))|wie ist (?:dein|"
        r"(?-i:Ihr)) name", "Ich heiße {answer}",
                 "name", lead="ich bin"),
        question(rf"wie alt ist {_WHO}", "{who} ist {answer} Jahre alt", "word", tail="jahre(?: alt)?|"
        "geworden"),
        question(r"wie alt (?:bist du|sind (?-i:Sie))", "Ich bin {answer} Jahre alt",
        "word", tail="jahre(?: alt)?"),
        question(
            r"wann (?:hast du|haben (?-i:Sie)) geburtstag|wann ist (?:dein|(?-i:Ihr)) geburtstag",
            "Ich habe {answer} Geburtstag", "time",
        ),
        question(
            rf"(?:hast du|haben (?-i:Sie)|habt ihr) (?:irgendwelche |eine )?{_ALLERGIES}|(?:bist du|"
            rf"sind (?-i:Sie)) "
            r"(?:gegen|auf) (?:irgend)?(?:et)?was allergisch|(?:wogegen|gegen was|worauf) (?:bist du|"
            r"sind (?-i:Sie)) "
            r"allergisch",
            "Ich bin allergisch gegen {answer}", "name", lead="(?:ich bin allergisch )?(?:gegen|auf)|nur",
        ),
        question(
            r"(?:hast du|haben (?-i:Sie)|habt ihr) (?:irgendwelche |eigentlich |auch )?(?:ein Haustier|"
            r"Haustiere|Tiere|"
            r"Kinder|Geschwister|einen Hund|eine Katze)",
            "Ich habe {answer}", "word", lead="(?:ich |wir )haben?|nur",
        ),
        question(r"(?:welche|wie viele) sprachen (?:sprichst du|sprechen (?-i:Sie)|kannst du|"
        r"können (?-i:Sie))",
                 "Ich spreche {answer}", "name", lead="ich spreche"),
        question(r"welche instrumente? (?:spielst du|spielen (?-i:Sie))|welches instrument (?:spielst du|"
        r"spielen (?-i:Sie))",
                 "Ich spiele {answer}", "name", lead="ich spiele"),
        *(
            question(*_verbs(*verb), "yes")
            for verb in (
                ("wohnst", "wohnen", "wohne"), ("lebst", "leben", "lebe"), ("bist", "sind", "bin"),
                ("arbeitest", "arbeiten", "arbeite"), ("hast", "haben", "habe"),
                ("sprichst", "sprechen", "spreche"), ("spielst", "spielen", "spiele"),
                ("magst", "mögen", "mag"), ("ziehst", "ziehen", "ziehe"),
            )
        ),
    ),
)  # fmt: skip
