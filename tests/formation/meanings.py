"""Pairs of sentences in nearly the same words, from templates: opposites, and paraphrases.

A line is a template of two sentences. ``{a}`` and ``{b}`` are two names, ``{p}`` and ``{q}`` two places,
``{m}`` and ``{n}`` two numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Pair = tuple[str, str, str]
"""Language and the two sentences."""

SLOTS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "en": (
        {"a": "Kim", "b": "Noor", "p": "Porto", "q": "Ghent", "m": "3", "n": "7"},
        {"a": "Tove", "b": "Emre", "p": "Graz", "q": "Lund", "m": "12", "n": "40"},
        {"a": "Ravi", "b": "Ines", "p": "Turin", "q": "Cork", "m": "5", "n": "2"},
        {"a": "Nell", "b": "Otis", "p": "Basel", "q": "Leeds", "m": "8", "n": "30"},
    ),
    "de": (
        {"a": "Jonas", "b": "Frida", "p": "Bremen", "q": "Mainz", "m": "3", "n": "7"},
        {"a": "Karim", "b": "Heike", "p": "Passau", "q": "Jena", "m": "12", "n": "40"},
        {"a": "Ulla", "b": "Oskar", "p": "Linz", "q": "Chur", "m": "5", "n": "2"},
        {"a": "Thea", "b": "Milan", "p": "Hagen", "q": "Worms", "m": "8", "n": "30"},
    ),
    "es": (
        {"a": "Marta", "b": "Iker", "p": "Lugo", "q": "Murcia", "m": "3", "n": "7"},
        {"a": "Nuria", "b": "Tomás", "p": "Quito", "q": "Lima", "m": "12", "n": "40"},
        {"a": "Bruno", "b": "Elena", "p": "Vigo", "q": "Soria", "m": "5", "n": "2"},
        {"a": "Olga", "b": "Pablo", "p": "Cali", "q": "Jaén", "m": "8", "n": "30"},
    ),
    "zh": (
        {"a": "小明", "b": "阿丽", "p": "上海", "q": "成都", "m": "3", "n": "7"},
        {"a": "老王", "b": "小芳", "p": "杭州", "q": "西安", "m": "12", "n": "40"},
        {"a": "志强", "b": "美玲", "p": "大连", "q": "昆明", "m": "5", "n": "2"},
        {"a": "建国", "b": "晓雯", "p": "青岛", "q": "长沙", "m": "8", "n": "30"},
    ),
}

OPPOSITES = {
    "en": """
        {a} lent {b} {m} euros | {b} lent {a} {m} euros
        {a} is older than {b} | {b} is older than {a}
        {a} was hired by {b} | {a} hired {b}
        {a} moved from {p} to {q} | {a} moved from {q} to {p}
        The bus from {p} leaves before the one from {q} | The bus from {q} leaves before the one from {p}
        {a} beat {b} {m} to {n} | {a} beat {b} {n} to {m}
        {a}'s team won {m}-{n} | {a}'s team won {n}-{m}
        {a} pays {m} for tea and {n} for cake | {a} pays {n} for tea and {m} for cake
        The freezer of {a} is at -{m} degrees | The freezer of {a} is at {m} degrees
        The shares of {a} changed by +{m}% | The shares of {a} changed by -{m}%
        {a} needs <{m} tablets | {a} needs >{m} tablets
        {a} plays the solo in F | {a} plays the solo in F#
        {a} < {b} | {b} < {a}
        {a} wrote that {p} != {q} | {a} wrote that {p} == {q}
        the path goes {p} -> {q} | the path goes {q} -> {p}
        {a} writes C | {a} writes C++
        {a} has blood type O+ | {a} has blood type O-
        {a} eats fish but not meat | {a} eats meat but not fish
        {a}, not {b}, has the key | {b}, not {a}, has the key
        {a} takes the pill before dinner | {a} takes dinner before the pill
        {a} is {b}'s boss | {b} is {a}'s boss
        {a}, says {b}, is a liar | {a} says {b} is a liar
        {a} works from Monday to Friday | {a} works from Friday to Monday
        {a} drinks coffee with milk | {a} drinks coffee without milk
        The parcel is for {a} from {b} | The parcel is from {a} for {b}
        Only {a} may feed the cat | {a} may only feed the cat
        {a} was in the office | {a} is in the office
        """,
    "de": """
        {a} hat {b} {m} Euro geliehen | {b} hat {a} {m} Euro geliehen
        {a} ist älter als {b} | {b} ist älter als {a}
        {a} wurde von {b} eingestellt | {b} wurde von {a} eingestellt
        {a} zog von {p} nach {q} | {a} zog von {q} nach {p}
        {a} schlug {b} {m} zu {n} | {a} schlug {b} {n} zu {m}
        Das Team von {a} gewann {m}:{n} | Das Team von {a} gewann {n}:{m}
        {a} zahlt {m} für Tee und {n} für Kuchen | {a} zahlt {n} für Tee und {m} für Kuchen
        Im Keller von {a} sind es -{m} Grad | Im Keller von {a} sind es {m} Grad
        Im Keller von {a} sind es minus {m} Grad | Im Keller von {a} sind es {m} Grad
        {a} spielt das Stück in F | {a} spielt das Stück in F#
        {a} programmiert in C | {a} programmiert in C#
        {a} hat Blutgruppe B+ | {a} hat Blutgruppe B-
        {a} isst Fisch, aber kein Fleisch | {a} isst Fleisch, aber keinen Fisch
        Nicht {a}, sondern {b} hat den Schlüssel | Nicht {b}, sondern {a} hat den Schlüssel
        {a} nimmt die Tablette vor dem Essen | {a} nimmt die Tablette nach dem Essen
        {a} wartet auf {b} | {b} wartet auf {a}
        {a}, sagt {b}, lügt | {a} sagt, {b} lügt
        {a} arbeitet von Montag bis Freitag | {a} arbeitet von Freitag bis Montag
        {a} trinkt Kaffee mit Milch | {a} trinkt Kaffee ohne Milch
        Das Paket ist für {a} von {b} | Das Paket ist von {a} für {b}
        """,
    "es": """
        {a} prestó {m} euros a {b} | {b} prestó {m} euros a {a}
        {a} es mayor que {b} | {b} es mayor que {a}
        {a} llamó a {b} | A {a} llamó {b}
        {a} se mudó de {p} a {q} | {a} se mudó de {q} a {p}
        {a} ganó a {b} por {m} a {n} | {a} ganó a {b} por {n} a {m}
        El equipo de {a} ganó {m}-{n} | El equipo de {a} ganó {n}-{m}
        {a} paga {m} por el té y {n} por el pan | {a} paga {n} por el té y {m} por el pan
        En casa de {a} hay -{m} grados | En casa de {a} hay {m} grados
        {a} toca la pieza en F | {a} toca la pieza en F#
        {a} programa en C | {a} programa en C++
        {a} es del grupo A+ | {a} es del grupo A-
        {a} come pescado pero no carne | {a} come carne pero no pescado
        La llave la tiene {a}, no {b} | La llave la tiene {b}, no {a}
        {a} llega antes que {b} | {b} llega antes que {a}
        {a}, dice {b}, miente | {a} dice: {b} miente
        {a} trabaja de lunes a viernes | {a} trabaja de viernes a lunes
        {a} toma el café con leche | {a} toma el café sin leche
        El paquete es para {a} de {b} | El paquete es de {a} para {b}
        No, viene {a} con {b} | No viene {a} con {b}
        """,
    "zh": """
        {a}借给{b}{m}块钱 | {b}借给{a}{m}块钱
        {a}比{b}大 | {b}比{a}大
        {a}被{b}录用了 | {b}被{a}录用了
        {a}从{p}搬到{q} | {a}从{q}搬到{p}
        {a}以{m}比{n}赢了{b} | {a}以{n}比{m}赢了{b}
        {a}的队{m}-{n}赢了 | {a}的队{n}-{m}赢了
        {a}花{m}块买茶{n}块买面包 | {a}花{n}块买茶{m}块买面包
        {a}家冰箱是-{m}度 | {a}家冰箱是{m}度
        {a}用F调演奏 | {a}用F#调演奏
        {a}会写C语言 | {a}会写C++语言
        {a}吃鱼不吃肉 | {a}吃肉不吃鱼
        {a}是{b}的老板 | {b}是{a}的老板
        {a}在等{b} | {b}在等{a}
        {a}教{b}的妹妹弹琴 | {b}教{a}的妹妹弹琴
        {a}饭前吃药 | {a}饭后吃药
        {a}周一到周五上班 | {a}周五到周一上班
        {a}给{b}打电话 | {b}给{a}打电话
        是{a}而不是{b}拿了钥匙 | 是{b}而不是{a}拿了钥匙
        """,
}

PARAPHRASES = {
    "en": """
        {a} has bought a red bike | {a} bought the red bike
        In the morning {a} drinks tea | {a} drinks tea in the morning
        On Monday {a} swims in {p} | {a} swims in {p} on Monday
        {a} likes tea and coffee | {a} likes coffee and tea
        {a} and {b} moved to {p} | {b} and {a} moved to {p}
        {a} has three cats | {a} has 3 cats
        {a} doesn't eat meat | {a} doesnt eat meat
        {a} does not eat meat | {a} doesn't eat meat
        {a} plays chess with {b} | With {b}, {a} plays chess
        {a} is allergic to peanuts | {a} is allergic to peanut
        {a} works at the library. | {a} works at the library!
        {a} really loves the sea | {a} loves the sea
        {a} has got a sailing boat | {a} has a sailing boat
        the freezer of {a} is at -{m} degrees | The freezer of {a} is at −{m} degrees
        {a} moved to {q} from {p} | {a} moved from {p} to {q}
        Before dinner {a} takes the pill | {a} takes the pill before dinner
        {a} writes C++ | {a} writes c++
        {a} was hired by {b} in {p} | {a} was hired in {p} by {b}
        """,
    "de": """
        Am Montag geht {a} schwimmen | {a} geht am Montag schwimmen
        Mit {b} spielt {a} Schach | {a} spielt Schach mit {b}
        {a} hat ein rotes Fahrrad gekauft | {a} hat das rote Fahrrad gekauft
        {a} mag Tee und Kaffee | {a} mag Kaffee und Tee
        {a} und {b} zogen nach {p} | {b} und {a} zogen nach {p}
        {a} hat drei Katzen | {a} hat 3 Katzen
        In {p} arbeitet {a} als Koch | {a} arbeitet in {p} als Koch
        {a} ist sehr allergisch gegen Nüsse | {a} ist allergisch gegen Nüsse
        Morgens trinkt {a} Tee | {a} trinkt morgens Tee
        {a} wurde von {b} in {p} eingestellt | {a} wurde in {p} von {b} eingestellt
        {a} zog nach {q} von {p} | {a} zog von {p} nach {q}
        {a} programmiert in C#. | {a} programmiert in C#
        {a} hat einen Hund, der bellt | {a} hat einen Hund der bellt
        Vor dem Essen nimmt {a} die Tablette | {a} nimmt die Tablette vor dem Essen
        """,
    "es": """
        Los lunes {a} nada en {p} | {a} nada los lunes en {p}
        Por la mañana {a} toma té | {a} toma té por la mañana
        {a} juega al ajedrez con {b} | Con {b} juega {a} al ajedrez
        A {a} le gusta el té y el café | A {a} le gusta el café y el té
        {a} y {b} se mudaron a {p} | {b} y {a} se mudaron a {p}
        {a} tiene tres gatos | {a} tiene 3 gatos
        En {p} trabaja {a} de cocinero | {a} trabaja en {p} de cocinero
        {a} es muy alérgica a las nueces | {a} es alérgica a las nueces
        {a} se mudó a {q} desde {p} | {a} se mudó desde {p} a {q}
        {a} programa en C++. | {a} programa en C++
        Antes de cenar {a} toma la pastilla | {a} toma la pastilla antes de cenar
        {a} compró una bici roja | {a} compró la bici roja
        """,
    "zh": """
        {a}周一去游泳 | 周一{a}去游泳
        {a}早上喝茶 | 早上{a}喝茶
        {a}喜欢茶和咖啡 | {a}喜欢咖啡和茶
        {a}和{b}住在{p} | {b}和{a}住在{p}
        {a}有三只猫 | {a}有3只猫
        {a}在{p}的银行工作 | {a}在{p}的银行工作。
        {a}对花生过敏 | {a}对花生过敏！
        {a}很喜欢大海 | {a}喜欢大海
        在{p}{a}开了一家店 | {a}在{p}开了一家店
        {a}会写C++语言 | {a}会写c++语言
        {a}跟{b}一起住 | {a}和{b}一起住
        """,
}


def pairs(templates: Mapping[str, str]) -> Iterator[Pair]:
    """Yield each template with each of its language's slots."""
    for language, text in templates.items():
        for line in text.strip().splitlines():
            one, other = line.split(" | ")
            for slots in SLOTS[language]:
                yield language, one.strip().format(**slots), other.strip().format(**slots)
