"""German."""

from __future__ import annotations

from langmemory.formation.rules.retractions.english import COUPLE, JOB, OF_JOB, ROLES
from langmemory.formation.rules.retractions.frame import Ending, Frame, ending

_FILL = r"(?: (?!nicht\b|kein)[\wäöüß]+){0,4}?"
_NO_MORE = r"(?:nicht mehr|nicht länger|nie|niemals|nicht|kein\w* mehr|doch nicht)"
_END = (
    r"(?: (?:gestern|heute|letzt\w+ \w+|im \w+|am \w+|vor \w+ \w+|seit \w+|jetzt|inzwischen|leider|"
    r"endgültig|nun))*\W*$"
)
_DEAD = (
    r"(?:gestorben|tot|verstorben|verschieden|eingeschläfert(?: worden)?|überfahren(?: worden)?|"
    r"ums Leben gekommen|von uns gegangen)"
)

ENDINGS: list[Ending] = [
    *ending(
        "lives_in",
        rf"{{S}} (?:wohne|lebe|wohnen|leben|wohnt|lebt|bin|sind|wohn){_FILL} {_NO_MORE}(?: \w+)?? in {{O}}",
        rf"{{S}} (?:wohne|lebe|wohnen|leben|wohnt|lebt){_FILL} in {{O}} {_NO_MORE}",
        rf"{{S}} (?:bin|sind|ist){_FILL} (?:aus|von) {{O}}{_FILL} (?:weggezogen|ausgezogen|fortgezogen|"
        rf"weg|gezogen|weggegangen)",
        rf"{{S}} (?:habe|haben|hat){_FILL} {{O}}{_FILL} (?:verlassen|den Rücken gekehrt)",
        rf"{{S}} (?:wohne|wohnt|wohnen|leben|lebe){_FILL} dort {_NO_MORE}",
        r"{S} (?:wohnte|lebte|habe früher) .*{O}",
    ),
    *ending(
        JOB,
        rf"{{S}} (?:arbeite|arbeiten|arbeitet|bin|sind|jobbe){_FILL} {_NO_MORE}(?: \w+)?? (?:bei|für|in|"
        rf"an) {{O}}",
        rf"{{S}} (?:arbeite|arbeitet|bin){_FILL} (?:bei|für|in) {{O}} {_NO_MORE}",
        rf"{{S}} (?:habe|hat|haben){_FILL} (?:bei|in) {{O}}{_FILL} (?:gekündigt|aufgehört|hingeschmissen)",
        rf"{{S}} (?:habe|hat|haben|bin|ist|wurde){_FILL} {{O}}{_FILL} (?:verlassen|entlassen|gekündigt|"
        rf"verloren)",
        rf"(?:{{S}} )?(?:habe|hat|bin|ist|wurde|wurden|haben)(?: {{S}})?{_FILL} (?:gekündigt|entlassen|"
        rf"gefeuert|arbeitslos|"
        rf"gekündigt worden|rausgeworfen|in Rente|pensioniert)(?: worden)?{_END}",
        r"{M} (?:wurde|ist)(?: \w+)?? gekündigt",
        r"{S} (?:habe|hat) {O} (?:verloren|gekündigt|aufgegeben|geschmissen)",
        rf"{{S}} (?:habe|hat){_FILL} (?:{{P}}|den|die) (?:Job|Arbeit|Stelle|Arbeitsplatz){_FILL} "
        r"(?:verloren|gekündigt|aufgegeben|geschmissen)",
        rf"{{S}} arbeite(?:t)? (?:dort )?{_NO_MORE}{_END}",
    ),
    *ending(
        OF_JOB,
        rf"{{S}} (?:habe|bin|wurde){_FILL} (?:gekündigt|entlassen|gefeuert|arbeitslos)",
        r"{M} wurde gekündigt",
        unsure=True,
    ),
    *ending(
        "works_as diet religion has_condition",
        rf"{{S}} (?:bin|ist|sind|esse|lebe){_FILL} (?:kein\w*|nicht mehr|nicht|nicht länger)(?: (?:mehr|"
        rf"als))? {{O}}",
        rf"{{S}} arbeite(?:t)?{_FILL} (?:nicht mehr|nicht) als {{O}}",
        r"{S} (?:habe|hat) kein\w* {O}",
        r"{S} (?:bin|ist) {O} (?:los|nicht mehr)",
        r"{O} (?:ist|sind) (?:weg|geheilt|verschwunden|vorbei)",
        r"{S} (?:esse|isst)(?: \w+)? (?:wieder|jetzt) (?:Fleisch|Fisch|alles)",
        r"{S} war(?:en)?(?: früher)? {O}",
    ),
    *ending(
        COUPLE,
        rf"(?:{{S}} und {{O}}|{{O}} und {{S}}|{{S}}) (?:haben|sind|habe|bin)(?: {{M}})?{_FILL} "
        rf"(?:getrennt|geschieden|scheiden lassen|"
        rf"auseinander|Schluss gemacht|nicht mehr (?:zusammen|verheiratet|verlobt|ein Paar))",
        rf"{{S}} (?:habe|haben|bin){_FILL} (?:mit|von) {{O}}{_FILL} (?:Schluss gemacht|getrennt|"
        rf"scheiden lassen|geschieden)",
        rf"{{O}} (?:hat|ist){_FILL} (?:{{M}} )?(?:verlassen|Schluss gemacht|gegangen)",
        r"{S} (?:bin|ist)(?: \w+)? (?:geschieden|getrennt|Single|Witwer?|verwitwet|wieder single)",
        rf"{{S}} (?:bin|sind) {_NO_MORE} mit {{O}}",
        r"(?:die|{P}) (?:Verlobung|Ehe|Beziehung|Hochzeit) ist (?:vorbei|gelöst|geplatzt|zu Ende|abgesagt)",
    ),
    *ending(
        f"{COUPLE} {ROLES} lives_with",
        r"{O} ist (?:nicht|nicht mehr|kein\w*)(?: \w+)? {P} (?:mehr )?\w+",
        r"{O} ist nicht mehr {P}",
        r"{O} (?:ist|war) {P} (?:Ex|ehemalig)",
        r"{O} ist(?: \w+){0,2} (?:ausgezogen|weggezogen)",
    ),
    *ending(
        "has_pet owns has_vehicle",
        rf"{{S}} (?:habe|haben|hat|mussten|musste){_FILL} {{O}}{_FILL} (?:weggegeben|abgegeben|verkauft|"
        rf"verloren|hergegeben|einschläfern|"
        r"verschenkt|verschrottet|weggeworfen|zurückgegeben)",
        r"{S} (?:habe|haben|hat)(?: {O} nicht mehr| kein\w* {O}(?: mehr)?)",
        r"{O} ist(?: \w+)? (?:weggelaufen|entlaufen|weg|verkauft|gestohlen|"
        r"geklaut|gestohlen worden)",
        r"{O} (?:wurde|wurden)(?: \w+)? (?:gestohlen|verkauft|geklaut)",
    ),
    *ending(
        "allergic_to",
        rf"{{S}} (?:bin|ist){_FILL} (?:nicht mehr|nicht|doch nicht)(?: \w+)?? (?:allergisch (?:gegen|"
        rf"auf) {{O}}|(?:gegen|auf) {{O}} allergisch)",
        rf"{{S}} (?:bin|ist){_FILL} (?:gegen|auf) {{O}} (?:nicht mehr|nicht) allergisch",
        r"{O} ist (?:weg|verschwunden|vorbei)",
        r"{S} (?:habe|hat) keine {O}",
        r"{S} (?:kann|vertrage) (?:jetzt )?wieder {O}",
        r"{S} (?:kann|vertrage) {O} (?:jetzt )?wieder",
    ),
    *ending(
        "likes interested_in",
        r"{S} (?:mag|liebe|mögen|mag|esse|trinke)(?: \w+)?? (?:{O}(?: \w+)? (?:nicht mehr|nicht|nie)|"
        r"kein\w* {O} mehr)",
        r"{S} (?:hasse|verabscheue) {O}",
        r"{S} kann {O}(?: \w+)? nicht (?:mehr )?(?:ausstehen|sehen|leiden)",
        r"{S} habe (?:die Lust|das Interesse|genug) (?:auf|an|von) {O}",
        r"{O} (?:ist|sind) nichts mehr für {M}",
    ),
    *ending(
        "likes interested_in",
        rf"{{S}} (?:trinke|esse|gehe|mache|höre){_FILL} (?:kein\w* {{O}} mehr|{{O}} nicht mehr|nicht "
        rf"mehr {{O}})",
        rf"{{S}} habe{_FILL} mit {{O}}{_FILL} aufgehört",
        unsure=True,
    ),
    *ending(
        "dislikes",
        r"{S} mag {O}(?: \w+)? (?:jetzt|inzwischen|mittlerweile|doch)",
        r"{S} mag (?:jetzt|inzwischen|mittlerweile) {O}",
        r"{S} (?:hasse|verabscheue) {O} nicht mehr",
    ),
    *ending(
        "has_hobby studies uses takes_medication speaks member_of studies_at",
        rf"{{S}} (?:spiele|mache|lerne|nutze|benutze|verwende|nehme|spreche|studiere|singe|gehe|spielt|"
        rf"treibe){_FILL} "
        r"(?:nicht mehr|kein\w*|nicht)(?: (?:zum|zur|im|in|an der|an))? ?{O}",
        rf"{{S}} (?:spiele|mache|lerne|nutze|nehme|spreche|studiere){_FILL} {{O}} (?:nicht mehr|nicht)",
        rf"{{S}} (?:habe|hat|haben){_FILL} (?:mit|das|die|den|dem|der)? ?{{O}}{_FILL} (?:aufgehört|"
        rf"aufgegeben|abgesetzt|abgebrochen|gelöscht|"
        r"geschmissen|verlernt|verlassen)",
        r"{S} (?:habe|hat) aufgehört,? {O} zu \w+",
    ),
    *ending(
        "plans decided",
        rf"{{O}} (?:ist|wurde|wird|fällt|sind){_FILL} ?(?:abgesagt|gestrichen|geplatzt|vom Tisch|aus|"
        rf"storniert|gecancelt|ins Wasser gefallen|abgeblasen|nicht stattfinden)",
        rf"{{S}} (?:habe|haben|hat){_FILL} {{O}}{_FILL} (?:abgesagt|storniert|gestrichen|gecancelt|"
        rf"abgeblasen)",
        rf"{{S}} (?:fliege|fliegen|reise|reisen|fahre|fahren|ziehe|ziehen|gehe|gehen|besuche|besuchen|"
        rf"mache|machen){_FILL} (?:doch nicht|nicht mehr|nicht|nun doch nicht)"
        r"(?: \w+)?? (?:nach|zu|in)? ?{O}",
        r"aus {O} wird nichts",
        r"{S} heiraten (?:doch |nun )*nicht",
    ),
    *ending(
        "comes_from born_in born_on age",
        r"{S} (?:komme|bin|stamme|wurde)(?: \w+)? nicht (?:aus|in|am)? ?{O}",
        never=True,
    ),
]

GERMAN = Frame(
    code="de",
    cues=(
        r"\b(?:nicht|kein\w*|nie|weg\w*|aus|tot|gestorben|verstorben|eingeschläfert|einschläfern|"
        r"getrennt|geschieden|scheiden|Schluss|"
        r"gekündigt|entlassen|gefeuert|arbeitslos|verloren|verkauft|\w*gegeben|aufgehört|abgesagt|"
        r"storniert|meinte|sondern|"
        r"verlassen|Single|Witwe\w?|verwitwet|Ex|wieder|jetzt|hasse|gestohlen|geklaut|vorbei|falsch|"
        r"früher|Rente|los|weggezogen|"
        r"\w+gezogen|gestrichen|gelöscht|platzt\w*|geplatzt|abgesetzt|überfahren|nun|doch)\b"
    ),
    spelled_out=((r"\b([Hh])ab\b", r"\1abe"), (r"\b([Ww])ohn\b", r"\1ohne")),
    skip=(
        r"\b(?:wenn|falls|würde\w*|könnte\w*|vielleicht|wäre|hoffe|hoffentlich|fast|beinahe|ob|möchte|"
        r"möchten|will|wollte|werde|"
        r"überlege|noch nicht|nicht nur|ohne dass|nie aufgehört)\b"
    ),
    doubt=r"\b(?:ich glaube|glaub|angeblich|wahrscheinlich|wohl|scheinbar|sagt|sagte|meint|vermutlich|"
        r"gehört)\b",
    passing=r"\b(?:heute|morgen|diese Woche|gerade|im Moment|momentan|noch|vorerst|bis|immer|oft|jeden|"
        r"so gern|so gerne)\b",
    leads=(
        r"(?:(?:und|aber|also|ach|oh|nein|nee|ja|entschuldigung|sorry|leider|übrigens|eigentlich|naja|"
        r"tja|inzwischen|mittlerweile|"
        r"seit \w+|letzte \w+|letzten \w+|jetzt|nun|stimmt|moment|quatsch|korrektur|weil|dass|schlechte "
        r"nachrichten|gute nachrichten)\b[\s,:–—-]*)*"
    ),
    splits=r"\s*[;:–—]\s+|\s*,\s+(?=(?:ich|wir|er|sie|es|mein|meine|unser|der|die|das|und|aber|weil)\b)|"
        r"\s+(?:und|aber)\s+(?=(?:ich|wir|er|sie|es|mein\w*)\b)",
    me=r"\b(?:ich|wir)\b",
    my=r"\b(?:mein|meine|meinen|meinem|meiner|unser|unsere|unseren|unserem|unserer)\b",
    to_me=r"\b(?:mich|mir|uns)\b",
    others={"er": (r"\ber\b", r"\bsein\w*\b", r"\bih[nm]\b"), "sie": (r"\bsie\b", r"\bihr\w*\b", r"\bsie\b")},
    it=r"\b(?:es|das|ihn|sie|dort|davon)\b",
    them=r"\b(?:ihn|ihm|sie|ihr|er|es)\b",
    both=(r"(?:§S|§M) und §O", r"§O und §S"),
    articles=r"(?:mein\w*|unser\w*|de[rmns]|die|das|ein\w*|dies\w*|§P)",
    between=r"(?:,|nach|mit|bei|in|zu|aus|namens|gegen|auf)",
    nouns={
        "works_at": "Job|Stelle|Arbeit|Arbeitsplatz|Firma", "has_pet": "Haustier|Tier",
        "married_to": "Mann|Frau|Ehemann|Ehefrau|Ehe", "engaged_to": "Verlobung|Hochzeit|Verlobter|Verlobte",
        "partner_of": "Freund|Freundin|Partner|Partnerin|Beziehung", "allergic_to": "Allergie", "reports_to":
        "Chef|Chefin",
        "has_hobby": "Unterricht|Kurs|Training", "takes_medication": "Medikament|Tabletten",
    },
    plans=(
        (r"ziehen", "Umzug", r"(?:ziehen|umziehen)"),
        (r"reisen|fliegen|fahren|besuchen", "Flug|Reise|Urlaub|Fahrt|Besuch|Trip", r"(?:fliegen|reisen|"
            r"fahren)"),
        (r"heiraten", "Hochzeit|Trauung", r"(?:heiraten)"),
        (r"arzt|Termin|termin", "Termin|Arzttermin|Zahnarzttermin", r"(?:gehen)"),
    ),
    parts={"unplanned": r"(?!)<verbs>"},
    endings=tuple(ENDINGS),
    corrections=(
        r"(?:nein )?nicht (?:in |bei |am |aus |im )?(?P<old>[^,;]+?),? sondern (?:in |bei |am |aus |im "
        r")?(?P<new>[^,;]+)",
        r"(?:ich|wir) (?:meinte|meinten|meine|hätte sagen sollen)(?: natürlich| eigentlich)? "
        r"(?P<new>[^,;]+?)(?:,? (?:nicht|statt) (?P<old>[^,;]+))?",
        r"(?:es|das) ist(?: eigentlich)? (?P<new>[^,;]+?),? nicht (?P<old>[^,;]+)",
        r"[\w ]+? (?:in |bei |am |aus |im |ist |bin )?(?P<new>[^,; ]+),? (?:und )?nicht (?:in |bei |am |"
        r"aus |im )?(?P<old>[^,;]+)",
        r"(?P<new>[^,;]+?),? nicht (?:in |bei |am |aus )?(?P<old>[^,;]+)",
    ),
    again=r"(?:(?:nein|ach|oh)[ ,.–—-]+)*(?:sorry|entschuldigung|korrektur|quatsch|ich meine|äh)[ "
        r",:.–—-]+(?P<new>(?-i:[A-ZÄÖÜ0-9])\S*(?: \S+){0,2})",
    instead="ich meinte",
    denials=r"(?:das|es) (?:stimmt|ist) (?:nicht(?: mehr)?|falsch|vorbei|nicht mehr so|nicht wahr)",
    died=rf"(?:{{O}}|{{S}}) (?:ist|wurde|sind|war){_FILL} ?{_DEAD}|(?:{{O}}|{{S}}) starb\b|{{S}} "
        rf"(?:mussten|musste|haben|habe){_FILL} {{O}} "
    r"(?:einschläfern|eingeschläfert|beerdigt|begraben)|{S} bin(?: \w+)? (?:Witwer?|verwitwet)",
    forms=("n", "en", "e", "s", "er", "ern"),
)  # fmt: skip
