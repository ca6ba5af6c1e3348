"""Spanish, with "tú" and "usted"."""

from __future__ import annotations

from langmemory.formation.rules.questions.question import Asking, question

_WHO = r"(?:tu {adjectives}(?P<kin>{kin})(?: mayor| menor)?|(?P<name>{Word}))"
_REST = r"(?P<rest>(?!.*\b(?:algun[oa]?s?|algún|algo|alguien|o|alguna vez|si|también|ganas|tiempo|idea)\b).+)"

SPANISH = Asking(
    code="es",
    ends=r"ahora|actualmente|exactamente|por cierto|tú|entonces|otra vez|si puedo preguntar|"
    r"si se puede saber|hoy en día",
    yes=r"(?:ah )?(?:s[ií]|claro|claro que sí|exacto|correcto|así es|sip|eso es)(?:,? claro)?",
    no=r"no|nop|ningun[oa]|ningún|nada|nadie|nunca|jamás|tampoco|ni|antes|apenas|más o menos|a veces|ya no",
    evades=(
        r"adivina|pregunt\w*|por|qué|cómo|dónde|donde|quién|cuándo|aquí|allí|allá|ahí|lejos|cerca|todas|"
        r"todos|"
        r"cualquier\w*|casa|fuera|dentro|arriba|abajo|depende|difícil|buena|secret\w*|es|eso|esto|igual|lo|"
        r"mism\w*|ja(?:ja)+|je(?:je)+|eh+|mm+|pues|uf+|ay|bueno|todo|much\w*|varios|varias|algun\w*|paro|"
        r"par[oa]d[oa]|"
        r"jubilad[oa]|autónom[oa]|marte|luna|infierno|cielo|mi|mis|tu|tus|su|sus|nuestr\w*|gracias|oye|mira|"
        r"yo|te|me|se|ni|sigo|todavía|aún|solo|sólo|para|con|sin|entre"
    ),
    trails=(
        r"originalmente|ahora|actualmente|de momento|por ahora|también|gracias|claro|por suerte|"
        r"por desgracia|"
        r"desgraciadamente|sobre todo|principalmente|y tú|y usted|tía|tío"
    ),
    back=r"¿?(?:y )?(?:tú|usted|vosotr[oa]s|ustedes|a ti|el tuyo|la tuya|qué tal tú)",
    mine=((r"\b[Tt]u\b", "mi"), (r"\b[Tt]us\b", "mis")),
    who="Mi {kin}",
    questions=(
        question(r"(?:en )?d[oó]nde (?:vives|vive usted|est[aá]s viviendo|viv[ií]s)", "Vivo en {answer}",
        "name",
                 lead="(?:vivo )?(?:en|cerca de)"),
        question(rf"d[oó]nde vive {_WHO}", "{who} vive en {answer}", "name", lead="(?:vive )?en"),
        question(r"de d[oó]nde (?:eres|es usted|sois)", "Soy de {answer}", "name", lead="(?:soy )?de"),
        question(rf"de d[oó]nde es {_WHO}", "{who} es de {answer}", "name", lead="(?:es )?de"),
        question(r"d[oó]nde (?:naciste|nació usted)", "Nací en {answer}", "name", lead="(?:nací )?en"),
        question(r"d[oó]nde (?:creciste|te criaste)", "Crecí en {answer}", "name", lead="(?:crecí )?en"),
        question(r"(?:a ?d[oó]nde) (?:te mudaste|te has mudado|os mudasteis|os habéis mudado)",
                 "Me mudé a {answer}", "name", lead="a"),
        question(r"(?:a ?d[oó]nde) (?:te mudas|os mudáis|te vas a mudar)", "Me mudo a {answer}",
        "name", lead="a"),
        question(
            r"(?:para qui[eé]n|en qu[eé] empresa|para qu[eé] empresa) (?:trabajas|trabaja usted)",
            "Trabajo en {answer}", "name", lead="(?:trabajo )?(?:en|para)",
        ),
        question(
            r"a qu[eé] (?:te dedicas|se dedica usted)|(?:en|de) qu[eé] (?:trabajas|trabaja usted)|"
            r"cu[aá]l es tu "
            r"(?:profesión|trabajo|ocupación)|qu[eé] eres de profesión",
            "Soy {answer}", "word", lead="(?:soy )?una?|soy|de|como|trabajo (?:de|como)",
        ),
        question(rf"(?:a qu[eé] se dedica|(?:en|de) qu[eé] trabaja) {_WHO}", "{who} es {answer}", "word",
                 lead="(?:es )?una?|es|de|como"),
        question(r"cómo se llama tu {adjectives}(?P<kin>{kin})(?: mayor| menor)?",
                 "{who} se llama {answer}", "name", lead="se llama"),
        question(r"cómo se llama tu {adjectives}(?P<pet>{pet})", "Mi {pet} se llama {answer}", "name",
                 lead="se llama"),
        question(r"c[oó]mo (?:te llamas|se llama usted)|cuál es tu nombre", "Me llamo {answer}", "name",
                 lead="soy"),
        question(rf"cu[aá]ntos años tiene {_WHO}", "{who} tiene {answer} años",
        "word", lead="tiene", tail="años"),
        question(r"(?:cu[aá]ntos años|qu[eé] edad) (?:tienes|tiene usted)", "Tengo {answer} años", "word",
                 lead="tengo", tail="años"),
        question(r"cu[aá]ndo (?:es tu cumpleaños|cumples(?: años)?)", "Mi cumpleaños es {answer}",
                 "time", lead="es"),
        question(
            r"(?:eres|es usted) alérgic[oa] a algo|(?:tienes|tiene usted) (?:alguna )?alergias?"
            r"(?: alimentarias?)?|a qu[eé] (?:eres|es usted) alérgic[oa]|alguna alergia",
            "Soy alérgico a {answer}", "word", lead="(?:soy alérgic[oa] )?(?:a los|a las|a la|al|a)|s[oó]lo",
        ),
        question(
            r"(?:tienes|tiene usted|tenéis) (?:algún|alguna|una?)?(?: )?(?:mascotas?|animal(?:es)?|hij[oa]s|"
            r"hermanos|perro|gato)",
            "Tengo {answer}", "word", lead="tengo|tenemos|s[oó]lo",
        ),
        question(r"(?:qu[eé]|cuántos) (?:idiomas|lenguas) (?:hablas|habla usted)", "Hablo {answer}", "word",
                 lead="hablo"),
        question(r"qu[eé] instrumentos? tocas", "Toco {answer}", "word", lead="toco|el|la"),
        question(rf"vives {_REST}", "Vivo {rest}{answer}", "yes"),
        question(rf"eres {_REST}", "Soy {rest}{answer}", "yes"),
        question(rf"est[aá]s {_REST}", "Estoy {rest}{answer}", "yes"),
        question(rf"tienes {_REST}", "Tengo {rest}{answer}", "yes"),
        question(rf"trabajas {_REST}", "Trabajo {rest}{answer}", "yes"),
        question(rf"hablas {_REST}", "Hablo {rest}{answer}", "yes"),
        question(rf"tocas {_REST}", "Toco {rest}{answer}", "yes"),
    ),
)  # fmt: skip
