"""German."""

from __future__ import annotations

from langmemory.languages.language import Language, kinds, numbered, ordered, unit_words, word_set

GERMAN = Language(
    code="de",
    stop_words=word_set(
        """ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer
        anderes auch auf aus bei beim bin bis bist da dabei damit dann das dass dazu dein deine deinem
        deinen deiner dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir
        doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure für gegen
        geworden gewesen gibt hab habe haben hast hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre
        ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinem
        keinen keiner konnte konnten können könnte mal man mein meine meinem meinen meiner mich mir mit
        muss musste mussten nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen
        seiner seit selbst sich sie sind so solche soll sollte sollten sondern sonst über um und uns
        unser unsere unter viel viele vom von vor wann war waren warst warum was weil welche welchem
        welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieso will wir wird
        wirst wo wofür woher wohin wollte wollten womit woran worauf worden worüber wovon wovor wozu
        wurde wurden würde würden zu zum zur zwar zwischen"""
    ),
    endings=("", *ordered("e en n er ern es s em et t st te ten")),
    spellings={"ä": "ae", "ö": "oe", "ü": "ue"},
    questions={
        "now": (
            r"\b(jetzt|nun|zurzeit|zur zeit|derzeit|momentan|aktuell\w*|im moment|mittlerweile|inzwischen)\b",
            r"\b(noch|heutzutage|neueste\w*)\b",
        ),
        "before": (
            r"\b(früher\w*|vorher|davor|zuvor|ehemalig\w*|damals|ursprünglich|einst|bevor|ex)\b",
            r"\b(wohnte|wohntest|gewohnt|lebte|lebtest|gelebt|arbeitete|arbeitetest|gearbeitet|hatte)\b",
        ),
        "first": (r"\b(zuerst|ursprünglich|anfangs|am anfang|zunächst|anfänglich)\b",),
        "present": (
            r"^(?!.*\b(war|waren|warst|hatte\w*|wurde\w*|wann|früher|zuletzt|zuerst|ge\w{3,}t)\b)"
            r".*\b(ist|sind|bin|hat|habe|haben|heißt|wohnt|wohne|arbeite[tn]?|mag|kann|trinke|esse|fahre)\b",
        ),
        "change": (
            r"\bwie\b.*\b(verändert\w*|geändert|änderte\w*|entwickelt\w*|gewandelt|verlaufen|verlief)\b",
            r"\b(im lauf(e)?|im laufe) der\b|\büber die (jahre|monate|wochen|zeit)\b",
            r"\b(verlauf|entwicklung|geschichte|veränderung(en)?) (der|des|von|vom)\b",
        ),
        "count": (r"^\W*wie (viele?|oft)\b",),
        "when": (
            r"^\W*(seit |bis |ab )?wann\b",
            r"^\W*(seit )?wie lange\b",
            r"\b(an|in|zu) welche[mnrs]? (tag|datum|monat|jahr|woche|uhrzeit)\b",
            r"\bum wie viel uhr\b",
        ),
        "where": (
            r"^\W*(wo|wohin|woher)\b",
            r"\b(in|aus) welche[mnrs]? (stadt|land|ort|staat)\b",
        ),
        "who": (r"^\W*(mit |von |für |bei )?(wer|wem|wen|wessen)\b", r"\bwie hei(ß|ss)(t|en)\b"),
        "why": (r"^\W*(warum|weshalb|wieso|weswegen)\b", r"\baus welchem grund\b"),
        "preference": (
            r"\b(lieblings\w*|bevorzug\w*|mag|mögen|liebt|gern|gerne|hasst|schmeckt)\b",
        ),
        "relation": (
            r"\b(freund(in|e|innen)?|frau|mann|partner(in)?|schwester|bruder|mutter|vater|sohn"
            r"|tochter|kinder|chef(in)?|kolleg(e|in|en|innen)|verheiratet|verwandt)\b",
        ),
        "how": (r"^\W*wie\b",),
    },
    months=numbered(
        "januar jänner",
        "februar",
        "märz",
        "april",
        "mai",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "dezember",
    ),
    weekdays=numbered(
        "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag sonnabend", "sonntag"
    ),
    seasons={
        "frühling": (3, 3),
        "frühjahr": (3, 3),
        "sommer": (6, 3),
        "herbst": (9, 3),
        "winter": (12, 3),
    },
    asks_listener=(
        r"\b(hast|hattest) du\b.*\b(gesagt|empfohlen|vorgeschlagen|genannt|erwähnt|geraten|gegeben"
        r"|geschrieben|erklärt|aufgelistet|beschrieben|erzählt|gemeint|berechnet|gezeigt)\b",
        r"\b(gesagt|empfohlen|vorgeschlagen|genannt|erwähnt|geraten|gegeben|geschrieben|erklärt"
        r"|beschrieben|erzählt|gezeigt) (hast|hattest)\b",
        r"\b(sagtest|empfahlst|nanntest|meintest|rietest|rietst|schlugst|erwähntest|gabst) du\b",
        r"\bdu (mir |uns )?(\w+ )?(sagtest|empfahlst|nanntest|meintest|rietest|rietst|gabst)\b",
        r"\bdeine[mnr]? (rat|tipp|tipps|vorschl[aä]ge?|empfehlung(en)?|erklärung|antwort)\b"
        r"|\bdein (rat|tipp|vorschlag|rezept)\b|\blaut dir\b|\bdeiner (meinung|ansicht) nach\b",
    ),
    capital_nouns=True,
    own=r"\b(?:mein|unser)\w*\s+(\w+(?:\s+\w+)?)",
    courtesies={
        **dict.fromkeys(
            ("hallo", "servus", "moin", "grüß", "guten "),
            r"^\W*(?:hallo|servus|moin|grüß (?:gott|dich|euch)|guten (?:morgen|tag|abend))"
            r"(?: (?:du|zusammen|nochmal))?\s*[,.!…\n]\s*",
        ),
        "wie geht": r"\bwie geht(?:['’]?s| es)\b(?: (?:dir|ihnen|euch|so|heute))*\W*",
        "dank": r"(?<=[?!.,;…\n])\s*(?:vielen |herzlichen |besten |lieben )?danke?\b"
        r"(?: (?:dir|ihnen|schön|sehr|im voraus|schon mal))*\W*$",
        "bitte": r"(?:^\W*|,\s*)bitte\b,?\s*|\s+bitte\b(?=\W*$)",
        "sagen": r"\b(?:(?:kannst|könntest|würdest) du|(?:können|könnten|würden) sie) "
        r"(?:mir |bitte |vielleicht |kurz |nochmal |noch einmal |mal )*sagen\b\s*[:,]?\s*",
        **dict.fromkeys(
            ("weißt du", "wissen sie", "erinner"),
            r"\b(?:weißt du|wissen sie|erinnerst du dich|erinnern sie sich)"
            r"(?: (?:noch|vielleicht|eigentlich|daran|zufällig))*\s*[:,]\s*",
        ),
        "wissen": r"\bich (?:wollte|möchte|würde) (?:gerne? |mal |nur )*wissen\b\s*[:,]?\s*",
        "ich frage mich": r"\bich frage mich\b\s*[:,]?\s*",
        "sag": r"^\W*sag(?:e|en sie)? (?:mir |mal )+\s*[:,]?\s*",
        "frage:": r"\b(?:eine |nur |kurze |kleine )*frage\s*:\s*",
        "übrigens": r"\bübrigens\b,?\s*",
    },
    fillers=word_set(
        """abend abends ach achso alles aha bitte bis bescheid besten bravo cool danach danke dankeschön
        dann einverstanden erstmal exakt fein frage freut freue ganz genau gern gerne gerngeschehen gut
        gute guten guter gutes gruß grüße grüß hallo hey hi hilft hilfreich hm hmm herzlichen haha
        interessant ja jawohl jo klar klasse klingt kurze lieben lieb machen mach moin morgen nacht nee
        nein nett ok okay passt perfekt prima prost richtig ruhe sehen servus schade schau schon schön
        schöne schönen schönes später spitze stimmt super tag tja toll tschau tschö tschüs tschüss
        ugh verstanden verstehe viel vielen vielleicht voll weiter wiedersehen woche wochenende wow
        wunderbar wünsche weißt heute sag mal dank dir ihnen logo geht los lass bald bisschen
        notiert vermerkt"""
    ),
    unknowing=word_set(
        """ahnung angabe angaben antwort bekannt bisher daten davon erinnere erinnern erwähnt erzählt
        finde gefunden gesagt gespeichert gespräch information informationen keinerlei leider mitgeteilt
        sagen sicher unbekannt weiß wissen wüsste worüber zugriff"""
    ),
    negations=word_set(
        "kein keine keinen keiner keinerlei leider nein nicht nichts nie noch unbekannt"
    ),
    reworks=(
        r"^\W*(?:(?:kannst|könntest|würdest) du |bitte |mach |schreib |sag |mal )*(?:das|es|den text"
        r"|die antwort)\b(?!.*\b(?:ich|mein\w*|wir|unser\w*)\b).{0,24}\b(?:kürzer|länger|formeller|anders"
        r"|einfacher|wiederholen|erklären|umformulieren|übersetzen|kürzen|noch ?mal)\b.{0,24}$",
    ),
    question_words=word_set(
        """was wann wo wohin woher wer wem wen wessen welche welcher welches welchen wie warum weshalb
        wieso"""
    ),
    requests=word_set(
        """ist sind war hat habe hast kann kannst könntest soll sollte sag nenne zeig erinnere weißt"""
    ),
    impersonal=(r"\bwie (?:kann|könnte|mache?|bekomme|soll) (?:ich|man|wir)\b",),
    first_person=word_set(
        """ich mich mir mein meine meinem meinen meiner meines wir uns unser unsere unserem unseren
        unserer unseres"""
    ),
    references=word_set("dieser diese dieses diesen diesem jene jener jenes jenen nochmal damals"),
    corrections=(
        r"^\W*(nein|nee|nö|falsch|quatsch|unsinn|korrektur)\b(?!\W*(danke|kein problem))",
        r"\bstimmt(e)? (\w+ ){0,2}nicht\b",
        r"\b(das|es|dies) (ist|war) (\w+ ){0,2}(falsch|verkehrt|quatsch|unsinn)\b",
        r"\bnicht (wahr|richtig|korrekt|das, was ich)\b",
        r"\bich (meinte|wollte sagen)\b|\b(habe? ich|ich habe?) (das )?(nie|nicht) (gesagt|gemeint)\b",
        r"\bdu (irrst|verwechselst)\b|\b(falsch verstanden|missverstanden|falsch gemerkt)\b",
        r"\b(hilft|half) (\w+ ){0,2}nicht\b|\bnutzlos\b",
    ),
    relative={
        r"\bheute\b": ("day", 0),
        r"\bvorgestern\b": ("day", -2),
        r"\b(gestern|letzte nacht)\b": ("day", -1),
        r"\bübermorgen\b": ("day", 2),
        r"\b(letzte[sn]?|vorige[sn]?|vergangene[sn]?) wochenende\b": ("weekend", -1),
        r"\bdieses wochenende\b": ("weekend", 0),
        r"(?<!am )(?<!guten )(?<!jeden )(?<!den )(?<!der )(?<!eines )(?<!tag )(?<!mittwoch )"
        r"\bmorgen\b": ("day", 1),
        r"\bdieser? woche\b": ("week", 0),
        r"\b(letzte|vorige|vergangene)[nr]? woche\b(?! (im|des|vom)\b)": ("week", -1),
        r"\b(nächste|kommende)[nr]? woche\b": ("week", 1),
        r"\bdiese[nm] monat\b": ("month", 0),
        r"\b(letzte|vorige|vergangene)[nm]? monat\b": ("month", -1),
        r"\b(nächste|kommende)[nm]? monat\b": ("month", 1),
        r"\b(dieses|in diesem) jahr\b": ("year", 0),
        r"\b(letzte|vorige|vergangene)[mns]? jahr\b": ("year", -1),
        r"\b(nächste|kommende)[ns]? jahr\b": ("year", 1),
    },
    last=word_set("letzte letztem letzten letzter letztes vorigem vorigen vergangenem vergangenen"),
    numbers={"ein": 1, "einem": 1, "einer": 1, "paar": 5}
    | numbered("eins", *ordered("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")),
    units=unit_words(
        day="tag tage tagen",
        week="woche wochen",
        month="monat monate monaten",
        year="jahr jahre jahren",
    ),
    counted={
        r"\bvor {n} {unit}\b": "ago",
        r"\b(?:letzten|vergangenen) {n} {unit}\b": "lately",
    },
    persons=r"\b(?:ist|hat|hatte|hei(?:ß|ss)t|der|die|mit|frau|herrn?)\s+{month}\b(?!\s+\d)",
    since=("seit", "ab", "nicht vor", "frühestens"),
    onwards={"von": "an|bis|ab", "vom": "an|bis|ab", "am": "oder (?:später|danach)"},
    after=("nach", "später als"),
    before=("vor", "früher als"),
    until=(
        r"bis(?: spätestens| einschließlich| inklusive)?",
        "spätestens",
        r"nicht (?:später als|nach)",
        r"(?:mit )?stand(?: vom)?",
        "zum",
        "per",
    ),
    around=("um", "gegen", "rund um", "etwa", "ungefähr", "circa", r"ca\.", "um die zeit"),
    other_side={
        "until": r"spätestens|oder (?:früher|davor|vorher)",
        "since": r"oder (?:später|danach)|frühestens",
        "around": r"herum",
    },
    between=r"(?:etwa|ungefähr|circa|ca\.|mindestens|spätestens|am|im|in|mittag|mitternacht"
    r"|(?:zum |dem |den )?(?:morgen|mittag|abend|nachmittag|ende|tag) des"
    r"|\d{1,2}(?:[:.]\d\d)?\s*uhr(?: am)?)",
    parts={"first": "anfang|beginn", "middle": "mitte", "last": "ende"},
    shifted={
        r"(?:{n} |\b(?:die|der|das|dem|den|am) ){unit} vor": -1,
        r"(?:{n} |\b(?:die|der|das|dem|den|am) ){unit} nach": 1,
    },
    coming=r"\b(?:muss|müssen|musst|soll|sollen|sollst|wird|werden|wirst|fällig|geplant|frist|abgabe)\b",
    ranges={"zwischen": "und", "von": "bis", "": "bis|[-–—]"},
    temporal_words=word_set(
        """gestern heute morgen vorgestern übermorgen neulich kürzlich bald letzte letzten letzter
        letztes nächste nächsten nächster nächstes tag tage tagen woche wochen wochenende monat
        monate monaten jahr jahre jahren abend nacht nachmittag montag dienstag mittwoch donnerstag
        freitag samstag sonntag frühling sommer herbst winter januar februar märz april mai juni
        juli august september oktober november dezember geburtstag jahrestag"""
    ),
    kinds=kinds(
        (
            "stadt städte",
            "berlin hamburg münchen köln frankfurt stuttgart leipzig dresden wien graz zürich basel "
            "bern paris london rom madrid barcelona lissabon amsterdam prag budapest istanbul",
        ),
        (
            "land länder ausland",
            "deutschland österreich schweiz frankreich italien spanien portugal griechenland türkei "
            "polen england irland schottland schweden norwegen dänemark niederlande belgien kroatien "
            "amerika kanada mexiko brasilien china japan indien thailand australien ägypten marokko",
        ),
        (
            "hobby hobbys freizeit",
            "lesen malen zeichnen töpfern stricken nähen gärtnern kochen backen fotografieren angeln "
            "wandern camping schwimmen laufen radfahren klettern yoga tanzen singen gitarre klavier",
        ),
        (
            "sport sportart sportarten",
            "fußball basketball handball tennis golf volleyball schwimmen laufen marathon radfahren "
            "skifahren surfen boxen turnen klettern badminton reiten",
        ),
        (
            "instrument instrumente",
            "gitarre klavier geige cello flöte klarinette saxofon trompete schlagzeug harfe",
        ),
        ("haustier haustiere", "hund katze kaninchen hamster papagei schildkröte wellensittich"),
        ("familie verwandte", "mutter vater schwester bruder sohn tochter oma opa tante onkel"),
        ("kinder kind", "sohn tochter baby zwillinge"),
        (
            "beruf arbeit job",
            "lehrer lehrerin ärztin arzt krankenpfleger ingenieur anwalt koch kellner fahrer "
            "verkäufer programmierer architekt journalist therapeutin",
        ),
        (
            "essen gericht gerichte speise speisen",
            "pizza nudeln suppe salat reis brot käse huhn fisch kuchen kartoffeln gemüse schnitzel",
        ),
        ("getränk getränke", "kaffee tee bier wein saft wasser limonade"),
        ("allergie allergien allergisch", "erdnüsse nüsse gluten laktose pollen asthma"),
    ),
)
