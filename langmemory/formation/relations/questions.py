"""The relations a question asks for: "Where does Lena work?" for `works_at` and `works_as`, of Lena.

Words of questions, as data, in English, German, Spanish and Chinese; one may ask for several
relations. They are read from whom the question names to the answer: "mother" asks for `child_of`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from langmemory.formation.relations.vocabulary import BY_NAME, NO_LONGER, PLANNED
from langmemory.languages import is_unspaced, without_marks
from langmemory.languages.language import word_set

_WORDS: Final[Mapping[str, str]] = {
    "parent_of": """child children kid kids son sons daughter daughters baby kind kinder sohn
        söhne tochter töchter hijo hija hijos hijas 孩子 儿子 女儿""",
    "child_of": """mother father mom mum dad parent parents mutter vater mama papa eltern madre
        padre padres 妈妈 爸爸 母亲 父亲 父母""",
    "sibling_of": """brother brothers sister sisters sibling siblings twin bruder brüder schwester
        schwestern geschwister hermano hermana hermanos hermanas 哥哥 弟弟 姐姐 妹妹 兄弟 姐妹""",
    "grandparent_of": """grandchild grandchildren grandson granddaughter enkel enkelin nieto nieta
        nietos 孙子 孙女""",
    "grandchild_of": """grandmother grandfather grandma grandpa grandparents oma opa großmutter
        großvater großeltern abuela abuelo abuelos 奶奶 爷爷 外婆 外公""",
    "cousin_of": "cousin cousins cousine primo prima primos 表哥 表妹",
    "aunt_or_uncle_of": "niece nieces nephew nephews nichte neffe sobrina sobrino 侄子 侄女",
    "niece_or_nephew_of": "aunt aunts uncle uncles tante onkel tía tío 阿姨 叔叔",
    "married_to": """wife husband spouse married partner ehefrau ehemann frau mann verheiratet
        esposa esposo marido mujer casado casada pareja 妻子 丈夫 老婆 老公 结婚""",
    "engaged_to": """fiancé fiancée engaged verlobt verlobte verlobter prometido prometida 未婚夫
        未婚妻""",
    "partner_of": """partner girlfriend boyfriend dating together seeing partnerin zusammen
        freundin freund novia novio pareja 女朋友 男朋友 对象""",
    "friend_of": "friend friends freund freundin freunde amigo amiga amigos amigas 朋友",
    "colleague_of": """colleague colleagues coworker coworkers teammate kollege kollegin kollegen
        colega colegas 同事""",
    "neighbour_of": "neighbour neighbours neighbor neighbors nachbar nachbarin vecino vecina 邻居",
    "nickname": "nickname spitzname apodo 外号 昵称",
    "born_on": "birthday birthdate born geburtstag geboren cumpleaños nací nació 生日 出生",
    "born_in": "birthplace born geboren geburtsort nací nació 出生",
    "age": "old age alt alter edad años 多大 年龄 几岁",
    "nationality": "nationality citizenship staatsangehörigkeit nacionalidad 国籍",
    "comes_from": """from hometown originally komme kommst kommt stamme stammst stammt herkunft
        origen vengo viene 来自 老家""",
    "speaks": """speak speaks language languages spreche sprichst spricht sprache sprachen hablo
        hablas habla idioma idiomas 会说 语言""",
    "religion": "religion religión 宗教",
    "diet": """diet eat eats vegetarian vegan ernährung esse isst vegetarier dieta como comes come
        饮食 吃素""",
    "allergic_to": """allergic allergy allergies allergisch allergie allergien alérgico alérgica
        alergia alergias 过敏""",
    "has_condition": "illness disease diagnosed krankheit diagnose enfermedad 病",
    "marital_status": "married single verheiratet ledig casado casada soltero soltera 结婚 单身",
    "lives_in": """live lives lived living based reside resides home city town move moved moving
        wohne wohnst wohnt wohnen lebe lebst lebt leben wohnte gewohnt lebte gelebt zuhause
        wohnort umgezogen stadt vivo vives vive vivir vivía vivías vivió ciudad mudado 住 居住 搬
        城市""",
    "located_in": "located lies liegt queda 位于",
    "address": "address live lives adresse anschrift dirección 地址",
    "phone_number": """phone number telephone telefonnummer handynummer nummer teléfono número
        电话 手机号""",
    "email": "email mail mailadresse correo 邮箱",
    "works_at": """work works worked working job jobs employer company firm employed arbeite
        arbeitest arbeitet arbeiten arbeitete gearbeitet arbeitgeber firma stelle trabajo trabajas
        trabaja trabajar trabajaba trabajó empresa empleo 工作 上班 公司 就职""",
    "employs": "employees staff mitarbeiter empleados 员工",
    "works_as": """job work works occupation profession role position title beruf beruflich
        arbeitet arbeite profesión trabajo trabaja puesto 职业 职位 工作""",
    "reports_to": """report reports boss manager supervisor chef chefin vorgesetzte vorgesetzter
        jefe jefa 老板 上司 经理""",
    "studies_at": """school university college study studies studying schule uni universität
        studiere studierst studiert escuela universidad estudio estudias estudia 学校 大学 上学""",
    "studies": """study studies studying major learning studium studiere studierst studiert fach
        lerne estudio estudias estudia carrera 专业 学习""",
    "graduated_from": "graduate graduated degree abschluss graduó 毕业",
    "founded": "founded founder gegründet gründer fundó 创办 创立",
    "founded_by": "founded founder gegründet gründer fundó fundador 创始人",
    "member_of": "member club team volunteer mitglied verein miembro equipo 成员",
    "has_member": "members mitglieder miembros 成员",
    "has_pet": """pet pets dog dogs cat cats haustier haustiere hund hunde katze katzen mascota
        mascotas perro perros gato gatos 宠物 狗 猫""",
    "pet_of": "owner besitzer besitzerin dueño dueña 主人",
    "has_phone": "phone mobile cellphone smartphone handy telefon móvil celular teléfono 手机 电话",
    "has_vehicle": """car bike vehicle drive drives motorbike auto wagen fahrzeug fahrrad fahre
        fährt coche carro moto bici conduzco conduce 车 开车""",
    "has_doctor": """doctor gp dentist physician arzt ärztin hausarzt zahnarzt médico médica
        doctora dentista 医生 牙医""",
    "owns": "own owns drive drives besitze besitzt fahre fährt conduzco conduce tengo 拥有 开",
    "likes": """like likes love loves enjoy enjoys prefer prefers mag magst liebe gusta gustan
        喜欢 爱""",
    "dislikes": "dislike dislikes hate hates hasse hasst odio odia 讨厌",
    "has_hobby": """hobby hobbies play plays sport sports exercise hobbys spiele spielt afición
        aficiones toca deporte 爱好 运动""",
    "has_goal": "goal goals dream ziel ziele meta metas 目标 梦想",
}

_PHRASES: Final[Mapping[str, str]] = {
    "for a living": "works_as works_at",
    "come from": "comes_from",
    "grow up": "comes_from",
    "grew up": "comes_from",
    "how old": "age",
    "wie alt": "age",
    "move to": "lives_in",
}
"""Of several words, which ask for nothing else then."""

MOST_NAMED: Final = 16
"""Relations named by a model that one question asks for."""

_FRAME: Final = """name names called now days moment still currently today old previous former earlier
    originally first before use used heiße heißt jetzt noch aktuell alte alten alter früher frühere
    früheren ehemalige vorher davor damals llama llamo nombre ahora todavía actual antiguo antigua
    anterior antes 名字 叫 现在 目前 以前 之前 原来"""
_FAVOURITE: Final = "favourite favorite lieblings favorito favorita 最喜欢 最爱"

FIRST_PERSON: Final = word_set(
    """tengo vivo trabajo soy estoy voy hago como uso conduzco hablo estudio llamo nací juego debo
    tenía vivía trabajaba"""
)
"""Verbs by which somebody speaks of themselves without a pronoun."""

_ASKED: defaultdict[str, list[str]] = defaultdict(list)
for _relation, _words in _WORDS.items():
    for _word in _words.split():
        _ASKED[without_marks(_word)].append(_relation)
FRAME: Final = frozenset(map(without_marks, _FRAME.split()))
"""Words that ask what something is called, or whether now or before: they do not tell claims apart."""
FAVOURITE: Final = frozenset(map(without_marks, _FAVOURITE.split()))
_UNSPACED: Final = tuple(word for word in (*_ASKED, *FRAME, *FAVOURITE) if is_unspaced(word))


def relations_asked(
    text: str, terms: Sequence[str], used: Iterable[str] = ()
) -> dict[str, frozenset[str]]:
    """The relations that the ``terms`` of a question ask for, and by which of these each.

    Those ``used``, as a model may have named them, are asked for by the words they are made of:
    "gym" for ``goes_to_gym``; those with the most of the words, at most `MOST_NAMED`.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    folded = text.casefold()
    phrases = [one for one in _PHRASES if one in folded]
    for term in terms:
        within = [_PHRASES[one].split() for one in phrases if term in one.split()]
        for relations in within or [_ASKED.get(word, []) for word in _words_in(term)]:
            for relation in relations:
                found[relation].add(term)
    plain = plain_words(terms)
    named: dict[str, set[str]] = {}
    for relation in used:
        if relation not in BY_NAME and not relation.startswith((NO_LONGER, PLANNED)):
            words = map(_singular, relation.split("_"))
            if asking := {plain[word] for word in words if word in plain}:
                named[relation] = asking
    found |= dict(sorted(named.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_NAMED])
    if favoured := {term for term in terms if FAVOURITE.intersection(_words_in(term))}:
        for term in set(terms) - favoured:
            what = "colour" if term == "color" else term
            found[f"favourite_{what}"] = {*favoured, term}
    return {relation: frozenset(words) for relation, words in found.items()}


def plain_words(terms: Iterable[str]) -> dict[str, str]:
    """The terms by what of them may be in the name of a relation: without marks, in the singular."""
    return {_singular(without_marks(term)): term for term in terms}


def framing(terms: Iterable[str]) -> frozenset[str]:
    """Those of the words that are of `FRAME`."""
    return frozenset(term for term in terms if FRAME.intersection(_words_in(term)))


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _words_in(term: str) -> list[str]:
    """A term as the tables have it: without marks; of a script without spaces the words it is part of
    or has in it, since its terms are pairs of characters."""
    bare = without_marks(term)
    if not is_unspaced(term):
        return [bare]
    return [word for word in _UNSPACED if word in bare or (len(bare) > 1 and bare in word)]
