"""Spanish."""

from __future__ import annotations

from langmemory.languages.language import Language, kinds, numbered, ordered, unit_words, word_set

SPANISH = Language(
    code="es",
    stop_words=word_set(
        """a al algo algunas algunos ante antes así aún aunque cada como cómo con contra cual cuál
        cuáles cuando cuándo cuánto cuánta cuántos cuántas cuya cuyo de del desde donde dónde
        durante e el él ella ellas ellos en entre era eran eres es esa esas ese eso esos esta está
        estaba estaban están estar estas este esto estos estoy fue fueron fui ha había habían haber
        han hasta hay he hemos la las le les lo los más me mi mis mucho muchos muy nada ni no nos
        nosotros nuestra nuestro nuestros o os otra otras otro otros para pero poco por porque qué
        que quién quien quiénes quienes se sea ser será si sí sido sin sobre son soy su sus también
        tan tanto te tenía ti tiene tienen tengo tu tú tus un una unas uno unos usted ustedes va
        van vosotros y ya yo"""
    ),
    endings=(
        "",
        *ordered(
            "a o e as os es an en ar er ir amos emos imos ado ada ados adas ido ida ando iendo aba "
            "aban ia ias ian aron ieron io"
        ),
    ),
    questions={
        "now": (
            r"\b(ahora|actual(es|mente)?|hoy en día|todavía|aún|en este momento|sigue|más recientes?)\b",
        ),
        "before": (
            r"\b(antes|anterior(es|mente)?|antigu[oa]s?|previ[oa]s?|al principio|ex)\b",
            r"\b(vivía[ns]?|vivió|viviste|trabajaba[ns]?|trabajó|trabajaste|tenía[ns]?)\b",
        ),
        "first": (r"\b(al principio|originalmente|inicialmente|en un principio|al comienzo)\b",),
        "present": (
            r"^(?!.*\b(fue|fui|era|eran|estaba|había|tenía|cu[aá]ndo|antes|primero|última?|\w+[éó])\b)"
            r".*\b(es|son|está|están|estoy|tengo|tiene|vivo|vive|trabajo|trabaja|llama|uso|usa|puedo)\b",
        ),
        "change": (
            r"\bc[oó]mo\b.*\b(cambi\w+|evolucion\w+|desarroll\w+|progres\w+|avanz\w+|mejor(ó|ado))\b",
            r"\ba lo largo del?\b|\bcon el (paso del )?tiempo\b|\b(evolución|historia|cambios) (de|del|en)\b",
        ),
        "count": (r"^\W*(cu[aá]nt[oa]s?|con qu[eé] frecuencia)\b",),
        "when": (
            r"^\W*(desde |hasta )?cu[aá]ndo\b",
            r"^\W*(durante |hace )?cu[aá]nto tiempo\b",
            r"\ba qu[eé] hora\b",
            r"\b(qu[eé]|cu[aá]l) (d[ií]a|fecha|mes|año|semana)\b",
        ),
        "where": (
            r"^\W*(a |de |en |por )?d[oó]nde\b",
            r"\b(qu[eé]|cu[aá]l) (ciudad|pa[ií]s|lugar|sitio|estado)\b",
        ),
        "who": (
            r"^\W*(a |con |de |para |por )?qui[eé]n(es)?\b",
            r"\bc[oó]mo se llama\b",
        ),
        "why": (r"^\W*por qu[eé]\b", r"\bpor cu[aá]l raz[oó]n\b"),
        "preference": (r"\b(favorit[oa]s?|prefier\w*|gusta\w*|encanta\w*|odia\w*|ama)\b",),
        "relation": (
            r"\b(amig[oa]s?|esposa|esposo|marido|mujer|pareja|herman[oa]s?|madre|padre|hij[oa]s?"
            r"|jef[ea]|colegas?|casad[oa])\b",
        ),
        "how": (r"^\W*c[oó]mo\b",),
    },
    months=numbered(
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre setiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ),
    weekdays=numbered(*ordered("lunes martes miércoles jueves viernes sábado domingo")),
    seasons={"primavera": (3, 3), "verano": (6, 3), "otoño": (9, 3), "invierno": (12, 3)},
    asks_listener=(
        r"\b(dijiste|recomendaste|sugeriste|aconsejaste|propusiste|diste|explicaste|mencionaste"
        r"|escribiste|contaste|pasaste|enseñaste|calculaste|indicaste|advertiste|nombraste)\b",
        r"\b(has|habías) (dicho|recomendado|sugerido|aconsejado|propuesto|dado|explicado|mencionado"
        r"|escrito|contado|calculado)\b",
        r"\bsegún tú\b|\btus? (consejos?|recomendaci(ón|ones)|sugerencias?|propuestas?)\b",
    ),
    own=r"\b(?:mis?|nuestr[oa]s?)\s+(\w+)",
    courtesies={
        **dict.fromkeys(
            ("hola", "buen"),
            r"^\W*(?:hola|buenos días|buenas(?: (?:tardes|noches))?)\s*[,.!…\n]\s*",
        ),
        **dict.fromkeys(
            ("qué tal", "cómo est", "cómo va", "cómo te va", "qué haces"),
            r"¿?\s*\b(?:qué tal|cómo estás?|cómo va(?: todo)?|cómo te va)\b(?: (?:hoy|estás|todo))*"
            r"\W*(?=$|[?.!,])",
        ),
        "gracias": r"(?<=[?!.,;…\n])[\s¡]*(?:muchas |mil )?gracias(?: (?:por todo|de antemano))?\W*$",
        "por favor": r",?\s*\bpor favor\b",
        "pued": r"¿?\s*\b(?:me )?puedes? (?:decir|recordar)(?:me)?\b\s*[:,]?\s*",
        "podr": r"¿?\s*\b(?:me )?podrías? (?:decir|recordar)(?:me)?\b\s*[:,]?\s*",
        "acuerda": r"¿?\s*\b(?:te acuerdas|se acuerda)\b(?: de)?\s*",
        **dict.fromkeys(
            ("recuerdas", "sabes"),
            r"¿?\s*\b(?:recuerdas|sabes)\s+(?=(?:qu|cu|dónde|cóm|si\b|el\b|la\b|los\b|las\b|mi))",
        ),
        **dict.fromkeys(
            ("me pregunto", "saber"),
            r"\b(?:me pregunto|quisiera saber|me gustaría saber|quiero saber)\b\s*[:,]?\s*",
        ),
        "dime": r"^\W*dime\b\s*[:,]?\s*",
        "una pregunta": r"\buna pregunta(?: rápida)?\s*[:,.]\s*",
    },
    fillers=word_set(
        """acuerdo adiós ahora amable anotado apuntado aja ajá bien bueno buena buenas buenos bravo
        chao chau claro clarísimo correcto cuídate dale dia días día duda encantada encantado
        entendido estupendo exacto excelente fantástico favor feliz gracias genial gusto guay hecho
        hasta hola igualmente interesante jaja jajaja jeje linda listo lindo luego mañana maravilla
        maravilloso mil muchas noche noches nada ok okay pasa pena perdón perfecto por pregunta pronto
        seguimos sigue sigamos
        pues qué rica rico saludos semana siento sí suerte super súper tarde tardes tranquila tranquilo
        vale vamos venga vemos verdad hablamos ayuda ayudas útil todo hoy fin"""
    ),
    unknowing=word_set(
        """acuerdo antes consta contado contaste datos desconozco dicho dijiste idea información
        lamentablemente memoria mencionado recuerdo registro sabría saber segura seguro sé sabe sepa
        tengo respuesta"""
    ),
    negations=word_set("no nunca nada ninguna ninguno ningún ni sin desconozco lamentablemente"),
    reworks=(
        r"^\W*(?:¿?(?:puedes|podrías) |por favor,? |ahora )*(?:hazlo|hacerlo|repítelo|repetirlo|explícalo"
        r"|explicarlo|tradúcelo|traducirlo|acórtalo|acortarlo|dilo|decirlo|escríbelo|escribirlo|resúmelo"
        r"|resumirlo)\b(?!.*\b(?:mi|mis|yo|nuestr\w+)\b).{0,40}$",
    ),
    question_words=word_set(
        """qué cuándo dónde adónde quién quiénes cuál cuáles cómo cuánto cuánta cuántos cuántas que
        cuando donde quien como"""
    ),
    requests=word_set(
        """por es está son era fue hay tiene tengo puedes podrías dime recuérdame sabes"""
    ),
    impersonal=(r"\bcómo (?:puedo|se|podría|hago)\b",),
    first_person=word_set(
        """yo me mí mi mis mío mía míos mías conmigo nos nosotros nosotras nuestro nuestra nuestros
        nuestras he tengo estoy soy fui debo puedo voy quiero trabajo vivo"""
    ),
    references=word_set("ese esa esos esas eso aquel aquella aquellos aquellas"),
    corrections=(
        # "No" may also begin an English sentence; `ENGLISH` excepts the same.
        r"^\W*no\b(?!\W*(gracias|hay problema|pasa nada|importa|te preocupes"
        r"|thank|problem|worries|need|doubt|matter))",
        r"^\W*(en realidad|corrección|falso|mentira)\b",
        r"\bno (es|era|fue) (así|cierto|verdad|correcto|eso|lo que)\b",
        r"\b(es|era|está|estás) (\w+ )?(mal|equivocad[oa]|incorrect[oa]|fals[oa])\b",
        r"\bte (equivocas|equivocaste|has equivocado|confundes|confundiste)\b",
        r"\b(quise|quería) decir\b|\bme refería\b|\b(nunca|no) (he dicho|dije)\b",
        r"\bno (me )?(ayuda|sirve)\b",
    ),
    relative={
        r"\b(hoy|esta (mañana|tarde|noche))\b": ("day", 0),
        r"\b(anteayer|antes de ayer|antier|anteanoche)\b": ("day", -2),
        r"\b(ayer|anoche)\b": ("day", -1),
        r"\bpasado mañana\b": ("day", 2),
        r"\bfin de semana pasado\b": ("weekend", -1),
        r"\beste fin de semana\b": ("weekend", 0),
        r"(?<!la )(?<!por la )\bmañana\b": ("day", 1),
        r"\besta semana\b": ("week", 0),
        r"\bla semana pasada\b": ("week", -1),
        r"\bla (próxima semana|semana que viene)\b": ("week", 1),
        r"\beste mes\b": ("month", 0),
        r"\bel mes pasado\b": ("month", -1),
        r"\bel (próximo mes|mes que viene)\b": ("month", 1),
        r"\beste año\b": ("year", 0),
        r"\bel año pasado\b": ("year", -1),
        r"\bel (próximo año|año que viene)\b": ("year", 1),
    },
    last=word_set("pasado pasada último última"),
    numbers={"un": 1, "una": 1, "unos": 5, "unas": 5}
    | numbered("uno", *ordered("dos tres cuatro cinco seis siete ocho nueve diez once doce")),
    units=unit_words(day="día días", week="semana semanas", month="mes meses", year="año años"),
    counted={
        r"\bhace {n} {unit}\b": "ago",
        r"\búltim[oa]s {n} {unit}\b": "lately",
    },
    persons=r"\b(?:es|era|fue|llama|llamaba|con|doña)\s+{month}\b(?!\s+del?\s+\d)",
    since=("desde", "a partir del?", "no antes del?"),
    onwards={"de": "en adelante", "del": "en adelante"},
    after=("después del?", "tras", "posterior(?:es)? al?"),
    before=("antes del?", "previo al?", "anterior(?:es)? al?"),
    until=(
        "hasta",
        "para",
        r"(?:no )?más tarde (?:que|del?)",
        "a más tardar(?: en)?",
        "no después del?",
        "a fecha del?",
        "al",
    ),
    around=("alrededor del?", "hacia", "en torno al?", "cerca del?", "aproximadamente", "sobre"),
    other_side={
        "until": r"a más tardar|como (?:muy tarde|máximo)|o antes",
        "since": r"en adelante|o después",
        "around": r"o así|más o menos|aproximadamente",
    },
    between=r"(?:aproximadamente|alrededor del?|al menos|en|mediodía del?|medianoche del?"
    r"|(?:la )?(?:mañana|tarde|noche|día) del?|las? \d{1,2}(?:[:.]\d\d)?(?: horas)? del?)",
    parts={
        "first": r"(?:principios?|comienzos?|inicios?) del?",
        "middle": r"mediados del?",
        "last": r"(?:finales|fines|el final|fin) del?",
    },
    shifted={
        r"(?:{n} |\b(?:el|la) ){unit} (?:antes|anterior) (?:del?|al?)": -1,
        r"(?:{n} |\b(?:el|la) ){unit} (?:después|siguiente|posterior) (?:del?|al?)": 1,
    },
    coming=r"\b(?:debo|debe|deben|debemos|tengo que|tiene que|tienen que|tenemos que|será|estará|vence"
    r"|plazo|va a|voy a|vamos a|hay que|previst[oa])\b",
    ranges={"entre": "y|e", "desde": "hasta|a", "de": "a", "del": "al", "": "hasta|[-–—]"},
    temporal_words=word_set(
        """ayer hoy mañana anoche anteayer hace pasado pasada próximo próxima recientemente pronto
        día días semana semanas mes meses año años tarde noche lunes martes miércoles jueves viernes
        sábado domingo primavera verano otoño invierno enero febrero marzo abril mayo junio julio
        agosto septiembre octubre noviembre diciembre cumpleaños aniversario"""
    ),
    kinds=kinds(
        (
            "ciudad ciudades",
            "madrid barcelona valencia sevilla bilbao lisboa parís londres roma berlín viena praga "
            "buenos bogotá lima santiago quito caracas habana guadalajara tokio",
        ),
        (
            "país países extranjero",
            "españa portugal francia italia alemania inglaterra irlanda grecia turquía polonia suecia "
            "noruega méxico argentina chile perú colombia ecuador uruguay cuba brasil canadá japón "
            "china india tailandia australia egipto marruecos",
        ),
        (
            "afición aficiones pasatiempo pasatiempos hobby",
            "leer pintar dibujar cerámica coser jardinería cocinar fotografía pescar senderismo "
            "acampar nadar correr ciclismo escalar yoga bailar cantar guitarra piano",
        ),
        (
            "deporte deportes",
            "fútbol baloncesto tenis golf voleibol natación correr maratón ciclismo esquí surf boxeo "
            "gimnasia escalada",
        ),
        (
            "instrumento instrumentos",
            "guitarra piano violín violonchelo flauta clarinete saxofón trompeta batería arpa",
        ),
        ("mascota mascotas", "perro gato conejo hámster loro tortuga pez"),
        (
            "familia pariente parientes",
            "madre padre hermana hermano hijo hija abuela abuelo tía tío",
        ),
        ("hijos niños", "hijo hija bebé gemelos"),
        (
            "trabajo profesión empleo",
            "maestra maestro médico enfermera ingeniero abogado cocinero camarero conductor contable "
            "programador arquitecto periodista",
        ),
        (
            "comida plato platos",
            "pizza pasta sopa ensalada arroz pan queso pollo pescado paella tortilla verduras",
        ),
        ("bebida bebidas", "café té cerveza vino zumo jugo agua"),
        ("alergia alergias alérgico alérgica", "cacahuetes nueces gluten lactosa polen asma"),
    ),
)
