"""Spanish. The verb says who speaks: "vivo" is a subject of its own."""

from __future__ import annotations

from langmemory.formation.rules.grammar import Grammar, rule
from langmemory.languages import SPANISH as LEXICON
from langmemory.languages.language import numbered, ordered, word_set

KIN = {
    word: role
    for role, words in {
        "mother": "madre mamá", "father": "padre papá", "sister": "hermana", "brother": "hermano",
        "wife": "esposa mujer", "husband": "esposo marido", "partner": "pareja",
        "girlfriend": "novia", "boyfriend": "novio", "daughter": "hija", "son": "hijo",
        "grandmother": "abuela", "grandfather": "abuelo", "aunt": "tía", "uncle": "tío",
        "cousin": "primo prima", "niece": "sobrina", "nephew": "sobrino",
        "friend": "amigo amiga", "colleague": "colega", "boss": "jefe jefa",
        "neighbour": "vecino vecina", "landlord": "casero casera",
        "grandson": "nieto", "granddaughter": "nieta", "mother in law": "suegra",
        "father in law": "suegro", "sister in law": "cuñada", "brother in law": "cuñado",
        "son in law": "yerno", "daughter in law": "nuera", "stepmother": "madrastra",
        "stepfather": "padrastro", "stepsister": "hermanastra", "stepbrother": "hermanastro",
        "stepdaughter": "hijastra", "stepson": "hijastro", "godmother": "madrina",
        "godfather": "padrino",
    }.items()
    for word in words.split()
} | dict.fromkeys(("compañero de piso", "compañera de piso"), "flatmate")  # fmt: skip
PETS = (
    "perro", "perra", "perrita", "perrito", "galgo", "gato", "gata", "gatito", "conejo",
    "hámster", "loro", "caballo", "tortuga",
)  # fmt: skip
JOBS = (
    "maestr[oa]|profesora?|médic[oa]|enfermer[oa]|ingenier[oa]|abogad[oa]|cociner[oa]|camarer[oa]"
    "|conductora?|contable|contadora?|programadora?|desarrolladora?|arquitect[oa]|periodista|dentista"
    "|psicólog[oa]|veterinari[oa]|farmacéutic[oa]|electricista|mecánic[oa]|carpinter[oa]|fontaner[oa]"
    "|peluquer[oa]|panader[oa]|fotógraf[oa]|músic[oa]|actor|actriz|escritora?|traductora?|policía"
    "|bomber[oa]|pilot[oa]|jardiner[oa]|agricultora?|diseñadora?|investigadora?|estudiante|cartógraf[oa]"
    "|bibliotecari[oa]|jueza?|consultora?|analista"
)
LANGUAGES_SPOKEN = (
    "español|castellano|inglés|francés|alemán|italiano|portugués|neerlandés|sueco|noruego|danés"
    "|polaco|checo|húngaro|rumano|griego|turco|ruso|ucraniano|árabe|hebreo|persa|hindi|chino"
    "|mandarín|japonés|coreano|catalán|gallego|euskera|vasco|latín"
)
NUMBERS = numbered(
    *ordered(
        """
        uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
        diecisiete dieciocho diecinueve veinte
        """
    )
) | {
    f"{ten} y {one}" if one else ten: 10 * tens + ones
    for tens, ten in enumerate(
        ordered("treinta cuarenta cincuenta sesenta setenta ochenta noventa"), 3
    )
    for ones, one in enumerate(("", *ordered("uno dos tres cuatro cinco seis siete ocho nueve")))
}
NOW = (
    r"(?:(?:ahora|actualmente|también|ya|todavía|aún|siempre|muy|realmente|mucho|"
    r"desde siempre) )*"
)
END = (
    r"(?=(?:\s|{time})*(?:$|[.,;:!–—]|\b(?:y|pero|con|porque|desde|en|por|"
    r"para|cuando|que|aunque|también|al|ahora|allí|aquí|ahí|así|hasta|o|e|los|las|cada|todos)\b))"
)
FIRST = (
    "vivo|trabajo|estudio|soy|estoy|tengo|me|nos|vivimos|trabajamos|somos|tenemos|hablo|odio|detesto|"
    "prefiero|uso|usamos|nací|crecí|vivía|trabajaba|viví|trabajé|dejé|renuncié|empecé|empiezo|viajo|"
    "viajamos|vuelo|volamos|voy|vamos|decidí|decidimos|hemos|he|llevo|llevamos|cumplí|compré|compramos|"
    "vendí|vendimos|adopté|adoptamos|aprendo|"
    "tomo|conduzco|hago|practico|sufro|padezco|cumplo|toco|juego|visité|fui|ya no|no me|no"
)

SPANISH = Grammar(
    code="es",
    respelled=(
        (r"(?<!\w)([Ll])abur(o|a|amos)(?!\w)", r"trabaj\2"),
        (r"(?<!\w)([Mm]i) cumple(?= es\b)", r"\1 cumpleaños"),
    ),
    frames=(
        r"\b(?:imag[ií]na(?:te|os)?|supongamos|finjamos|finge|haz como|juego de rol|(?:mi|el) personaje|"
        r"en (?:mi|la|una) (?:novela|obra|historia))\b|^querid[oa] [a-záéíóúñ]+,"
    ),
    plays=(
        r"\b(?:(?:hagamos|juguemos a|empecemos|empieza) (?:un |el )?juego de rol|mi personaje|lanzo (?:un )?"
        r"hechizo)\b"
    ),
    plays_no_more=(
        r"\b(?:ahora en serio|ya en serio|fin del juego|se acabó el juego|fuera de personaje|"
        r"volviendo a la realidad|"
        r"otro tema|otra pregunta)\b"
    ),
    void=(
        r"\b(?:(?<!por )si|como si|broma|bromeo|jaja|jajaja|(?<=, )(?:digo|no(?=,)|perdón|mejor dicho)|"
        r"divorci\w+|"
        r"cancel(?:ó|amos|aron|ado|ada|é)|película|novela|al final no|"
        r"(?:qué (?:bien|divertido|suerte)|genial|fantástico), me encanta)\b|/s\b|🙄|😏"
    ),
    withdraws=(
        r"^\W*(?:(?:es |era )?broma|es mentira|ojalá|qué va|(?:pero )?al final no|"
        r"(?:pero )?(?:se canceló|lo cancelaron))\b|🙄|😏"
    ),
    unclear=(
        r"\b(?:ojalá|quizás?|tal vez|a lo mejor|probablemente|posiblemente|imagina|"
        r"viviría|trabajaría|sería|tendría|gustaría|quisiera|podría|debería|hubiera|fuera|"
        r"espero|sueño|sueña|casi|dice|dijo|dicen|dijeron|preguntó|pregunta|cree|creo|piensa|pensó|"
        r"escribió|cuenta que|contó|supuestamente|nunca|jamás|iba a|íbamos a|a punto de|algún día|"
        r"quiero|queremos|quería|queríamos|según)\b"
    ),
    but=r"\bpero\b",
    anew=r"\b(?:y|e|pero|porque|aunque|así que)\b",
    asks=(
        r"¿|(?:\s*[,;:–—]\s*|\s+(?=(?:y|pero)\b))(?:(?:y|pero|o|entonces)\s+)*"
        r"(?:qué|cómo|cuándo|dónde|cuál(?:es)?|quién|cuánt[oa]s?|por qué|algún|alguna|alguien|puedo|puedes|"
        r"me recomiendas|me ayudas|hay)\b"
    ),
    openers=(
        r"(?:y|pero|pues|bueno|oh|ah|hola|buenas|buenos días|buenas tardes|buenas noches|"
        r"sí|vale|ok|"
        r"además|por cierto|en realidad|la verdad|entonces|ahora|actualmente|gracias|mira|claro|"
        r"también|noticias|importante|finalmente|hoy|por fin|te cuento|os cuento|ay|uf|oye|a ver|nada|"
        r"la verdad es que|lo que pasa es que|sinceramente|por suerte|menos mal|últimamente|novedades|"
        r"al final|resulta que|en fin)\b[\s,:.!–—-]*"
    ),
    takes_back=(
        r"(?:no(?=\s*(?:[,.]|$))|perdón|espera|corrección|quise decir|me equivoqué)"
        r"[\s,:.!–—-]*"
    ),
    no=r"no\b",
    announces=(
        r"\b(?:cosas?|noticias?|novedad(?:es)?|sobre mí|datos?|contexto|resumen|respuesta|"
        r"cuento|pregunta|duda|presentación|en adelante|a partir de ahora|futuro|saber|recordatorio|"
        r"alergias?|familia|en casa)\b"
    ),
    breaks=(
        rf"\s*[,;:–—]\s*(?:y\s+|pero\s+)?(?=(?:[Yy]o|[Mm]is?|[Nn]uestr[oa]s?|{FIRST})\b)"
        rf"|\s+(?:y|pero|porque|aunque)\s+(?=(?:ahora )?(?:yo|mis?|nuestr[oa]s?|{FIRST}|vive|trabaja|estudia|"
        rf"tiene|es|habla)\b)"
        r"|\s*[,;]\s*(?:y\s+|pero\s+)?(?=(?:(?:se llama|su nombre es|él|ella|ahora|que (?:vive|trabaja))\b|"
        r"(?:vive|trabaja|estudia|tiene|es) (?!que\b)))"
        r"|\s*[,;]\s*(?:y|pero|así que)\s+(?=(?:el|la|los|las|esto|eso|hay|todo|nadie)\b)"
    ),
    half=r"(?:{my} {adjectives}(?:{kin})(?: {Word})?|{Word})\s+y\s+",
    carried=r"(?:ahora )?(?:vive|trabaja|estudia|tiene|habla|es|está)\b",
    i=rf"(?:[Yy]o )?(?=(?i:{FIRST})\b)",
    we=r"(?:[Nn]osotr[oa]s|{my} {adjectives}(?:{kin})(?: {Word})? y yo|{Word} y yo)\b",
    before_thing=r"\b(?:en|del|al|el|la|los|las|una?|mi|su|desde|hasta|es|soy|para)\s+$",
    he=r"Él\b|él\b",
    she=r"[Ee]lla\b",
    either=(
        r"(?:que )?(?=(?:[Vv]ive|[Tt]rabaja|[Ee]studia|[Tt]iene|[Hh]abla|[Ee]s|[Ss]e mudó|[Ee]mpezó|"
        r"[Dd]ejó)\b)"
    ),
    my=r"(?:[Mm]i|[Nn]uestr[oa])",
    kin=KIN,
    kin_adjectives=r"(?:(?:mejor|querid[oa]|nuev[oa]) )*",
    pets=PETS,
    numbers=NUMBERS,
    user="el usuario",
    genitive=("de {s}", "de {s}", "del usuario"),
    we_text="{s} y otros",
    whose="{kin} {g}",
    kin_text="{o} es {whose}.",
    pet_text="{s} tiene una mascota que se llama {o} ({kin}).",
    aside=r"^,? (?:que|quien)\b(?: )?",
    resumed=(
        r"^(?: {Word})?(?:, {my} {adjectives}(?:{kin})\b,?)?(?: )?(?:, (?:que|quien|ella|él)\b)?(?:,)?(?: )?"
    ),
    time_lead=r"^(?:el|en|a)\s+(?:el\s+|día\s+)?",
    leaning=r"\b(?:yo|nosotros|tú|usted|esto|eso|él|ella|ellos|lo|la|aquí|allí|ahí|así)\b(?! \w)",
    relative=(
        r"{my} {adjectives}(?P<kin>{kin})(?: mayor| menor| pequeñ[oa])?(?:,? "
        r"(?P<name>{Name}),?)?(?=\s|$|{time})"
    ),
    kin_name=(
        r"\b{my} {adjectives}(?P<kin>{kin})(?: mayor| menor| pequeñ[oa])?,? "
        r"(?P<name>{Name})(?=\W|$)"
    ),
    mention=(
        r"\b{my} {adjectives}(?P<kin>{kin})\b(?: mayor| menor| pequeñ[oa])?(?:,? (?P<name>{Name}))?"
    ),
    pet_mention=(
        r"(?:\b{my} |\b(?:tengo|tenemos|adopt\w+|h?emos adoptado|he adoptado|compr\w+)\b[^,;.]{0,20}? una? "
        r"(?:[a-záéíóúñ]+ )?)(?P<pet>{pet})\b"
    ),
    others=(
        r"(?<!\bes\s)(?<!\bcomo\s)\b(?:una?|el|la|los|las|sus?|tus?|otr[oa]|algun[oa]|est[ea]|es[ea]) "
        r"(?:[a-záéíóúñ]+ )?(?:{kin}|{jobs}|{pet}|{folk})\b|\b{my} {folk}\b|\balguien\b"
    ),
    its_name=r"(?:[Ss]e llama|[Ss]u nombre es) (?P<name>{Name})(?P<name2>)",
    pet_name=(
        r"\b{my} {adjectives}(?P<kin>{pet}),? (?P<name>{Word})(?=\W|$)|(?P<name2>{Word})"
        r"(?: )?, {my} {adjectives}(?P<kin2>{pet})(?=\s*(?:$|[.,;!)]|que\b))"
    ),
    died=r"\b(?:murió|muere|muerto|muerta|falleció|despedir\w*|despedimos|fallecido|fallecida)\b",
    not_names=LEXICON.stop_words
    | LEXICON.temporal_words
    | frozenset(LEXICON.months)
    | word_set("dios señor señora don doña doctor doctora"),
    not_places=word_set(
        "slack jira notion linux windows python rust docker github teams zoom internet casa"
    ),
    no_allergens=(
        r"(?:(?:el|la|los|las) )?(?:\w+(?:imientos?|dad(?:es)?|ismos?|ción)|compromisos?|drama|trabajo|"
        r"lunes|gente|"
        r"preguntas|bromas|reglas|deporte|amor|dinero|niños|hombres|mujeres|matemáticas|caos|ruido|silencio|"
        r"reuniones|madrug\w+|gestor\w+|bodas)"
    ),
    not_things=(
        r"(?:eso|esto|ese|esa|este|esta|esas|esos|que|cómo|cuando|lo|tu|tus|su|sus|mi|mis|"
        r"un|una|todo|"
        r"trabajo|trabajar|tonterías?|estupidez|"
        r"(?:el|la|los|las) (?:tono|texto|título|color|nombre|plan|final|resultado|ejemplos?|idea|"
        r"primer[oa]?|segund[oa]|"
        r"estilo|formato|versión|respuesta|diseño|foto|imagen|letra|chiste|saludo|comienzo|principio|cierre|"
        r"propuesta)|"
        r"nada|más|muy|mucho|así|aquí|allí|ir a|tú|ti|fui|soy|es|ser|estar|hacer|poder)\b"
    ),
    theirs={"mi": "su", "mis": "sus", "nuestro": "su", "nuestra": "su", "nuestros": "sus",
            "nuestras": "sus", "me": "se", "nos": "se", "mudarme": "mudarse",
            "mudarnos": "mudarse", "casarnos": "casarse", "casarme": "casarse"},
    and_=r"\s*,?\s*\b(?:y|e|o)\b\s*|\s*,\s*",
    placeholders={
        "pastimes": (
            r"(?:pilates|yoga|natación|escalada|boxeo|judo|kárate|ballet|salsa|tango|cerámica|senderismo|"
            r"ciclismo|"
            r"running|esgrima|surf|esquí|remo|punto|ganchillo|fotografía|ajedrez|tenis|pádel)"
        ),
        "food": (
            r"(?:carne|cerdo|ternera|pollo|pescado|marisco|mariscos|lácteos|leche|gluten|trigo|azúcar|"
            r"huevos?|nueces|"
            r"frutos secos|pan|queso|alcohol|café|setas|cebolla|ajo|soja)"
        ),
        "condition": (
            r"(?:diabetes(?: tipo [12])?|asma|hipertensión|la tensión alta|artritis|artrosis|epilepsia|"
            r"migrañas?|TDAH|"
            r"celiaquía|psoriasis|fibromialgia|endometriosis|osteoporosis|intolerancia a la lactosa)"
        ),
        "goods": (
            r"(?:(?:{makes})(?: [A-Z][\w-]*)?|coche|carro|moto|bici|bicicleta|furgoneta|barco|piso|casa|"
            r"piano|portátil)"
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
        "folk": (
            r"(?:chic[oa]|hombre|mujer|señora?|niñ[oa]s?|vecin[oa]s?|compañer[oa]s?(?: de piso)?|hij[oa]s|"
            r"cas[ea]r[oa]|"
            r"ex|cliente|clienta|padres|suegr[oa]s?|bebé|gemel[oa]s)"
        ),
        "now": NOW, "end": END, "jobs": JOBS, "languages": LANGUAGES_SPOKEN,
        "Name": r"{Word}(?: {Word}){0,3}",
        "Place": r"(?:la |el |los |las )?{Word}(?:(?: (?:de|del|de la|de los))? {Word}){0,3}",
        "Org": r"(?:una? [\wáéíóúñ -]{2,40}? (?:llamad[oa]|que se llama) )?(?P<object>{Company})",
        "Company": r"(?:la |el )?{Word}(?: (?:de |del |de la |y )?{Word}){0,4}",
        "several": r"(?:dos|tres|cuatro|cinco|seis|[2-6])(?: [a-záéíóúñ]+)?",
        "names": r"{Word}(?:, {Word}){0,4} (?:y|e) {Word}",
        "thing": r"[\wáéíóúñ][\w-]+(?: [\w-]+){0,2}?",
        "things": (
            r"(?:el |la |los |las )?[\wáéíóúñ][\w-]+(?: (?:de )?[\w-]+)?(?:(?:, | y |, y )"
            r"(?:el |la |los |las )?[\wáéíóúñ][\w-]+(?: (?:de )?[\w-]+)?){0,3}"
        ),
        "phrase": r"[\wáéíóúñ][^.!?;:()]{2,100}?",
    },
    rules=(
        rule(r"me llamo <Name>", "{s} se llama {o}.", "named", entity=False, importance=0.8),
        rule(
            r"[Mm]i nombre es <Name>",
            "{s} se llama {o}.", "named", entity=False, whole=True, importance=0.8,
        ),
        rule(
            r"{my} {adjectives}(?P<kinship>{kin})(?: mayor| menor)? se llama <Word>",
            "", "kin", whole=True,
        ),
        rule(r"{my} {adjectives}(?P<pet>{pet}) se llama <Word>", "", "pet", whole=True),
        rule(
            r"(?:tengo|tenemos|tiene) una? (?P<pet>{pet}),? (?:llamad[oa]|que se llama) <Word>",
            "", "pet",
        ),
        rule(
            r"(?:tengo|tenemos|tiene) una? (?P<kinship>{kin}),? (?:llamad[oa]|que se llama) <Word>",
            "", "kin",
        ),
        rule(
            r"(?:tengo|tenemos|tiene) {several} (?:hijos|hijas|niños|niñas|nenes)(?:,|:| llamad[oa]s|"
            r",? que se llaman) (?P<object>{names})",
            "{o} es hijo o hija de {s}.", "parent_of", importance=0.7,
        ),
        rule(
            r"(?:tengo|tenemos|tiene) {several} (?P<other>{pet})s(?:,|:| llamad[oa]s|,? que se llaman) "
            r"(?P<object>{names})",
            "{s} tiene una mascota que se llama {o} ({other}).", "has_pet", importance=0.7,
        ),
        rule(
            r"[Mm]i cumpleaños es <time>",
            "{s} cumple años {time}.", "born_on", entity=False, whole=True, importance=0.8,
        ),
        rule(
            r"(?:cumplo|cumple) años <time>",
            "{s} cumple años {time}.", "born_on", entity=False, importance=0.8,
        ),
        rule(
            r"(?:nací|nació) <time>",
            "{s} nació {time}.", "born_on", entity=False, importance=0.8,
        ),
        rule(r"(?:nací|nació) en <Place>", "{s} nació en {o}.", "born_in", importance=0.6),
        rule(
            r"(?:tengo|tiene|cumplí|cumplió|acabo de cumplir|acaba de cumplir) {now}(?P<object>[1-9]\d?|"
            r"{number}) años"
            r"(?=\s*(?:{time}|$|[.,;!]|(?:y|e|pero|ya)\b))",
            "{s} tiene {o} años.", "age", entity=False,
        ),
        rule(
            r"(?:cumplí|cumplió|acabo de cumplir|acaba de cumplir) (?P<object>[1-9]\d?|{number})"
            r"(?=(?:\s|{time})*(?:$|[.,;!]|(?:y|e|pero)\b))",
            "{s} tiene {o} años.", "age", entity=False,
        ),
        rule(
            r"ya no (?:vivo|vive|vivimos) en <Place>",
            "{s} ya no vive en {o}.", "lives_in", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:[Aa]ntes (?:yo )?vivía|(?:[Yy]o )?[Vv]ivía antes) en <Place>",
            "{s} vivía antes en {o}.", "lives_in", ends=True, whole=True, importance=0.6,
        ),
        rule(
            r"(?:vivía|viví|vivió) en <Place>",
            "{s} vivía en {o}.", "lives_in", times="over", importance=0.6,
        ),
        rule(
            r"(?:vivo|vive|vivimos) {now}en <Place>",
            "{s} vive en {o}.", "lives_in", importance=0.8,
        ),
        rule(
            r"(?:llevo|llevamos|lleva) (?:{number}|[1-9]\d?|muchos|unos) años (?:viviendo )?en <Place>",
            "{s} vive en {o}.", "lives_in", importance=0.7,
        ),
        rule(
            r"(?:me mudé|se mudó|nos mudamos|me he mudado|nos hemos mudado) {now}(?:de {Place} )"
            r"?a <Place>",
            "{s} vive en {o}.", "lives_in", times="any", prefer="past", importance=0.8,
        ),
        rule(
            r"(?:me mudo|se muda|me voy a mudar|nos vamos a mudar) {now}a <Place>",
            "{s} piensa mudarse a {o}.", "plans_to", kind="plan", entity=False, times="any",
            importance=0.8, claimed="mudarse a {o}",
        ),
        rule(r"(?:soy|es) {now}de <Place>{end}", "{s} es de {o}.", "comes_from", importance=0.6),
        rule(r"(?:crecí|creció|me crié|se crió) en <Place>", "{s} es de {o}.", "comes_from", importance=0.6),
        rule(
            r"ya no (?:trabajo|trabaja) (?:en|para) {Org}",
            "{s} ya no trabaja en {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:dejé|dejó) (?:mi|su) trabajo en {Org}",
            "{s} ya no trabaja en {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:trabajaba|trabajé|trabajó) (?:en|para) {Org}",
            "{s} trabajaba en {o}.", "works_at", times="over", importance=0.6,
        ),
        rule(
            r"(?:trabajo|trabaja|trabajamos) {now}(?:como|de) (?P<other>[a-záéíóúñ]+(?: "
            r"[a-záéíóúñ]+)?) (?:en|para) {Org}",
            "{s} trabaja en {o} como {other}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:trabajo|trabaja|trabajamos) {now}(?:en|para) {Org}",
            "{s} trabaja en {o}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:empecé|empezó) a trabajar en {Org}",
            "{s} trabaja en {o}.", "works_at", times="any", prefer="past", importance=0.7,
        ),
        rule(
            r"(?:empiezo|empieza) (?:a trabajar )?en {Org}",
            "{s} trabaja en {o}.", "works_at", times="must", prefer="future", importance=0.7,
        ),
        rule(
            r"(?:soy|es) {now}(?P<other>{jobs}) en {Org}",
            "{s} trabaja en {o} como {other}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:soy|es) {now}(?P<object>(?:{jobs})(?: de (?:primaria|secundaria|infantil|música|inglés|"
            r"matemáticas|software|sistemas|yoga))?){end}",
            "{s} trabaja como {o}.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:trabajo|trabaja) {now}(?:como|de) <jobs>{end}",
            "{s} trabaja como {o}.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:estudio|estudia) {now}(?P<other>[a-záéíóúñ]+) en <Company>",
            "{s} estudia {other} en {o}.", "studies_at", importance=0.6,
        ),
        rule(
            r"(?:estudio|estudia) {now}(?P<object>(?!(?:mucho|poco|bastante|demasiado|más|menos|bien|"
            r"mal|tarde|temprano|siempre|sol[oa]|todo|cada|aquí|allí|fuera|lejos|cerca|juntos|con|en|"
            r"para|por)\b)[a-záéíóúñ]+){end}",
            "{s} estudia {o}.", "studies", entity=False, importance=0.6,
        ),
        rule(
            r"(?:hablo|habla) {now}(?P<object>(?:{languages})(?:(?:, | y )(?:{languages}))*)",
            "{s} habla {o}.", "speaks", entity=False,
        ),
        rule(
            r"(?:(?:estoy|está) aprendiendo|aprendo|aprende) (?P<object>{languages})\b",
            "{s} aprende {o}.", "studies", entity=False,
        ),
        rule(
            r"(?:estoy|está) {now}casad[oa] con <Name>",
            "Pareja de matrimonio: {s} y {o}.", "married_to", importance=0.8,
        ),
        rule(
            r"(?:me casé|se casó) con <Name>",
            "{s} se casó con {o}.", "married_to", times="any", prefer="past", importance=0.8,
        ),
        rule(
            r"(?:ya )?no (?:como|come|comemos|bebo|bebe|tomo|toma|puedo comer|puede comer) "
            r"(?P<object>{food}(?:(?:, | ni | y | o ){food}){0,3})(?=\s*(?:$|[.,;!–—]|(?:y|pero|porque|"
            r"así)\b))",
            "{s} no come ni bebe: {o}.", "does_not_eat", entity=False, importance=0.8,
        ),
        rule(
            r"(?:tomo|toma) (?P<object>\d+(?:,\d+)? ?(?:mg|miligramos|ml|gotas) de [a-záéíóúñ]{4,})",
            "{s} toma {o}.", "takes_medication", entity=False, importance=0.8,
        ),
        rule(
            r"(?:trabajo|trabaja) {now}(?P<object>(?:{number}|\d\d?) (?:días|horas) (?:a la|por) semana)",
            "{s} trabaja {o}.", "working_hours", entity=False, times="any",
        ),
        rule(
            r"(?:soy|es) {now}(?P<object>celíac[oa]|diabétic[oa]|asmátic[oa]|epiléptic[oa]|daltónic[oa]|"
            r"intolerante (?:a la lactosa|al gluten)){end}",
            "{s} es {o}.", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"(?:tengo|tiene|me diagnosticaron|me han diagnosticado|le diagnosticaron|sufro de|padezco) "
            r"(?P<object>{condition}){end}",
            "{s} tiene {o}.", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"(?:soy|es) {now}alérgic[oa] (?:a los |a las |a la |al |a )<things>{end}",
            "{s} tiene alergia: {o}.", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"(?:soy|es|me hice|se hizo) {now}(?P<object>vegetarian[oa]|vegan[oa])"
            r"(?=\s*(?:{time}|$|[.,;!]|(?:y|e|pero|desde|porque|ahora)\b))",
            "{s} es {o}.", "diet", entity=False, times="any", importance=0.8,
        ),
        rule(
            r"ya no (?:soy|es) (?P<object>vegetarian[oa]|vegan[oa])\b",
            "{s} ya no es {o}.", "diet", entity=False, ends=True, times="any", importance=0.8,
        ),
        rule(
            r"no me gustan? (?:nada )?<things>{end}",
            "A {s} no le gusta: {o}.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"(?:odio|detesto|no soporto|no aguanto) <things>{end}",
            "A {s} no le gusta: {o}.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"me (?:gustan?|encantan?) {now}<things>{end}",
            "A {s} le gusta: {o}.", "likes", kind="preference", entity=False,
        ),
        rule(
            r"{my} (?P<other>[a-záéíóúñ]+) (?:favorit|preferid)[oa] es (?:el |la )?<thing>{end}",
            "Lo favorito de {s} ({other}): {o}.", "favourite_{other}", kind="preference",
            entity=False, whole=True,
        ),
        rule(
            r"(?:toco|toca) (?:el |la )?(?P<object>piano|guitarra|violín|violonchelo|flauta|"
            r"batería|trompeta|saxofón|arpa)\b",
            "{s} toca: {o}.", "has_hobby", entity=False,
        ),
        rule(
            r"(?:tengo|tiene|tenemos|conduzco) una? (?P<object>(?:{makes})(?: [A-Z][\w-]*)?){end}",
            "{s} tiene: {o}.", "owns",
        ),
        rule(
            r"(?:hago|hace|practico|practica|empecé|he empezado) (?P<object>{pastimes}){end}",
            "{s} practica: {o}.", "has_hobby", entity=False,
        ),
        rule(
            r"(?:dejé|he dejado|ya no hago|ya no practico) (?P<object>{pastimes}){end}",
            "{s} ya no practica: {o}.", "has_hobby", entity=False, ends=True, times="any", prefer="past",
        ),
        rule(r"(?:uso|usa|usamos) {now}<Company>{end}", "{s} usa {o}.", "uses"),
        rule(
            r"(?:(?:me |nos )?(?:compré|compramos|he comprado|hemos comprado)) una? (?:[a-záéíóúñ]+ "
            r")?<goods>{end}",
            "{s} tiene: {o}.", "owns", times="any", prefer="past",
        ),
        rule(
            r"(?:vendí|vendimos|he vendido|hemos vendido) (?:el|la|mi|nuestr[oa]) (?:[a-záéíóúñ]+ "
            r")?<goods>{end}",
            "{s} ya no tiene: {o}.", "owns", ends=True, times="any", prefer="past",
        ),
        rule(
            r"(?:nos hemos cambiado|nos cambiamos|me cambié|cambiamos|migramos) (?:de {Company} )"
            r"?a <Company>",
            "{s} usa {o}.", "uses", times="any",
        ),
        rule(
            r"(?:decidí|decidimos|hemos decidido|he decidido) (?P<object>(?:no )?\w+(?:ar|er|ir|"
            r"arnos|irnos|ernos|arme|irme|erme)\b[^.!?;:()]{0,100}?)(?=\s*(?:$|[.!,;]|pero\b|"
            r"porque\b))",
            "Decisión de {s}: {o}.", "decided", kind="decision", entity=False, times="any",
            importance=0.7,
        ),
        rule(
            r"(?:tengo|tiene|tenemos) (?:una? )?(?P<object>(?:cita|turno) con (?:el|la) [a-záéíóúñ]+|"
            r"(?:cita|turno|examen|entrevista|operación|cirugía)(?: (?:médic[oa]|de [a-záéíóúñ]+))?)"
            r"(?=(?:\s|{time})*(?:$|[.,;!]|a las?\b))",
            "{s} tiene pendiente: {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6,
        ),
        rule(
            r"(?:viajo|viajamos|vuelo|volamos|voy|vamos|me voy|nos vamos) a <Place>{end}",
            "{s} piensa viajar a {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6, claimed="viajar a {o}",
        ),
        rule(
            r"(?:fui|fuimos|viajé|viajamos|visité) (?:a )?<Place>{end}",
            "{s} visitó {o}.", "visited", kind="event", times="must",
        ),
    ),
)  # fmt: skip
