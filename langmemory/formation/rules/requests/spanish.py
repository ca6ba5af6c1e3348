"""Spanish, by first name and formally."""

from __future__ import annotations

from langmemory.formation.rules.requests.request import Manners, request
from langmemory.formation.rules.spanish import LANGUAGES_SPOKEN
from langmemory.languages import SPANISH as LEXICON
from langmemory.languages.language import word_set

SPANISH = Manners(
    code="es",
    for_good=(
        r"de ahora en adelante|de aquí en adelante|a partir de (?:ahora|hoy)|desde ahora|"
        r"en adelante|en el futuro|en lo sucesivo|de hoy en adelante|"
        r"para siempre|(?:en|para) todas? (?:tus|las|sus|mis)(?: próximas)? (?:respuestas|"
        r"conversaciones|preguntas)|en todos? (?:los|tus|sus)(?: próximos)? (?:chats|mensajes)"
    ),
    habit=r"siempre|cada vez|por defecto",
    company=(
        r"yo|me|mi|mis|soy|estoy|tengo|vivo|nosotros|nuestr\w+|tú|tu|tus|usted|sus?|eres|gracias|hola|ok|"
        r"vale|bien|genial|perfecto|no|sí|bueno|también|por cierto|por favor|eso|es|perdón|una cosa|y|"
        r"pero|además|odio|prefiero|hablo"
    ),
    fillers=r"por favor|porfa|porfis|simplemente|solo|sólo|también|gracias|conmigo|mejor",
    leads=(
        r"(?:quiero|quisiera|me gustaría|prefiero|necesito) que(?: me)?|(?:recuerda|acuérdate de|"
        r"procura|intenta)(?: que)?|(?:debes|tienes que|deberías)"
    ),
    polite=r"(?:puedes|podrías|puede|podría)|podemos|podríamos|(?:te|le) importa(?:ría)?",
    tags=r"vale|ok|okay|por favor|sí|de acuerdo",
    splits=r"\s*[,;:()–—]\s*(?:así que\s+)?|\s+-+\s+|\s+así que\s+",
    ands=r"\s+(?:y|pero|porque|pues)\s+",
    when=r"cuando|cada vez que|siempre que",
    somewhere=r"(?:en|para|durante|con) (?:el|la|los|las|est\w+|mi|mis|un|una)|al",
    unclear=(
        r"si|ojalá|imagina|imagínate|supón|broma|bromeo|jaja\w*|lol|dice|dijo|dicen|dijeron|pide|pidió|"
        r"pregunta|preguntó|escribió|según|prompt|película|novela|cuento|historia|juego|personaje|"
        r"esta vez|por hoy|hoy|por ahora|hasta|él|ella|jefe|jefa|mamá|madre"
    ),
    elsewhere=(
        r"juego de rol\w*|haz como si|finge|actúa como|eres (?:ahora )?un\w*|traduc\w*|tradúce\w*|"
        r"el siguiente|la siguiente|el texto de abajo|(?:system )?prompt"
    ),
    tasks=(
        r"escribe|escríbeme|redacta|crea|haz|hazme|genera|explica|explícame|lista|dame|dime|describe|"
        r"ayúdame|ayuda|muestra|muéstrame|encuentra|busca|nombra|compara|planea|planifica|recomienda|"
        r"recomiéndame|sugiere|sugiéreme|prepara|resume|resúmeme|corrige|programa|puedes|podrías|"
        r"necesito|quiero|responde|usa"
    ),
    same={
        "emoji": "emojis", "emoticonos": "emojis", "emoticones": "emojis", "caritas": "emojis",
        "viñetas": "listas", "referencias": "fuentes",
    },
    not_names=LEXICON.stop_words
    | LEXICON.temporal_words
    | frozenset(LEXICON.months)
    | word_set("mañana luego loca loco tarde uber cabify"),
    placeholders={
        "language": LANGUAGES_SPOKEN,
        "answers": r"respuestas|explicaciones|mensajes|textos",
        "Name": (
            r"(?-i:(?:(?:Dr|Dra|Sr|Sra)\.? |[Dd]on |[Dd]oña )?[A-ZÁÉÍÓÚÑ][\w'-]*(?: [A-ZÁÉÍÓÚÑ][\w'-]*)"
            r"{0,2})"
        ),
        "say": (
            r"resp[oó]nd(?:e|a|as|eme|ame)|cont[eé]st(?:a|e|es|ame|eme)|h[aá]bl(?:a|e|es|ame|eme)|"
            r"escr[ií]b(?:e|a|as|eme|ame)|responder(?:me)?|contestar(?:me)?|hablar(?:me)?|escribir(?:me)?|"
            r"comun[ií]ca(?:te)?"
        ),
        "short": (
            r"(?:muy |más |bastante )?(?:cort[oa]s?|breves?|concis[oa]s?|escuet[oa]s?|directas)"
            r"(?: y (?:concis[oa]s?|directas|claras|breves))?"
        ),
        "long": r"(?:muy |más )?(?:larg[oa]s|detallad[oa]s|extens[oa]s|complet[oa]s)",
        "use": r"usa|use|uses|utiliza|utilice|utilices|emplea|emplee|emplees",
        "usage": r"usar|utilizar|emplear",
        "form": (
            r"emojis?|emoticon[eo]s|caritas|listas|viñetas|tablas|títulos|encabezados|markdown|negritas|"
            r"jerga|tecnicismos|términos técnicos|abreviaturas|anglicismos|signos de exclamación|"
            r"exclamaciones|hashtags|groserías|palabrotas|chistes|sarcasmo|disculpas|rodeos"
        ),
        "part": r"{form}|fuentes|referencias|enlaces|ejemplos|un ejemplo|un resumen|citas",
        "there": r"(?: en (?:tus|sus|las) {answers})?",
        "again": r"(?: (?:otra vez|de nuevo|más|nunca|nunca más))?",
        "things": r"(?!(?:.* )?(?:es[eao]s?|est[eao]s?|lo|nada|algo|a|que)\b)[\w-]+(?: [\w-]+){0,6}?",
        "money": r"euros?|dólares|pesos(?: \w+)?|libras|francos(?: suizos)?|yenes|soles",
    },
    requests=(
        request(
            r"(?:{say}) en <language>{again}|(?:quiero|prefiero)(?: tus| las)? {answers} en <language>",
            "{s} quiere respuestas en {o}.", "answer_language", importance=0.9,
        ),
        request(
            r"ya no (?:hace falta|es necesario) que (?:me )?{say} en <language>",
            "{s} ya no pide respuestas en {o}.", "answer_language", lasts="always", ends=True,
        ),
        request(
            r"ll[aá]m[ae](?:me|s)? <Name>|dime <Name>|me llames <Name>|llamarme <Name>",
            "{s} quiere que se le llame {o}.", "addressed_as", lasts="always", importance=0.9,
        ),
        request(
            r"(?:no me llam(?:es|e)(?: nunca)?(?: más)?|dejar? de llamarme|nunca me llam(?:es|e)|"
            r"no (?:volver a )?llamarme) "
            r"(?P<object>{Name}|señora?|señorita|jef[ea]|amig[oa]|cariño)(?: nunca)?(?: más)?",
            "{s} no quiere que se le llame {o}.", "not_addressed_as", lasts="always", importance=0.8,
        ),
        request(
            r"tut[eé]a(?:me)?|trát[ae]me de tú|háblame de tú|no me (?:trates|hables|llames) de usted"
            r"(?: más)?|dejar? de tratarme de usted|tutearme|(?:tratar|hablar)me de tú",
            "{s} quiere que se le tutee.", "address_formality", object="tú", lasts="always",
            importance=0.8,
        ),
        request(
            r"trát[ae]me de usted|háblame de usted|háblem?e de usted|no me tutees(?: más)?|"
            r"dejar? de tutearme|no tutearme|(?:tratar|hablar)me de usted",
            "{s} quiere que se le trate de usted.", "address_formality", object="usted",
            lasts="always", importance=0.8,
        ),
        request(
            r"mis pronombres son (?P<object>(?:ella|él|elle)(?:/\w+){1,2})",
            "{s} usa los pronombres {o}.", "pronouns", lasts="always", importance=0.8,
        ),
        request(
            r"(?:(?:quiero que )?(?:tus|sus) {answers} sean {short}|(?:tus|sus) {answers} deben ser {short}|"
            r"(?:haz|mantén|da|dame) (?:tus|sus) "
            r"{answers} {short}|(?:quiero|prefiero) {answers} {short})",
            "{s} quiere respuestas cortas.", "answer_length", object="short", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:sé|sea|seas|ser) {short}|(?:{say}) (?:brevemente|de forma (?:breve|concisa)|con brevedad)|"
            r"(?:dame |darme )?{answers} {short}",
            "{s} quiere respuestas cortas.", "answer_length", object="short", importance=0.8,
        ),
        request(
            r"(?:(?:quiero que )?(?:tus|sus) {answers} sean {long}|(?:quiero|prefiero) {answers} {long})",
            "{s} quiere respuestas detalladas.", "answer_length", object="detailed",
            lasts="if alone", importance=0.8,
        ),
        request(
            r"(?:dame |darme )?{answers} {long}|(?:{say}) (?:en detalle|con detalle|detalladamente)",
            "{s} quiere respuestas detalladas.", "answer_length", object="detailed", importance=0.8,
        ),
        request(
            r"ya no (?:hace falta|es necesario) (?:que seas|ser) (?:tan )?{short}|no (?:hace falta|es "
            r"necesario) (?:que seas|ser) (?:tan )?{short} (?:ya|más)",
            "{s} ya no pide respuestas cortas.", "answer_length", object="short", lasts="always",
            ends=True,
        ),
        request(
            r"(?:{use}) (?:unidades métricas|(?:el )?sistema métrico|medidas métricas){there}",
            "{s} quiere unidades métricas.", "answer_units", object="metric", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:{use}) (?:unidades imperiales|(?:el )?sistema imperial){there}",
            "{s} quiere unidades imperiales.", "answer_units", object="imperial", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:da|dame|deme|muestra|muéstrame|pon|indica)(?: todos)? los precios en <money>",
            "{s} quiere los precios en {o}.", "answer_currency",
        ),
        request(
            r"(?:ya )?(?:puedes|puede) (?:volver a {usage} <form>|{usage} <form> (?:otra vez|de nuevo))"
            r"|ya (?:puedes|puede) {usage} <form>",
            "{s} vuelve a permitir: {o}.", "answers_with", lasts="always", importance=0.4,
        ),
        request(
            r"(?:no (?:{use})(?: nunca| jamás)?|(?:nunca|jamás) (?:{use})|dejar? de {usage}|"
            r"no vuelvas a {usage}|no (?:volver a )?{usage}) (?:más |tantos |tantas )?<form>{there}{again}",
            "{s} quiere respuestas sin {o}.", "answers_without", lasts="if alone",
        ),
        request(
            r"(?:sin|evita(?: {usage})?|evite(?: {usage})?|nada de|no más)(?: los| las)? <form>{there}",
            "{s} quiere respuestas sin {o}.", "answers_without",
        ),
        request(
            r"(?:dejar? de (?:disculparte|pedir(?:me)? (?:perdón|disculpas))|no te disculpes|"
            r"no (?:me )?pidas (?:perdón|disculpas)) (?:todo el tiempo|tanto|constantemente|a cada rato)",
            "{s} quiere respuestas sin disculpas.", "answers_without", object="disculpas",
            lasts="always",
        ),
        request(
            r"no me (?:sugier(?:as|a)|recomiend(?:es|e)|propong(?:as|a)|ofrezc(?:as|a)) (?:nunca|jamás|más) "
            r"<things>|(?:nunca|jamás) me (?:sugier(?:as|a)|recomiend(?:es|e)|propong(?:as|a)) <things>|"
            r"no me (?:sugier(?:as|a)|recomiend(?:es|e)) <things> (?:nunca|jamás|nunca más)"
            r"|(?:dejar? de|no volver a) (?:sugerirme|recomendarme|proponerme|ofrecerme) <things>",
            "{s} no quiere sugerencias de este tipo: {o}.", "answers_without", lasts="always",
            importance=0.8,
        ),
        request(
            r"(?:cita|cite|incluye|incluya|da|dame|pon|añade|agrega|muestra|muéstrame|{use})(?: tus| las| "
            r"los)? <part>{there}",
            "{s} quiere respuestas con {o}.", "answers_with",
        ),
        request(
            r"(?:sé|sea|seas) (?:más |muy )?(?P<object>direct[oa]|honest[oa]|sincer[oa]|formal|informal|"
            r"amable|paciente|crític[oa]|estrict[oa]|gracios[oa])",
            "{s} quiere este tono en las respuestas: {o}.", "answer_tone",
        ),
    ),
)  # fmt: skip
