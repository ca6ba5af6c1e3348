"""German. Nouns have capitals too, so names need more around them than in English."""

from __future__ import annotations

from langmemory.formation.rules.grammar import Grammar, rule
from langmemory.languages import GERMAN as LEXICON
from langmemory.languages.language import numbered, ordered, word_set

KIN = {
    word: role
    for role, words in {
        "mother": "Mutter Mama", "father": "Vater Papa", "sister": "Schwester", "brother": "Bruder",
        "wife": "Frau Ehefrau", "husband": "Mann Ehemann", "partner": "Partner Partnerin",
        "fiancé": "Verlobter Verlobte Verlobten", "daughter": "Tochter", "son": "Sohn",
        "grandmother": "Oma Großmutter", "grandfather": "Opa Großvater", "aunt": "Tante",
        "uncle": "Onkel", "cousin": "Cousin Cousine", "niece": "Nichte", "nephew": "Neffe",
        "friend": "Freund Freundin", "colleague": "Kollege Kollegin", "boss": "Chef Chefin",
        "neighbour": "Nachbar Nachbarin", "flatmate": "Mitbewohner Mitbewohnerin",
        "landlord": "Vermieter Vermieterin", "grandson": "Enkel Enkelsohn",
        "granddaughter": "Enkelin Enkeltochter", "mother in law": "Schwiegermutter",
        "father in law": "Schwiegervater", "sister in law": "Schwägerin",
        "brother in law": "Schwager", "son in law": "Schwiegersohn",
        "daughter in law": "Schwiegertochter", "stepmother": "Stiefmutter",
        "stepfather": "Stiefvater", "stepsister": "Stiefschwester", "stepbrother": "Stiefbruder",
        "stepdaughter": "Stieftochter", "stepson": "Stiefsohn",
        "godmother": "Patentante Taufpatin", "godfather": "Patenonkel Taufpate",
    }.items()
    for word in words.split()
}  # fmt: skip
PETS = (
    "Hund", "Hündin", "Welpe", "Windhund", "Pudel", "Dackel", "Katze", "Kater", "Kaninchen",
    "Hamster", "Papagei", "Wellensittich", "Pferd", "Schildkröte", "Meerschweinchen",
)  # fmt: skip
JOBS = (
    r"(?:Lehrer|Ingenieur|Anwält|Anwalt|Architekt|Journalist|Kellner|Fahrer|Verkäufer|Programmierer"
    r"|Entwickler|Softwareentwickler|Köch|Koch|Therapeut|Krankenpfleger|Pfleger|Erzieher|Bäcker"
    r"|Metzger|Tischler|Schreiner|Elektriker|Mechaniker|Informatiker|Physiker|"
    r"Chemiker|Biolog|Biologe"
    r"|Psycholog|Psychologe|Zahnärzt|Zahnarzt|Tierärzt|Tierarzt|Ärzt|Arzt|Apotheker|Optiker|Friseur"
    r"|Musiker|Schauspieler|Fotograf|Übersetzer|Dolmetscher|Buchhalter|Steuerberater|Polizist"
    r"|Pilot|Gärtner|Landwirt|Designer|Grafiker|Kartograf|Forscher|Professor|Student|Hebamme"
    r"|Krankenschwester|Florist|Kaufmann|Kauffrau|Sekretär|Dachdecker|Maurer|Maler|Bestatter|Schneider"
    r"|Sozialarbeiter|Meister|[A-ZÄÖÜ][a-zäöü]{2,}(?:lehrer|ingenieur|entwickler|therapeut|verkäufer|pfleger"
    r"|mechaniker|berater|techniker|bauer|meister|anwält|arbeiter|händler|designer|forscher)"
    r"|Toningenieur|Schriftsteller|Redakteur|Bibliothekar|Richter|Pfarrer)(?:in)?"
)
LANGUAGES_SPOKEN = (
    "Deutsch|Englisch|Französisch|Spanisch|Italienisch|Portugiesisch|Niederländisch|Schwedisch"
    "|Norwegisch|Dänisch|Finnisch|Polnisch|Tschechisch|Ungarisch|Rumänisch|Griechisch|Türkisch"
    "|Russisch|Ukrainisch|Arabisch|Hebräisch|Persisch|Hindi|Chinesisch|Japanisch|Koreanisch"
    "|Kroatisch|Serbisch|Katalanisch|Latein"
)
NUMBERS = numbered(
    *ordered(
        """
        eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn
        siebzehn achtzehn neunzehn
        """
    )
) | {
    f"{one}und{ten}" if one else ten: 10 * tens + ones
    for tens, ten in enumerate(
        ordered("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"), 2
    )
    for ones, one in enumerate(("", *ordered("ein zwei drei vier fünf sechs sieben acht neun")))
}
NOW = (
    r"(?:(?:jetzt|nun|derzeit|aktuell|momentan|gerade|noch|immer|schon|auch|eigentlich|inzwischen"
    r"|aber|ewig|allein|alleine|zusammen|mittlerweile|übrigens|ja|endlich|wieder|sehr|wirklich|"
    r"total|besonders|am|liebsten|vollzeit|teilzeit|halbtags|Vollzeit|Teilzeit) )*"
)
END = (
    r"(?=(?:\s|{time})*(?:$|[.,;:!–—]|\b(?:und|aber|mit|weil|denn|so|seit|"
    r"bei|in|an|auf|am|im|sehr|auch)\b))"
)

GERMAN = Grammar(
    code="de",
    respelled=(
        (r"(?<!\w)([Hh]ab|[Ww]ohn|[Ll]eb)(?!\w)", r"\1e"),
        (r"(?<![\w.])[Ii] (?=(?:bin|habe|wohne|lebe|arbeite|mag)\b)", "ich "),
        (r"(?<!\w)([Hh]ei)ss(e|t)(?!\w)", r"\1ß\2"),
        (r"(?<!\w)Gross(mutter|vater)(?!\w)", r"Groß\1"),
    ),
    frames=(
        r"\b(?:stell(?:t|en)? (?:dir|euch|sie sich) (?:mal )?vor|angenommen|nehmen wir (?:mal )?an|tu so|"
        r"rollenspiel|"
        r"(?:meine|die) figur|hauptfigur|(?:in|aus) (?:meinem|dem|einem) (?:roman|traum|stück|spiel))\b|"
        r"^lieber? [a-zäöüß]+,"
    ),
    plays=(
        r"\b(?:(?:lass(?:t)? uns|wir (?:machen|spielen)|starte\w*|beginne\w*) (?:ein |das |"
        r"mit dem )?rollenspiel|"
        r"meine? (?:figur|charakter)|ich wirke (?:einen )?\w*zauber\w*)\b"
    ),
    plays_no_more=(
        r"\b(?:im ernst jetzt|jetzt im ernst|ende des (?:spiels|rollenspiels)|spiel (?:aus|vorbei|ende)|"
        r"pause|"
        r"zurück zur realität|neues thema|andere frage)\b"
    ),
    void=(
        r"\b(?:wenn|falls|ob|als ob|witz|scherz|haha|lol|ironie|film|roman|geschichte|"
        r"nein,? doch|(?<=, )(?:nein|quatsch|ich meine|besser gesagt)|abgesagt|storniert|geschieden|"
        r"doch nicht|na toll|na super|von wegen|daraus wurde nichts)\b|/s\b|🙄|😏"
    ),
    withdraws=(
        r"^\W*(?:(?:nur |war (?:nur )?(?:ein )?)?(?:spaß|scherz|witz)|schön wär'?s|von wegen|"
        r"(?:aber )?daraus (?:wurde|wird) nichts|(?:aber )?das (?:ist|wurde) (?:abgesagt|geplatzt))\b|🙄|😏"
    ),
    unclear=(
        r"\b(?:würde|würden|wäre|wären|hätte|hätten|könnte|könnten|sollte|sollten|soll|möchte|wollte|wollten|"
        r"vielleicht|wahrscheinlich|vermutlich|eventuell|wünschte|wünsche|irgendwann|"
        r"hoffe|hoffentlich|träume|träumt|fast|beinahe|nie|niemals|"
        r"sagt|sagte|sagten|sagen|gesagt|meint|meinte|fragt|fragte|behauptet|behauptete|schreibt|"
        r"schrieb|erzählt|erzählte|glaubt|glaube|dachte|denke|angeblich|laut)\b"
    ),
    but=r"\baber\b",
    anew=r"\b(?:und|aber|denn)\b",
    asks=(
        r"(?:\s*[,;:–—]\s*|\s+-+\s+|\s+(?=(?:und|aber)\b))(?:(?:und|aber|also|oder|dann)\s+)*"
        r"(?:(?:was|wie|wo|wann|wer|wen|wem|welche\w*|warum|wieso|weshalb|wohin|woher|womit)\b|"
        r"(?:hast|kannst|könntest|weißt|würdest|magst) du\b|"
        r"(?:kann|soll|sollte|muss|darf|brauche?n?|habe?n?|ist|sind|gibt|lohnt|geht|macht) "
        r"(?:ich|wir|man|das|es|sich|da)\b(?!\W*$))"
    ),
    openers=(
        r"(?:und|aber|also|na|oh|ach|hallo|hi|hey|moin|servus|ja|genau|okay|ok|übrigens|eigentlich|"
        r"jetzt|nun|außerdem|denn|gut|guten morgen|guten abend|guten tag|danke|neuigkeiten|"
        r"zur info|nur damit du es weißt|leider|endlich|inzwischen|mittlerweile|derzeit|aktuell|"
        r"puh|uff|ach ja|ach so|mensch|tja|naja|na ja|hallihallo|servus|grüß dich|kurze info|kurzes update|"
        r"kurz gesagt|ach übrigens|im ernst|unter uns|so|nebenbei|zum glück|ganz ehrlich|"
        r"seitdem|dort|da|wichtig|tatsächlich|ehrlich gesagt)\b[\s,:.!–—-]*"
    ),
    takes_back=(
        r"(?:nein|nee|sorry|entschuldigung|moment|korrektur|ich meinte|falsch)"
        r"\b[\s,:.!–—-]*"
    ),
    no=r"(?:nein|nee)\b",
    announces=(
        r"\b(?:sachen?|dinge?|neuigkeit(?:en)?|neues|über mich|zu mir|fakt(?:en)?|hintergrund|"
        r"kontext|ab jetzt|ab sofort|künftig|zukunft|antwort|kurze?|frage|info|update|erinnerung|wissen|"
        r"stand|"
        r"privates|persönliches|allergien?|hobbys?|haushalt|familie)\b"
    ),
    denied=r"(?:(?!\b(?:aber|und|oder|sondern|weil|denn)\b)[^,;])*\b(?:nicht|nie|kein\w*)\b",
    breaks=(
        r"(?:\s*[,;:–—]\s*|\s+-+\s+)(?:und\s+|aber\s+|denn\s+)?(?=(?:(?:[Ii]ch|[Ww]ir|[Mm]eine?|"
        r"[Uu]nsere?)\b|"
        r"(?:er|sie|es|der|die) {third}\b))"
        r"|\s+(?:und|aber)\s+(?=(?:er|sie) {third}\b)"
        r"|\s*,?\s+(?:und|aber)\s+(?=(?:{time}\s*)?[a-zäöüß]+\s+(?:ich|wir)\b)"
        r"|\s*[,;]\s*(?:und\s+|aber\s+)?(?=(?:wohne|lebe|arbeite|bin|habe|ziehe|studiere|spreche)\b)"
        r"|\s+(?:und|aber|denn)\s+(?=(?:ich|wir|meine?|unsere?)\b)"
        r"|\s+und\s+(?=(?:wohne|wohnt|wohnen|lebe|lebt|leben|arbeite|arbeitet|arbeiten|studiere|"
        r"studiert|spreche|spricht|liebe|liebt|mag|hasse|habe|hat|haben|spiele|spielt|bin|ist)\b)"
    ),
    half=r"(?:{my} {adjectives}(?:{kin})(?: {Word})?|{Word})\s+und\s+",
    carried=(
        r"(?:wohne|wohnt|wohnen|lebe|lebt|leben|arbeite|arbeitet|arbeiten|studiere|"
        r"studiert|spreche|spricht|liebe|liebt|mag|hasse|habe|hat|haben|spiele|spielt|bin|"
        r"ist)\b"
    ),
    # Who writes in haste leaves "ich" out; the verb still says who speaks.
    i=(
        r"(?:[Ii]ch\b|(?=(?:[Bb]in|[Ww]ohne|[Ll]ebe|[Aa]rbeite|[Hh]abe|[Zz]iehe|[Ss]tudiere|[Ss]preche|"
        r"[Ff]liege|[Ff]ahre)\b))"
    ),
    we=(
        r"(?:[Ww]ir|{my} {adjectives}(?:{kin})(?: {Word})? und ich|{Word} und ich)\b"
    ),
    names_by_capital=False,
    he=r"(?:[Ee]r|der)(?= {third}\b)",
    she=r"(?:[Ss]ie|die)(?= {third}\b)",
    my=r"(?:[Mm]eine?[rmns]?|[Uu]nsere?[rmns]?)",
    inverted=r"(?P<verb>[a-zäöüß]+) (?P<subject>ich|wir)\b",
    kin=KIN,
    kin_adjectives=(
        r"(?:(?:beste|bester|besten|kleine|kleiner|kleinen|große|großer|großen|ältere|"
        r"älterer|älteren|jüngere|jüngerer|jüngeren|liebe|gute|guter|neue|neuer) )*"
    ),
    pets=PETS,
    numbers=NUMBERS,
    user="der Nutzer",
    genitive=("{s}s", "{s}’", "des Nutzers"),
    we_text="{s} (mit anderen)",
    whose="{g} {kin}",
    kin_text="{o} ist {whose}.",
    pet_text="{s} hat ein Haustier namens {o} ({kin}).",
    aside=r"^, (?:der|die|er|sie)\b(?: )?",
    resumed=r"^(?: {Word})?(?:, {my} {adjectives}(?:{kin})\b,?)?(?: )?(?:, (?:der|die|er|sie)\b)?(?: )?",
    time_lead=r"^(?:am|im|an|in|den|dem)\s+(?:(?:dem|den)\s+)?",
    leaning=(
        r"\b(?:ich|wir|du|ihr|es|das zu|dies|dieses|diese|diesen|er|ihn|ihm|ihnen|da|dort|"
        r"hier|so)\b"
    ),
    relative=r"{my} {adjectives}(?P<kin>{kin})(?: (?P<name>{Word}))?,?(?=\s|$|{time})",
    mention=r"\b{my} {adjectives}(?P<kin>{kin})\b(?: (?P<name>{Word}))?",
    pet_mention=(
        r"\b(?:{my} |(?:[Ii]ch|[Ww]ir|[Hh]aben?|[Hh]ab)\b[^,;.]{0,40}?\b(?:einen?|eine|den|die|das) "
        r"(?:[a-zäöüß]+ )?)(?P<pet>{pet})\b"
    ),
    others=(
        r"\b(?:ein|eine|einen|einem|einer|der|die|den|dem|ihr\w*|sein\w*|dein\w*|diese\w*|kein\w*) "
        r"(?:[a-zäöüß]+ )?(?:{kin}|{jobs}|{pet}|{folk})\b|\b{my} {folk}\b|"
        r"\b(?:mit|von|zu|für|und|kennt|kenne|traf|besucht|getroffen) {Word}"
    ),
    its_name=(
        r"(?:[Ee]r|[Ss]ie|[Ee]s|der|die|das) heißt (?P<name>{Word})|"
        r"(?:[Ss]ein|[Ii]hr) Name ist (?P<name2>{Word})"
    ),
    # "weil meine Mutter Krebs hat", "meiner Mutter Blumen": a noun that follows is no name yet.
    kin_name=(
        r"(?:^|, |\b(?:mit|von|bei|und|ohne|zu) ){my} {adjectives}(?P<kin>{kin})(?:, (?:der|die)(?: alte| "
        r"neue)?)?,? {title}(?P<name>{Word})"
        r"(?=\s*(?:$|[.,;!]|und\b)| (?:wohnt|lebt|arbeitet|ist|hat|heißt|studiert|spricht|"
        r"mag|kommt|zieht)\b)|"
        # Before the verb of a main clause stands no second noun.
        r"(?:^|, )(?:(?:[Aa]lso|[Üü]brigens|[Jj]a|[Nn]a|[Aa]ber|[Uu]nd|[Oo]h|[Aa]ch)[ ,]+)*{my} "
        r"{adjectives}(?P<kin2>{kin}) (?P<name2>{Word})"
        r"(?= (?!(?:und|oder|von|vom|mit|in|aus|im|am|an|bei|für|auf|zu|zum|zur|der|die|das|dem|den|nach|"
        r"ohne|um|als|wie)\b)[a-zäöüß]+)"
    ),
    pet_name=(
        r"(?:^|, |\b(?:mit|von|und) ){my} {adjectives}(?P<kin>{pet}),? (?P<name>{Word})"
        r"(?=\s*(?:$|[.,;!]|und\b)| (?:ist|hat)\b)|(?P<name2>{Word})(?: )?, {my} "
        r"{adjectives}(?P<kin2>{pet})(?=\s*(?:$|[.,;!)]))"
    ),
    died=(
        r"\b(?:gestorben|stirbt|starb|verstorben|tot|tote[nrs]?|eingeschläfert|verabschied\w*|abschied|"
        r"überfahren)\b"
    ),
    not_names=LEXICON.stop_words
    | LEXICON.temporal_words
    | frozenset(LEXICON.months)
    | word_set(
        """gott herr frau doktor krebs angst geld blumen besuch hilfe recht urlaub zeit lust hunger
        fieber corona grippe probleme stress ärger schmerzen geburtstag sorgen
        regen nacht wind bedarf gelegenheit tag licht hitze arbeit laune"""
    ),
    not_places=word_set(
        """untermiete angst scheidung frieden miete armut sünde wg freude ruhe bewegung arbeit
        saus dusche mangel nähe stadt vergangenheit hoffnung
        gefahr not trennung zukunft hause eile sorge stimmung form urlaub rente
        elternzeit quarantäne kontakt ordnung schwierigkeiten behandlung betrieb ikea lidl aldi
        slack jira notion linux windows python rust docker github teams zoom"""
    ),
    no_allergens=(
        r"(?:\w+ )?(?:\w+(?:ung|heit|keit|schaft|ismus|tät)(?:en)?|fragen|witze|drama|montage|regeln|sport|"
        r"aufgaben|geld|liebe|kinder|männer|frauen|idioten|mathe|chaos|lärm|stille|deadlines?|termine|"
        r"meetings?)"
    ),
    not_things=(
        r"(?:es|das|dass|dies|diese[rsnm]?|dich|mich|ihn|sie|ihr|uns|euch|wie|wenn|was|"
        r"der|die|den|dem|"
        r"ein|eine|einen|mein|meine|meinen|dein|deine|deinen|unser|alles|nichts|so|zu|"
        r"nicht|hier|da|"
        r"dummheit|arbeit|montage|gern|gerne|sehr|keine?n?|viel|mehr|etwas|war|bin|ist|habe|hatte|ging)\b"
    ),
    theirs={"mein": "das", "meine": "die", "meinen": "den", "unser": "das", "unsere": "die",
            "unseren": "den", "mich": "sich", "mir": "sich", "uns": "sich"},
    and_=r"\s*,?\s*\b(?:und|oder)\b\s*|\s*,\s*",
    placeholders={
        "food": (
            r"(?:Fleisch|Schweinefleisch|Rindfleisch|Fisch|Meeresfrüchte|Milch|Milchprodukte|Gluten|"
            r"Weizen|Zucker|Eier|"
            r"Nüsse|Erdnüsse|Brot|Käse|Alkohol|Kaffee|Pilze|Zwiebeln|Knoblauch|Soja|Laktose)"
        ),
        "condition": (
            r"(?:Diabetes(?: Typ [12])?|Asthma|Zöliakie|Bluthochdruck|Arthrose|Rheuma|Epilepsie|Migräne|ADHS|"
            r"Neurodermitis|Heuschnupfen|Laktoseintoleranz|Depressionen|Endometriose|Tinnitus|Osteoporose|"
            r"Gicht|"
            r"Multiple Sklerose|Parkinson)"
        ),
        "goods": (
            r"(?:(?:{makes})(?: [A-Z][\w-]*)?|Auto|Wagen|Motorrad|Roller|E-Bike|Lastenrad|Rennrad|Fahrrad|"
            r"Boot|Wohnmobil|Klavier|Haus|Wohnung|Laptop)"
        ),
        "makes": (
            r"Golf|Polo|Passat|Touran|Tiguan|Caddy|VW|Volkswagen|Skoda|Škoda|Seat|Audi|BMW|Mercedes|Opel|"
            r"Corsa|Astra|"
            r"Ford|Fiesta|Focus|Toyota|Corolla|Yaris|Honda|Nissan|Mazda|Kia|Hyundai|Renault|Clio|Peugeot|"
            r"Citroën|"
            r"Dacia|Fiat|Panda|Volvo|Saab|Suzuki|Tesla|Jeep|Mini|Vespa|Yamaha|iPhone|Pixel|Galaxy|Samsung|"
            r"Fairphone|"
            r"Huawei|Xiaomi|Motorola|MacBook|ThinkPad|Kindle"
        ),
        "title": r"(?:Frau |Herrn? )?(?:Dr\. |Prof\. )?",
        "third": (
            r"(?:ist|hat|wohnt|lebt|arbeitet|heißt|studiert|spricht|mag|liebt|hasst|kommt|zieht|fängt|spielt)"
        ),
        "folk": (
            r"(?:Typ|Kerl|Leute|Kind|Kinder|Baby|Zwillinge|Mitbewohner(?:in)?|Vermieter(?:in)?|Ex|Kunde|"
            r"Kundin|"
            r"Kunden|Eltern|Team|Herr|Dame|Junge|jemand)"
        ),
        "now": NOW, "end": END, "jobs": JOBS, "languages": LANGUAGES_SPOKEN,
        "Name": r"{Word}(?: {Word})?",
        "Place": (
            r"(?:(?:der|die)\s+(?=(?:Schweiz|Türkei|Ukraine|Slowakei|Mongolei|Pfalz|Eifel|Lausitz|"
            r"Steiermark|Toskana|Provence|Bretagne|Normandie)\b)|(?:den|die)\s+(?=(?:USA|Staaten|"
            r"Niederlanden?|Philippinen|Malediven|Vereinigten)\b))?"
            r"{Word}(?:(?: (?:am|an der|im|ob der|bei))? {Word}){0,2}"
        ),
        "Org": (
            r"(?:(?:einem|einer|dem|der) [\wäöüß -]{2,40}?namens )?(?:der |dem )"
            r"?(?P<object>{Company})"
        ),
        "Company": r"{Word}(?: (?:für |der |und |& )?{Word}){0,3}",
        "several": r"(?:zwei|drei|vier|fünf|sechs|[2-6])(?: [a-zäöüß]+)?",
        "names": r"{Word}(?:, {Word}){0,4} und {Word}",
        "thing": r"[\wäöüß][\w-]+(?: [\w-]+)?",
        "things": (
            r"[\wäöüß][\w-]+(?: [A-ZÄÖÜ][\w-]+)?(?:(?:, | und |, und )[\wäöüß][\w-]+(?: "
            r"[A-ZÄÖÜ][\w-]+)?){0,3}"
        ),
        "phrase": r"[\wäöüß][^.!?;:()]{2,100}?",
    },
    rules=(
        rule(
            r"{my} Name ist <Name>",
            "{s} heißt {o}.", "named", entity=False, whole=True, importance=0.8,
        ),
        rule(
            r"heiße {now}<Name>(?!.*\bwillkommen\b)",
            "{s} heißt {o}.", "named", entity=False, importance=0.8,
        ),
        rule(r"{my} {adjectives}(?P<kinship>{kin}) heißt <Word>", "", "kin", whole=True),
        rule(r"{my} {adjectives}(?P<pet>{pet}) heißt <Word>", "", "pet", whole=True),
        rule(
            r"(?:habe|hat|haben) (?:einen?|zwei) {adjectives}(?P<pet>{pet})(?: namens|, (?:der|"
            r"die|das|er|sie) heißt) <Word>",
            "", "pet",
        ),
        rule(
            r"(?:habe|hab|hat|haben) {now}(?:einen?|eine) (?:[a-zäöüß]+ )?(?P<object>{pet})"
            r"(?=(?:\s|{time})*(?:$|[.,;!]|(?:und|aber|adoptiert|bekommen|gekauft|geholt)\b))",
            "{s} hat ein Haustier: {o}.", "has_pet", entity=False, times="any", prefer="past",
        ),
        rule(
            r"(?:habe|hat|haben) (?:einen?) {adjectives}(?P<kinship>{kin})(?: namens|, (?:der|die|"
            r"er|sie) heißt) <Word>",
            "", "kin",
        ),
        rule(
            r"(?:habe|hat|haben) {now}{several} (?:Kinder|Söhne|Töchter|Buben|Mädchen|Jungs)"
            r"(?:,|:| namens) (?P<object>{names})",
            "{s} hat ein Kind namens {o}.", "parent_of", importance=0.7,
        ),
        rule(
            r"(?:habe|hat|haben) {now}{several} (?:Hunde|Katzen|Kater|Kaninchen|Hamster|Pferde|"
            r"Schildkröten|Meerschweinchen)(?:,|:| namens) (?P<object>{names})",
            "{s} hat ein Haustier namens {o}.", "has_pet", importance=0.7,
        ),
        rule(
            r"(?:(?P<name>{Word})s|[Mm]ein) Geburtstag ist <time>",
            "{s} hat {time} Geburtstag.", "born_on", entity=False, whole=True, importance=0.8,
        ),
        rule(
            r"(?:habe|hat|haben) <time> Geburtstag",
            "{s} hat {time} Geburtstag.", "born_on", entity=False, importance=0.8,
        ),
        rule(
            r"(?:bin|ist|wurde) <time> geboren",
            "{s} wurde {time} geboren.", "born_on", entity=False, importance=0.8,
        ),
        rule(
            r"(?:bin|ist|wurde) in <Place> geboren",
            "{s} wurde in {o} geboren.", "born_in", importance=0.6,
        ),
        rule(
            r"(?:bin|ist) {now}(?:{Word}(?: {Word})?, )?(?P<object>[1-9]\d)(?: Jahre alt| "
            r"geworden)*(?=(?:\s|{time})*(?:$|[.,;!–—]|und\b|aber\b))",
            "{s} ist {o} Jahre alt.", "age", entity=False, also=True,
        ),
        rule(
            r"(?:bin|ist) {Word}(?: {Word})?(?:, [1-9]\d)?, (?P<object>{jobs})(?=\s*(?:$|[.,;!]|(?:und|in|"
            r"aus|bei)\b))",
            "{s} ist {o} von Beruf.", "works_as", entity=False, also=True, importance=0.6,
        ),
        rule(
            r"(?:bin|ist) {now}(?P<object>[1-9]|{number})(?: Jahre alt| geworden)+",
            "{s} ist {o} Jahre alt.", "age", entity=False,
        ),
        rule(
            r"(?:wohne|wohnt|wohnen|lebe|lebt|leben) {now}nicht mehr in <Place>",
            "{s} wohnt nicht mehr in {o}.", "lives_in", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:[Ff]rüher (?:habe|haben) (?:ich|wir)|(?:[Ii]ch|[Ww]ir) (?:habe|haben) früher) "
            r"in <Place> (?:gewohnt|gelebt)",
            "{s} hat früher in {o} gewohnt.", "lives_in", ends=True, whole=True, importance=0.6,
        ),
        rule(
            r"(?:habe|hat|haben) (?:früher )?in <Place> (?:gewohnt|gelebt)",
            "{s} hat in {o} gewohnt.", "lives_in", times="over", importance=0.6,
        ),
        rule(
            r"(?:wohne|wohnt|wohnen|lebe|lebt|leben) {now}in <Place>",
            "{s} wohnt in {o}.", "lives_in", importance=0.8,
        ),
        rule(
            r"(?:bin|ist|sind) {now}(?:von {Place} )?nach <Place> (?:gezogen|umgezogen|gezügelt|übersiedelt)",
            "{s} wohnt in {o}.", "lives_in", times="any", prefer="past", importance=0.8,
        ),
        rule(
            r"(?:ziehe|zieht|ziehen) {now}(?:von {Place} )?nach <Place>(?: um)?{end}",
            "{s} zieht nach {o}.", "plans_to", kind="plan", entity=False, times="any",
            importance=0.8, claimed="nach {o} ziehen",
        ),
        rule(
            r"(?:komme|kommt|kommen) {now}(?:ursprünglich )?aus <Place>{end}",
            "{s} kommt aus {o}.", "comes_from", importance=0.6,
        ),
        rule(
            r"(?:bin|ist) in <Place> aufgewachsen",
            "{s} kommt aus {o}.", "comes_from", importance=0.6,
        ),
        rule(
            r"(?:arbeite|arbeitet|arbeiten) {now}nicht mehr (?:bei|für) {Org}",
            "{s} arbeitet nicht mehr bei {o}.", "works_at", ends=True, times="any",
            prefer="past", importance=0.7,
        ),
        rule(
            r"(?:habe|hat) {now}(?:meinen Job |ihren Job |seinen Job )?bei {Org} (?:gekündigt|"
            r"aufgehört)",
            "{s} arbeitet nicht mehr bei {o}.", "works_at", ends=True, times="any",
            prefer="past", importance=0.7,
        ),
        rule(
            r"(?:habe|hat) (?:früher )?bei {Org} gearbeitet",
            "{s} hat bei {o} gearbeitet.", "works_at", times="over", importance=0.6,
        ),
        rule(
            r"(?:habe|hat) {now}(?:einen neuen Job )?bei {Org} angefangen",
            "{s} arbeitet bei {o}.", "works_at", times="any", prefer="past", importance=0.7,
        ),
        rule(
            r"(?:fange|fängt) {now}bei {Org} an\b",
            "{s} arbeitet bei {o}.", "works_at", times="must", prefer="future", importance=0.7,
        ),
        rule(
            r"(?:arbeite|arbeitet|arbeiten) {now}als (?P<other>[A-ZÄÖÜ][\w-]+) bei {Org}",
            "{s} arbeitet als {other} bei {o}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:bin|ist) {now}(?P<other>{jobs}) bei {Org}",
            "{s} arbeitet als {other} bei {o}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:arbeite|arbeitet|arbeiten) {now}(?:bei|für) {Org}",
            "{s} arbeitet bei {o}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:bin|ist) {now}bei (?=[^,]*(?:&|\bGmbH\b|\bAG\b)){Org}",
            "{s} arbeitet bei {o}.", "works_at", times="long", importance=0.7,
        ),
        rule(
            r"(?:arbeite|arbeitet|arbeiten) {now}als (?P<object>(?!(?:Erste|Letzte|Einzige|Beste|Team|"
            r"Paar|Gruppe)[rsn]?\b)[A-ZÄÖÜ][\w-]+){end}",
            "{s} arbeitet als {o}.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:bin|ist) {now}<jobs>(?: von Beruf)?{end}",
            "{s} ist {o} von Beruf.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:studiere|studiert) {now}(?P<other>[A-ZÄÖÜ][\w-]+) (?:an der|an dem|am|in) "
            r"<Company>",
            "{s} studiert {other} an: {o}.", "studies_at", importance=0.6,
        ),
        rule(
            r"(?:studiere|studiert) {now}(?P<object>[A-ZÄÖÜ][\w-]+){end}",
            "{s} studiert {o}.", "studies", entity=False, importance=0.6,
        ),
        rule(
            r"(?:lerne|lernt) {now}(?P<object>{languages}){end}",
            "{s} lernt {o}.", "studies", entity=False,
        ),
        rule(
            r"(?:spreche|spricht) {now}(?:fließend |gut |ein bisschen )?(?P<object>(?:{languages})"
            r"(?:(?:, | und )(?:{languages}))*)",
            "{s} spricht {o}.", "speaks", entity=False,
        ),
        rule(
            r"(?:bin|ist) {now}mit <Name> verheiratet",
            "{s} ist mit {o} verheiratet.", "married_to", importance=0.8,
        ),
        rule(
            r"(?:habe|hat) {now}<Word> geheiratet",
            "{s} ist mit {o} verheiratet.", "married_to", times="any", prefer="past",
            importance=0.8,
        ),
        rule(
            r"(?:habe|hat) mich von <Word> getrennt",
            "{s} und {o} sind getrennt.", "partner_of", ends=True, times="any", prefer="past",
            importance=0.8,
        ),
        rule(
            r"(?:esse|isst|essen|trinke|trinkt|trinken|vertrage|verträgt) {now}keine?n? "
            r"(?P<object>{food}(?:(?:, | und | oder )(?:keine?n? )?{food}){0,3})(?: mehr)?(?=\s*(?:$|"
            r"[.,;!–—]|(?:und|aber|weil)\b))",
            "{s} isst oder trinkt nicht: {o}.", "does_not_eat", entity=False, importance=0.8,
        ),
        rule(
            r"(?:nehme|nimmt) {now}(?P<object>\d+(?:,\d+)? ?(?:mg|µg|ml|Milligramm) [A-Z][a-z]{3,})",
            "{s} nimmt {o}.", "takes_medication", entity=False, importance=0.8,
        ),
        rule(
            r"(?:arbeite|arbeitet) {now}(?:nur noch |nur )?(?P<object>(?:{number}|\d\d?) (?:Tage|Stunden) "
            r"(?:die|pro|in der) Woche)",
            "{s} arbeitet {o}.", "working_hours", entity=False, times="any",
        ),
        rule(
            r"(?:habe|hab|hat|leide an|leidet an) {now}(?P<object>{condition}){end}",
            "{s} hat {o}.", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"(?:bin|ist) {now}(?P<object>Diabetiker(?:in)?|Asthmatiker(?:in)?|Epileptiker(?:in)?|"
            r"laktoseintolerant|glutenintolerant|farbenblind){end}",
            "{s} ist {o}.", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"(?:bin|ist) {now}allergisch (?:gegen|auf) <things>{end}",
            "{s} ist allergisch gegen {o}.", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"(?:bin|ist) {now}gegen <things> allergisch",
            "{s} ist allergisch gegen {o}.", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"(?:bin|ist) {now}(?P<object>Vegetarier(?:in)?|Veganer(?:in)?|vegetarisch|vegan|"
            r"Pescetarier(?:in)?)\b",
            "{s} ist {o}.", "diet", entity=False, times="any", importance=0.8,
        ),
        rule(
            r"(?:bin|ist) {now}(?=keine? [\w]+ mehr\b|nicht mehr\b)(?:keine?|nicht mehr) "
            r"(?P<object>Vegetarier(?:in)?|Veganer(?:in)?|vegetarisch|vegan)(?: mehr)?\b",
            "{s} ist nicht mehr {o}.", "diet", entity=False, ends=True, times="any",
            importance=0.8,
        ),
        rule(
            r"(?:mag|mögen) (?:überhaupt |gar )?keine?n? <things>{end}",
            "{s} mag {o} nicht.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"(?:mag|mögen|liebe|liebt|lieben) {now}<things> (?:überhaupt |gar |eigentlich )?nicht"
            r"(?: mehr)?(?=\s*(?:$|[.,;!]))",
            "{s} mag {o} nicht.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"(?:kann|können) {now}<things> (?:überhaupt |gar |einfach )?nicht (?:ausstehen|leiden)",
            "{s} mag {o} nicht.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"(?:hasse|hasst|hassen) {now}<things>{end}",
            "{s} mag {o} nicht.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"(?:mag|mögen|liebe|liebt|lieben) {now}(?!kein)<things>{end}",
            "{s} mag {o}.", "likes", kind="preference", entity=False,
        ),
        rule(
            r"(?:esse|isst|trinke|trinkt) {now}(?:sehr )?(?:gern|gerne|am liebsten) (?=(?:\w+\s+)?[A-ZÄÖÜ])"
            r"<things>{end}",
            "{s} mag {o}.", "likes", kind="preference", entity=False,
        ),
        rule(
            r"{my} Lieblings(?P<other>[a-zäöüß]+) ist <thing>{end}",
            "{g} Lieblings{other} ist {o}.", "favourite_{other}", kind="preference",
            entity=False, whole=True,
        ),
        rule(
            r"(?:spiele|spielt) {now}(?P<object>Klavier|Gitarre|Geige|Bratsche|Cello|Flöte|"
            r"Querflöte|Blockflöte|Schlagzeug|Posaune|Tuba|Horn|Akkordeon|Orgel|Zither|Hackbrett|"
            r"Ukulele|Trompete|Saxofon|Saxophon|Klarinette|Harfe|Schach|Tennis|Fußball|Handball|Basketball|"
            r"Volleyball|Badminton|Golf|Hockey)\b",
            "{s} spielt {o}.", "has_hobby", entity=False,
        ),
        rule(
            r"(?:bin|ist|sind) {now}(?:von (?P<other>{Company}) )?(?:auf|zu) <Company> "
            r"(?:umgestiegen|gewechselt)",
            "{s} nutzt {o}.", "uses", times="any", prefer="past",
        ),
        rule(
            r"(?:habe|hab|hat|haben)(?: mir| uns| sich)? {now}(?:einen?|eine) (?:[a-zäöüß]+en? )?<goods> "
            r"(?:gekauft|geholt)",
            "{s} hat: {o}.", "owns", times="any", prefer="past",
        ),
        rule(
            r"(?:habe|hab|hat|haben|fahre|fährt|fahren) {now}(?:einen?|eine) (?:[a-zäöüß]+en? )?"
            r"(?P<object>(?:{makes})(?: [A-Z][\w-]*)?)(?=(?:\s|{time})*(?:$|[.,;!]))",
            "{s} hat: {o}.", "owns",
        ),
        rule(
            r"(?:habe|hab|hat|haben) {now}(?:den|die|das|mein|meine|meinen|unser|unsere|unseren) "
            r"(?:[a-zäöüß]+en? )?"
            r"<goods> (?:verkauft|verschrottet|abgegeben)",
            "{s} hat nicht mehr: {o}.", "owns", ends=True, times="any", prefer="past",
        ),
        rule(
            r"(?:nutze|nutzt|nutzen|benutze|benutzt|benutzen|verwende|verwenden) {now}(?:kein |keine "
            r")<Company>(?: mehr)",
            "{s} nutzt {o} nicht mehr.", "uses", ends=True, times="any", prefer="past",
        ),
        rule(
            r"(?:nutze|nutzt|nutzen|benutze|benutzt|benutzen|verwende|verwendet|verwenden) "
            r"{now}<Company>{end}",
            "{s} nutzt {o}.", "uses",
        ),
        rule(
            r"(?:habe|hat|haben)(?: uns| mich)? {now}(?:beschlossen|entschieden), "
            r"(?P<object>{phrase} zu {phrase})(?=\s*(?:$|[.!,;]|aber\b|weil\b))",
            "{s} hat beschlossen, {o}.", "decided", kind="decision", entity=False, times="any",
            importance=0.7,
        ),
        rule(
            r"(?:fliege|fliegt|fliegen|fahre|fährt|fahren|reise|reist|reisen) {now}(?:mit [^,]{2,40}? "
            r")?(?:in den "
            r"Urlaub )?nach <Place>{end}",
            "{s} reist nach {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6, claimed="nach {o} reisen",
        ),
        rule(
            r"(?:habe|hat|haben) {now}(?:um \d{1,2}(?:[:.]\d\d)? Uhr )?(?:einen? |den |die )?"
            r"(?P<object>(?:Zahnarzt|Arzt|Facharzt|Frauenarzt|Tierarzt|Friseur)(?:-?termin)?|"
            r"Termin (?:beim?|bei der) {Word}|Vorstellungsgespräch|Prüfung|Operation|OP)"
            r"(?=(?:\s|{time})*(?:um\b|gegen\b|$|[.,;!]))",
            "{s} hat einen Termin: {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6,
        ),
        rule(
            r"(?:heirate|heiratet|heiraten){end}",
            "{s} heiratet.", "plans_to", kind="plan", entity=False, times="must", importance=0.8,
            claimed="heiraten",
        ),
        rule(
            r"(?:war|waren) {now}in <Place>{end}",
            "{s} war in {o}.", "visited", kind="event", times="must",
        ),
        rule(
            r"(?:bin|ist|sind) {now}nach <Place> (?:gereist|geflogen|gefahren)",
            "{s} war in {o}.", "visited", kind="event", times="must",
        ),
    ),
)  # fmt: skip
