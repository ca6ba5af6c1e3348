"""Spanish. "mañana" is tomorrow; "la mañana" is not. Weekdays need their article."""

from __future__ import annotations

from langmemory.formation.dates.words import TimeWords, form, unit_words

PAST = r"(?:pasad[oa]|últim[oa])"
COMING = r"(?:que\s+viene|próxim[oa]|siguiente)"

SPANISH = TimeWords(
    code="es",
    numbers={
        **{
            word: number
            for number, words in enumerate(
                ("un una", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve",
                 "diez", "once", "doce", "trece", "catorce", "quince"),
                start=1,
            )
            for word in words.split()
        },
        "un par de": 2, "veinte": 20, "treinta": 30, "media": 0.5, "medio": 0.5, "primero": 1,
    },
    ordinals=("primero",),
    few=r"un[oa]s\s+(?:cuant[oa]s|poc[oa]s)|algun[oa]s|vari[oa]s|un[oa]s",
    half=r"(?=\s+\w+\s+y\s+medi[oa])",
    units=unit_words(
        minute="minuto minutos", hour="hora horas", day="día días dia dias", week="semana semanas",
        month="mes meses", year="año años", decade="década décadas",
    ),
    weekend=r"fin\s+de\s+semana|finde",
    weekdays={
        "lunes": 0, "martes": 1, "miércoles": 2, "miercoles": 2, "jueves": 3, "viernes": 4,
        "sábado": 5, "sabado": 5, "domingo": 6,
    },
    decades={"sesenta": 1960, "setenta": 1970, "ochenta": 1980, "noventa": 1990},
    weeks={"ocho días": 1, "ocho dias": 1, "8 días": 1, "8 dias": 1, "quince días": 2,
           "quince dias": 2, "15 días": 2, "15 dias": 2},
    days={
        "anteayer": -2, "antes de ayer": -2, "antier": -2, "ayer": -1, "hoy": 0, "mañana": 1,
        "pasado mañana": 2,
    },
    nights={
        "anoche": (-1, 18, 24), "esta mañana": (0, 5, 12), "esta tarde": (0, 12, 20),
        "esta noche": (0, 18, 24), "anteanoche": (-2, 18, 24),
    },
    parts={
        "por la mañana": (5, 12), "por la tarde": (12, 20), "por la noche": (18, 24),
        "en la noche": (18, 24), "en la tarde": (12, 20),
    },
    holidays={
        "nochebuena": (12, 24, 1), "navidad": (12, 25, 1), "nochevieja": (12, 31, 1),
        "año nuevo": (1, 1, 1), "el día de reyes": (1, 6, 1), "el dia de reyes": (1, 6, 1),
    },
    edges=(
        r"(?:a\s+)?(?:principios|comienzos|inicios)\s+de(?:l|\s+la)?\s+",
        r"(?:a\s+)?mediados\s+de(?:l|\s+la)?\s+",
        r"(?:a\s+)?(?:finales|fines)\s+de(?:l|\s+la)?\s+",
    ),
    clock=r",?\s+a\s+las?\s+(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s*"
    r"(?:(?P<pm>p\.?\s?m\b\.?|de\s+la\s+(?:tarde|noche))|(?P<am>a\.?\s?m\b\.?|de\s+la\s+mañana))?",
    lead=r"(?:en|el|este|desde|hasta|durante|para|del|a)(?:\s+(?:el|los|la))?(?:\s+(?:año|años|mes\s+de))?\s+",
    since=r"(?:desde|a\s+partir\s+de)(?:l|\s+el|\s+la)?\s+",
    behind=r"desde\s+(?:\w+\s+){0,4}",
    until=r"hasta(?:\s+(?:el|la))?\s+",
    to=r"\s*(?:–|—|-|al|a|hasta)\s*(?:el\s+)?",
    anchor=r"(?:el\s+|la\s+)?ANCHOR\s+(?:(?P<back>antes)|(?P<ahead>después))\s+del?\s+(?:la\s+)?",
    between=r"entre\s+(?:el\s+)?",
    and_=r"\s+y\s+(?:el\s+)?",
    within=r"\s+(?:del?\s+)?(?:la\s+|el\s+)?",
    never_before=r"\b(?:antes\s+del?|después\s+del?|cada|todos\s+los|todas\s+las|por\s+la|la|de\s+la|un|los)\s+",
    never_after=r"\s*(?:%|grados|euros|\$|(?:del|de\s+cada)\s+(?:mes|año)\b(?!\s+(?:pasado|que)))",
    filler=r"el|la|en|los|las|unos|aproximadamente|alrededor\s+de|sobre|como|más\s+o\s+menos|para|del|de",
    forms=(
        # "Quince días" are two weeks; before the same words counted.
        form(r"hace\s+{weeks}(?!\s+que\b)", -1),
        form(r"(?:dentro\s+de|(?:de\s+hoy\s+)?en)\s+{weeks}", 1),
        form(r"desde\s+hace\s+(?:más\s+de\s+|unos\s+)?{n}\s+{unit}(?:\s+y\s+medi[oa])?", -1,
             role="since"),
        form(r"hace\s+(?:más\s+de\s+|casi\s+)?{n}\s+{unit}(?:\s+y\s+medi[oa])?(?!\s+que\b)", -1),
        form(r"hace\s+(?:más\s+de\s+|casi\s+)?{n}\s+{unit}(?:\s+y\s+medi[oa])?\s+que", -1,
             role="since"),
        form(r"(?:dentro\s+de|en)\s+{n}\s+{unit}(?:\s+y\s+medi[oa])?", 1),
        form(r"{named}"),
        form(r"{night}"),
        form(rf"(?:el\s+|la\s+)?{{target}}\s+{PAST}", -1),
        form(rf"(?:el|la)\s+{PAST}\s+{{target}}", -1),
        form(r"est[ea]\s+{target}", 0),
        form(rf"(?:el\s+|la\s+)?{{target}}\s+{COMING}", 1),
        form(r"(?:el\s+|la\s+)?próxim[oa]\s+{target}", 1),
        form(rf"(?:{{month}}|{{season}}|{{holiday}})\s+del\s+año\s+{PAST}", year_step=-1),
        form(rf"(?:{{month}}|{{season}}|{{holiday}})\s+del\s+(?:próximo\s+año|año\s+{COMING})",
             year_step=1),
        form(r"(?:{month}|{season}|{holiday})\s+de\s+este\s+año", year_step=0),
        form(
            r"(?:(?:el\s+)?(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo),?\s+)?"
            r"(?:el\s+)?(?:día\s+)?{day}\s+de\s+{month}(?:\s+del?\s+{year})?"
        ),
        form(r"(?:del?\s+)?{day}\s+al?\s+{day2}\s+de\s+{month}(?:\s+del?\s+{year})?"),
        form(r"(?:{month}|{season})\s+del?\s+{year}"),
        form(r"{holiday}\s+del?\s+{year}"),
        form(r"(?:en|por|desde|hasta)\s+{holiday}"),
        form(r"{day}/{monthnum}/{year}"),
        form(r"{month}", needs="lead"),
        form(r"{season}", needs="lead"),
        form(r"{weekday}", needs="lead"),
        form(r"{weekend}", needs="lead"),
        form(r"{year}", needs="lead"),
        form(r"{period}", 0, needs="edge"),
        form(r"(?:los\s+)?años\s+{decade}s?", needs="lead"),
        form(r"(?<!\ba )los\s+{decade}(?<!\d)s?", needs="lead"),
        form(r"{year}-{monthnum}-{day}"),
    ),
)  # fmt: skip
