"""Spanish, where the subject is mostly in the verb: a clause without one is about whoever speaks."""

from __future__ import annotations

from langmemory.formation.rules.retractions.english import COUPLE, JOB, OF_JOB, ROLES
from langmemory.formation.rules.retractions.frame import Ending, Frame, ending

_NO = r"(?:ya no|no|nunca|tampoco)"
_ME = r"(?:{S} )?"
_END = (
    r"(?: (?:ayer|hoy|el \w+(?: pasado)?|la semana pasada|hace [\w ]+|en \w+|ya|ahora|por fin|"
    r"definitivamente|otra vez))*\W*$"
)

ENDINGS: list[Ending] = [
    *ending(
        "lives_in",
        rf"{_ME}{_NO} (?:vivo|vivimos|vive|resido|estoy|estamos)(?: [a-z]+)?? en {{O}}",
        rf"{_ME}(?:me|nos) (?:fui|fuimos|he ido|marché|marchamos|mudé|mudamos) de {{O}}",
        rf"{_ME}(?:dejé|dejamos|he dejado|abandoné) {{O}}",
        rf"{_ME}(?:antes )?(?:vivía|vivíamos) en {{O}}",
        rf"{_ME}{_NO} vivo (?:allí|ahí|aquí)",
    ),
    *ending(
        JOB,
        rf"{_ME}{_NO} (?:trabajo|trabajamos|trabaja|estoy)(?: [a-z]+)?? (?:en|para|con) {{O}}",
        rf"{_ME}(?:dejé|he dejado|renuncié a|me fui de|me he ido de|perdí|he perdido|abandoné) {{O}}",
        rf"{_ME}(?:dejé|he dejado|perdí|he perdido|renuncié a) (?:{{P}}|el) (?:trabajo|empleo|puesto)",
        rf"{{M}} (?:despidieron|han despedido|echaron|han echado)(?: de {{O}})?{_END}",
        rf"{_ME}(?:renuncié|dimití|me jubilé|me he jubilado|estoy (?:en (?:el )?paro|desemplead[oa]|"
        rf"jubilad[oa])){_END}",
        r"{O} {M} (?:despidió|echó|ha despedido)",
        rf"{_ME}{_NO} trabajo(?: (?:allí|ahí))?{_END}",
    ),
    *ending(
        OF_JOB,
        r"{M} (?:despidieron|han despedido|echaron)",
        rf"{_ME}(?:dejé|perdí) {{O}}",
        unsure=True,
    ),
    *ending(
        "works_as diet religion has_condition",
        rf"{_ME}{_NO} (?:soy|trabajo como|es|tengo|sufro de|como)(?: un[ao]?)? ?{{O}}",
        rf"{_ME}(?:dejé|he dejado) de ser {{O}}",
        rf"{_ME}(?:vuelvo a comer|como|he vuelto a comer) (?:carne|pescado)(?: otra vez| de nuevo| ahora)?",
        r"{O} (?:desapareció|se me quitó|se curó)",
    ),
    *ending(
        COUPLE,
        r"(?:{O} y (?:{S}|yo)|{S} y {O})? ?{M} (?:divorciamos|separamos|hemos divorciado|hemos separado|"
        r"dejamos|divorcié|separé|he divorciado|he separado)(?: de {O})?",
        rf"(?:{{O}} y (?:{{S}}|yo) )?(?:hemos roto|rompimos|terminamos|cortamos|{_NO} estamos (?:juntos|"
        rf"juntas|casados|casadas|prometidos))(?: con {{O}})?",
        rf"{_ME}(?:rompí|terminé|corté|he roto|lo dejé) con {{O}}",
        r"{O} {M} (?:dejó|ha dejado|abandonó)",
        rf"{_ME}(?:estoy|soy) (?:divorciad[oa]|separad[oa]|solter[oa]|viud[oa])",
        rf"{_ME}{_NO} (?:estoy casad[oa]|salgo|estoy) con {{O}}",
        r"{O} es {P} ex\b",
        r"(?:la|{P}) (?:boda|relación|compromiso) se (?:canceló|acabó|terminó)",
    ),
    *ending(
        f"{COUPLE} {ROLES} lives_with",
        rf"{{O}} {_NO} es {{P}} \w+",
        r"{O} se (?:mudó|fue|ha ido|ha mudado)\b",
    ),
    *ending(
        "has_pet owns has_vehicle",
        rf"{_ME}(?:vendí|vendimos|he vendido|regalé|regalamos|perdí|perdimos|di|dimos|hemos dado|me "
        rf"deshice de|nos deshicimos de)(?: a)? {{O}}",
        rf"{_ME}{_NO} (?:tengo|tenemos)(?: a| un[ao]?| ningún| ninguna)? ?{{O}}",
        r"{O} (?:se escapó|se perdió|desapareció|se ha escapado)",
        r"{M} robaron {O}",
        rf"{_ME}tuvimos que (?:sacrificar|dar|vender)(?: a)? {{O}}",
    ),
    *ending(
        "allergic_to",
        rf"{_ME}{_NO} (?:soy|es) alérgic[oa] (?:a|al) (?:las |los |la |el )?{{O}}",
        rf"{_ME}{_NO} tengo {{O}}",
        r"{O} (?:desapareció|se me quitó|se fue)",
        rf"{_ME}(?:puedo|ya puedo) (?:volver a )?(?:comer|tomar) {{O}}",
    ),
    *ending(
        "likes interested_in",
        rf"(?:a mí )?{_NO} {{M}} (?:gusta|gustan|encanta|encantan|interesa|interesan)(?: [a-z]+)?? {{O}}",
        rf"{_ME}(?:odio|detesto) {{O}}",
        rf"{_ME}(?:ya )?no soporto {{O}}",
        r"{O} ya no {M} (?:gusta|gustan|interesa|encanta)",
    ),
    *ending(
        "likes interested_in",
        rf"{_ME}(?:dejé|he dejado)(?: de (?:tomar|beber|comer|hacer|ver|jugar))? {{O}}",
        rf"{_ME}{_NO} (?:tomo|bebo|como|hago|juego|veo) {{O}}",
        unsure=True,
    ),
    *ending("dislikes", r"(?:ahora|ya) {M} gusta[n]? {O}"),
    *ending(
        "has_hobby studies uses takes_medication speaks member_of studies_at",
        rf"{_ME}{_NO} (?:toco|juego|hago|practico|estudio|uso|utilizo|tomo|hablo|aprendo|voy|canto)(?: "
        rf"[a-z]+){{0,2}}? {{O}}",
        rf"{_ME}(?:dejé|he dejado|abandoné|terminé)(?: de (?:tocar|jugar|hacer|estudiar|usar|tomar|"
        rf"aprender|cantar|ir))?(?: (?:al|a|el|la|en))* {{O}}",
    ),
    *ending(
        "plans decided",
        r"{O} (?:se canceló|se ha cancelado|está cancelad[oa]|fue cancelad[oa]|quedó en nada|se "
        r"suspendió|no va a (?:ser|pasar))",
        rf"{_ME}(?:cancelé|cancelamos|he cancelado|hemos cancelado|anulé|suspendimos) {{O}}",
        rf"{_ME}(?:ya )?no (?:viajo|viajamos|voy|vamos|vuelo|me mudo|nos mudamos|voy a (?:viajar|ir|"
        rf"mudarme))(?: [a-z]+)?? (?:a|al) {{O}}",
        r"{S}?no {M} casamos",
    ),
    *ending(
        "comes_from born_in born_on age",
        rf"{_ME}no (?:soy|nací|vengo)(?: de| en| el)? {{O}}",
        never=True,
    ),
]

SPANISH = Frame(
    code="es",
    cues=(
        r"\b(?:no|ya|nunca|tampoco|dej[éeóo]|dejado|dejamos|perdí|perdimos|perdido|murió|muerto|muerta|"
        r"falleció|sacrific\w+|divorci\w+|separ\w+|"
        r"romp\w+|roto|terminé|terminamos|cort\w+|soltera|soltero|viud[oa]|despid\w+|despedido|echaron|"
        r"renuncié|dimití|paro|jubil\w+|vend\w+|regal\w+|"
        r"cancel\w+|anul\w+|suspend\w+|quería decir|quise decir|digo|perdón|sino|ex|odio|detesto|"
        r"soporto|fui|fuimos|mudé|mudamos|marché|abandon\w+|robaron|escapó|ahora|antes|vivía|desapareció)\b"
    ),
    skip=r"\b(?:si|quizás?|tal vez|ojalá|podría|quisiera|querría|casi|a lo mejor|quiero|espero|pienso "
        r"dejar|voy a (?:dejar|vender|renunciar)|todavía no|aún no|no solo)\b",
    doubt=r"\b(?:creo|parece|dicen|dice|dijo|supongo|probablemente|al parecer)\b",
    passing=r"\b(?:hoy|mañana|esta semana|por ahora|de momento|todavía|aún|siempre|mucho|a menudo)\b",
    leads=(
        r"(?:(?:y|pero|pues|bueno|ay|oh|perdón|perdona|lo siento|la verdad|por cierto|en realidad|al "
        r"final|lamentablemente|por desgracia|desgraciadamente|"
        r"hola|oye|mira|ahora|resulta que|es que|porque|que|la semana pasada|el mes pasado|el año "
        r"pasado|ayer|hace \w+ \w+|finalmente)\b[\s,:–—-]*)*"
    ),
    splits=r"\s*[;:–—]\s+|\s*,\s+(?=(?:yo|mi|mis|el|la|nos|me|y|pero|porque|ahora|ya)\b)|\s+(?:pero|"
        r"porque)\s+",
    me=r"\b(?:yo|nosotros|nosotras)\b",
    my=r"\b(?:mi|mis|nuestr[oa]s?)\b",
    to_me=r"\b(?:me|nos|mí)\b",
    it=r"\b(?:lo|la|los|las|allí|ahí)\b",
    them=r"\b(?:lo|la|él|ella)\b",
    both=(r"§O y §S",),
    articles=r"(?:mis?|nuestr[oa]s?|el|la|los|las|un|una|este|esta|al|§P)",
    between=r"(?:,|a|con|en|de|para)",
    nouns={
        "works_at": "trabajo|empleo|puesto", "has_pet": "mascota", "married_to": "marido|mujer|esposo|"
        "esposa|matrimonio",
        "engaged_to": "compromiso|boda", "partner_of": "novio|novia|pareja|relación", "allergic_to":
        "alergia", "has_hobby": "clases|clase",
        "takes_medication": "medicación|pastillas", "reports_to": "jefe|jefa",
    },
    plans=(
        (r"mudar", "mudanza", r"(?!)"), (r"viajar|visitar|volar|\bir\b", "viaje|vuelo|vacaciones|visita",
        r"(?!)"),
        (r"cas", "boda", r"(?!)"), (r"cita", "cita", r"(?!)"),
    ),
    parts={"unplanned": r"(?!)<verbs>"},
    endings=tuple(ENDINGS),
    corrections=(
        r"no (?:es|era|en|soy de|vivo en|trabajo en)? ?(?P<old>[^,;]+?),? (?:sino|es|era|vivo en|soy "
        r"de)(?: (?:que )?(?:en|de|es))? (?P<new>[^,;]+)",
        r"(?:es|era) (?P<new>[^,;]+?),? (?:y )?no (?P<old>[^,;]+)",
        r"(?:quería decir|quise decir|digo|me refería a|debería ser)(?: que)? (?P<new>[^,;]+?)(?:,? "
        r"(?:y )?no (?P<old>[^,;]+))?",
        r"[\w ]+? (?:en|de|a) (?P<new>[^,; ]+),? (?:y )?no (?:en |de |a )?(?P<old>[^,;]+)",
        r"(?P<new>[^,;]+?),? no (?:en |de )?(?P<old>[^,;]+)",
    ),
    again=r"(?:(?:no|ay)[ ,.–—-]+)*(?:perdón|perdona|digo|lo siento)[ "
        r",:.–—-]+(?P<new>(?-i:[A-ZÁÉÍÓÚ0-9])\S*(?: \S+){0,2})",
    instead="quería decir",
    denials=r"(?:eso|esto) (?:no es (?:verdad|cierto|así)|ya no es así|es (?:falso|mentira|un error)|se "
        r"acabó)",
    died=r"(?:{O}|{S}) (?:(?:se )?(?:murió|ha muerto|falleció|ha fallecido)|está muert[oa]|murieron)|"
        r"(?:{S} )?(?:tuvimos|tuve) que (?:sacrificar|dormir)(?: a)? {O}|(?:{S} )?(?:soy|estoy|quedé) "
        r"viud[oa]",
    forms=("s", "es", "o", "a", "os", "as"),
)  # fmt: skip
