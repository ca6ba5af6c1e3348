"""Extraction without a model: what it takes from talk, and all that it leaves alone."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.extractor import Extractor
from langmemory.formation.relations.vocabulary import BY_NAME, relation_named
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.rules.patterns import GRAMMARS
from langmemory.formation.times import resolved
from langmemory.ports.facts import READ_IN_PART, Fact
from langmemory.types import Privacy

SAID = datetime(2026, 11, 11, 13, 56, tzinfo=ZoneInfo("Europe/Berlin"))
"""A Wednesday."""


def turn(text: str, *, key: str = "t1", role: str = "user", speaker: str = "Lena",
         privacy: Privacy = "shared", owner: str | None = None) -> Turn:  # fmt: skip
    return Turn(key=key, text=text, role=role, speaker=speaker, said_at=SAID, privacy=privacy,
                owner=owner)  # fmt: skip


def facts(*turns: Turn, names: Sequence[str] = ()) -> tuple[Fact, ...]:
    batch = Batch(namespace=("memories", "lena"), thread_id="t", turns=turns)
    return RuleExtractor().extract(batch, names=names).facts


def said(text: str, names: Sequence[str] = ()) -> list[tuple[str, str, str]]:
    """Claims of one turn."""
    return [
        (c.subject, c.relation, c.object) for f in facts(turn(text), names=names) for c in f.claims
    ]


ENGLISH = [
    ("My name is Lena Brandt.", "Lena named Lena Brandt"),
    ("Hi! I'm Lena Brandt, I'm 34 and I live in Hamburg.",
     "Lena named Lena Brandt; Lena age 34; Lena lives_in Hamburg"),
    ("You can call me Leni.", "Lena nickname Leni"),
    ("I'm a nurse at St Mary's in Leeds.", "Lena works_at St Mary's"),
    ("I work at McDonald's.", "Lena works_at McDonald's"),
    ("I'm a lecturer at King's College London.", "Lena works_at King's College London"),
    ("I live in St. Petersburg.", "Lena lives_in St. Petersburg"),
    ("I live in St John's, Newfoundland.", "Lena lives_in St John's"),
    ("I started as a paramedic last week.", "Lena works_as paramedic"),
    ("Omar is my boss now.", "Omar boss_of Lena"),
    ("My birthday is on 14 March.", "Lena born_on 14 March"),
    ("I was born in Kiel and grew up near the sea.", "Lena born_in Kiel"),
    ("By the way, I've been living in Munich since 2019.", "Lena lives_in Munich"),
    ("I live in Hamburg and work at Initech.", "Lena lives_in Hamburg; Lena works_at Initech"),
    ("Last week I moved to Munich.", "Lena lives_in Munich"),
    ("I'm originally from Buenos Aires.", "Lena comes_from Buenos Aires"),
    ("We're moving to New York next spring!", "Lena plans_to move to New York"),
    ("I'm a cartographer at a small publisher called Kontur Verlag.", "Lena works_at Kontur Verlag"),
    ("I work as a nurse.", "Lena works_as nurse"),
    ("I joined the Max Planck Institute in March.", "Lena works_at the Max Planck Institute"),
    ("I'm studying physics at Leiden University.", "Lena studies_at Leiden University"),
    ("I speak German and Spanish.", "Lena speaks German; Lena speaks Spanish"),
    ("My sister Mia lives in Bremen with her twins, Emil and Juna.",
     "Mia sister_of Lena; Mia lives_in Bremen; Mia parent_of Emil; Mia parent_of Juna"),
    ("My wife is a nurse and works at Charité.", "Lena's wife works_as nurse; Lena's wife works_at Charité"),
    ("It's me, my partner Tomás, and Churro, our greyhound.",
     "Tomás partner_of Lena; Lena has_pet Churro"),
    ("We have a dog named Rex.", "Lena has_pet Rex"),
    ("I have a brother called Jonas.", "Jonas brother_of Lena"),
    ("My friend Nguyễn Văn An lives in Hanoi.",
     "Nguyễn Văn An friend_of Lena; Nguyễn Văn An lives_in Hanoi"),
    ("My brother Jan van der Berg works at Siemens.",
     "Jan van der Berg brother_of Lena; Jan van der Berg works_at Siemens"),
    ("My sister Mia Brandt She lives in Kiel", "Mia Brandt sister_of Lena; Mia Brandt lives_in Kiel"),
    ("My friend Mia Yesterday Brandt called.", "Mia friend_of Lena"),
    ("My boss, Gesine, is on holiday.", "Gesine boss_of Lena"),
    ("I'm happily married to Tom.", "Lena married_to Tom"),
    ("I'm allergic to peanuts and shellfish!", "Lena allergic_to peanuts; Lena allergic_to shellfish"),
    ("I've been vegetarian since 2017, no exceptions.", "Lena diet vegetarian"),
    ("I love hiking and black coffee.", "Lena likes hiking; Lena likes black coffee"),
    ("I can't stand olives.", "Lena dislikes olives"),
    ("I'm not a fan of horror movies.", "Lena dislikes horror movies"),
    ("I don't like crowded trains.", "Lena dislikes crowded trains"),
    ("My favourite colour is green.", "Lena favourite_colour green"),
    ("My favourite colour is red.", "Lena favourite_colour red"),
    ("I play the cello.", "Lena has_hobby cello"),
    ("We switched from MySQL to PostgreSQL last month.", "Lena uses PostgreSQL"),
    ("We decided to sell the old Volvo.", "Lena decided to sell the old Volvo"),
    ("I'm flying to Oslo on 3 March.", "Lena plans_to travel to Oslo"),
    ("We're getting married on 12 June!", "Lena plans_to get married"),
    ("I went to Lisbon in May 2024.", "Lena visited Lisbon"),
    ("My son is a student at MIT.", "Lena's son studies_at MIT"),
    ("My cat is called Luna and my dog is called Max.", "Lena has_pet Luna; Lena has_pet Max"),
    ("I prefer tea to coffee.", "Lena likes tea"),
    ("News: we moved to Oslo!", "Lena lives_in Oslo"),
    ("One thing to know: I'm allergic to nuts.", "Lena allergic_to nuts"),
    ("im allergic to nuts and i live in Leeds", "Lena allergic_to nuts; Lena lives_in Leeds"),
    ("i dont like olives", "Lena dislikes olives"),
    ("my bday is the 14th of June btw", "Lena born_on the 14th of June"),
    ("Just moved to Leeds, omg the rain", "Lena lives_in Leeds"),
    ("I live alone in a tiny flat in Hackney", "Lena lives_in Hackney"),
    ("just got promoted to senior designer!!", "Lena works_as senior designer"),
    ("We've got two cats, Miso and Tofu.", "Lena has_pet Miso; Lena has_pet Tofu"),
    ("We have three kids: Ava, Noah and Max.", "Lena parent_of Ava; Lena parent_of Noah; Lena parent_of Max"),
    ("I've been learning the cello for like 3 years", "Lena has_hobby cello"),
    ("I have a job interview on 16 March, wish me luck", "Lena plans_to job interview"),
    ("Everyone calls me Leni.", "Lena nickname Leni"),
    ("I have two kids.", "Lena parent_of two kids"),
    ("I'm divorced.", "Lena marital_status divorced"),
    ("I run a bakery.", "Lena workplace a bakery"),
    ("I'm a Financial Analyst.", "Lena works_as Financial Analyst"),
    ("I'm Irish.", "Lena nationality Irish"),
    ("I have a brother and two sisters.", "Lena sibling_of a brother and two sisters"),
    ("I like throwing parties for my friends.", "Lena likes throwing parties for their friends"),
    ("I love improving schools and roads.", "Lena likes improving schools and roads"),
    ("My girlfriend, Toby and I live in Rome.", "Lena lives_in Rome"),
    ("My sister, Ann, lives in Rome.", "Ann sister_of Lena; Ann lives_in Rome"),
]  # fmt: skip
GERMAN = [
    ("Ich heiße Lena Brandt.", "Lena named Lena Brandt"),
    ("Ich bin 34 Jahre alt und wohne in Hamburg.", "Lena age 34; Lena lives_in Hamburg"),
    ("Letzte Woche bin ich nach München gezogen.", "Lena lives_in München"),
    ("Seit 2020 arbeite ich bei Kontur.", "Lena works_at Kontur"),
    ("Anna ist jetzt meine Chefin.", "Anna boss_of Lena"),
    ("Wir haben einen Hund, Rex.", "Lena has_pet Rex"),
    ("Ich arbeite als Kartografin bei Kontur.", "Lena works_at Kontur"),
    ("Meine Schwester Mia wohnt in Bremen.", "Mia sister_of Lena; Mia lives_in Bremen"),
    ("Meine Frau ist Lehrerin und arbeitet bei Bosch.",
     "Lena's wife works_as Lehrerin; Lena's wife works_at Bosch"),
    ("Wir haben einen Hund namens Rex.", "Lena has_pet Rex"),
    ("Ich habe am 14. März Geburtstag.", "Lena born_on 14. März"),
    ("Ich bin gegen Erdnüsse allergisch.", "Lena allergic_to Erdnüsse"),
    ("Ich bin seit 2017 Vegetarierin.", "Lena diet Vegetarierin"),
    ("Ich mag Wandern und schwarzen Kaffee.", "Lena likes Wandern; Lena likes schwarzen Kaffee"),
    ("Ich mag keine Oliven.", "Lena dislikes Oliven"),
    ("Ich mag Oliven nicht.", "Lena dislikes Oliven"),
    ("Ich mag Oliven gar nicht mehr.", "Lena dislikes Oliven"),
    ("Ich mag Oliven, aber keinen Käse.", "Lena likes Oliven"),
    ("Ich fliege am 3. März nach Oslo.", "Lena plans_to nach Oslo reisen"),
    ("Wir haben beschlossen, das Haus zu verkaufen.", "Lena decided das Haus zu verkaufen"),
    ("Ich hab am 14. März Geburtstag und wohn in Kassel.",
     "Lena born_on 14. März; Lena lives_in Kassel"),
    ("Meine Katze heisst Mogli.", "Lena has_pet Mogli"),
    ("Wir ziehen im September nach Wien um.", "Lena plans_to nach Wien ziehen"),
    ("Bin letztes Jahr nach Luzern gezügelt", "Lena lives_in Luzern"),
    ("Komme aus Kiel, wohne aber schon ewig in Ulm", "Lena lives_in Ulm"),
    ("Ich kann Schlager nicht ausstehen", "Lena dislikes Schlager"),
    ("Ich trinke am liebsten Kaffee", "Lena likes Kaffee"),
    ("i bin allergisch auf nüsse", "Lena allergic_to nüsse"),
    ("Ich habe zwei Kinder, Lea und Finn", "Lena parent_of Lea; Lena parent_of Finn"),
    ("Am 3. März habe ich um 14 Uhr Zahnarzt", "Lena plans_to Zahnarzt"),
]  # fmt: skip
SPANISH = [
    ("Mi hermana María García López vive en Sevilla.",
     "María García López sister_of Lena; María García López lives_in Sevilla"),
    ("Me llamo Lena Brandt.", "Lena named Lena Brandt"),
    ("Luis es mi hermano mayor.", "Luis brother_of Lena"),
    ("Tengo 34 años y vivo en Hamburgo.", "Lena age 34; Lena lives_in Hamburgo"),
    ("La semana pasada nos mudamos a Valencia.", "Lena lives_in Valencia"),
    ("Mi hermana Mia vive en Sevilla.", "Mia sister_of Lena; Mia lives_in Sevilla"),
    ("Mi mujer es enfermera y trabaja en La Fe.",
     "Lena's wife works_as enfermera; Lena's wife works_at La Fe"),
    ("Tenemos un perro que se llama Rex.", "Lena has_pet Rex"),
    ("Soy alérgica a los cacahuetes.", "Lena allergic_to cacahuetes"),
    ("Soy vegetariana desde 2017.", "Lena diet vegetariana"),
    ("Me gusta el café.", "Lena likes el café"),
    ("El 3 de marzo viajo a Oslo.", "Lena plans_to viajar a Oslo"),
    ("mi cumple es el 9 de julio", "Lena born_on 9 de julio"),
    ("No soporto el café.", "Lena dislikes el café"),
    ("Tengo dos hijos, Mateo y Valentina", "Lena parent_of Mateo; Lena parent_of Valentina"),
    ("Tenemos dos gatos, Tango y Luna", "Lena has_pet Tango; Lena has_pet Luna"),
    ("Soy maestra de primaria", "Lena works_as maestra de primaria"),
    ("Mi comida favorita es la paella.", "Lena favourite_comida paella"),
    ("tengo cita con el dentista el 3 de marzo", "Lena plans_to cita con el dentista"),
]  # fmt: skip
CHINESE = [
    ("我叫李娜。", "Lena named 李娜"),
    ("我出生在成都。", "Lena born_in 成都"),
    ("我上周搬到了上海。", "Lena lives_in 上海"),
    ("我现在在谷歌工作。", "Lena works_at 谷歌"),
    ("我姐姐叫小美，她住在上海。", "小美 sister_of Lena; 小美 lives_in 上海"),
    ("我对花生过敏。", "Lena allergic_to 花生"),
    ("我不喜欢香菜。", "Lena dislikes 香菜"),
    ("我的生日是5月3日。", "Lena born_on 5月3日"),
    ("我养了一只猫叫咪咪。", "Lena has_pet 咪咪"),
    ("我養了一隻貓叫咪咪", "Lena has_pet 咪咪"),
    ("我家狗狗叫旺财", "Lena has_pet 旺财"),
    ("我對花生過敏", "Lena allergic_to 花生"),
    ("我喜欢火锅,但是不喜欢香菜", "Lena likes 火锅; Lena dislikes 香菜"),
    ("我不住在北京了,已经搬到成都了", "Lena lives_in 北京; Lena lives_in 成都"),
    ("我现在在小米做产品经理", "Lena works_at 小米"),
    ("我最喜欢的颜色是绿色", "Lena favourite_颜色 绿色"),
    ("我爸是司机", "Lena's father works_as 司机"),
    ("我有两个女儿,叫安安和宁宁", "Lena parent_of 安安; Lena parent_of 宁宁"),
    ("我会弹吉他", "Lena has_hobby 吉他"),
]


@pytest.mark.parametrize(("text", "claims"), [*ENGLISH, *GERMAN, *SPANISH, *CHINESE])
def test_what_people_say_outright_becomes_claims(text: str, claims: str) -> None:
    """A plain statement about the speaker or somebody of theirs is taken, in four languages."""
    assert "; ".join(" ".join(claim) for claim in said(text)) == claims


NOTHING = {
    "what is somebody's": """I work at Google's London office.
        I live in Mary's flat.
        I work at Lisa's bakery.
        Das ist meine Schwester.
        Ella es mi hermana.""",
    "half of what is liked": """I love stories that tackle important issues.
        I like holding them.
        I love escaping to that world.
        My girlfriend, Toby and I went to the beach.
        So much energy and love everywhere.""",
    "what is over": """My dog Rex died last Friday.
        We had to put our dog Rex down.
        Mein Hund Rex ist gestorben.
        Mi perro Rex murió ayer.
        我的狗小黑死了。""",
    "days there are not": """My birthday is on 30 February.
        I was born on February 30, 1990.
        Mein Geburtstag ist am 30. Februar.
        Mi cumpleaños es el 30 de febrero.
        我的生日是2月30日。""",
    "months": """My sister June 3rd gets married.
        My husband April, May and June works nights.
        My son June/July visits.
        My sister Jan 3rd gets married.
        I told my boss April is fine.""",
    "what never was": """我不住在上海。
        我不在华为工作。
        I don't live in Hamburg.
        Ich wohne nicht in Hamburg.
        No vivo en Madrid.""",
    "questions": """Do I live in Hamburg?
        Is my sister Mia right?
        What if I moved to Rome?
        Wohne ich in Bremen?
        ¿Vivo en Madrid?
        你住在哪里？""",
    "what might be": """If I lived in Tokyo, I'd eat sushi every day.
        I would love to live in Lisbon.
        I wish I worked at Google.
        Maybe I live in Springfield.
        I might move to Oslo on 3 March.
        Wenn ich in Rom wohnen würde, wäre ich glücklich.
        Ich würde gern in Lissabon wohnen.
        Ojalá viviera en Roma.
        Si trabajara en Google, sería feliz.
        如果我住在上海就好了。""",
    "what others say": """She said I live in Rome.
        He told everyone: I work at Initech.
        "I live in Rome", it says on the cover.
        My character in the game lives in Whiterun.
        Er sagt, ich wohne in Rom.
        Dice que vivo en Roma.
        她说我住在上海。""",
    "words of somebody else": """Anna: I live in Paris.
        Anna goes: I live in Paris.
        Tom's text was: I moved to Bern.
        Please translate: I live in Paris. I love cheese.
        Anna: Ich wohne in Rom.
        Juan: vivo en Roma.
        小明:我住在上海。""",
    "what the rest of the sentence takes back": """I'm moving to Graz next month, no wait, in January.
        I live in Rome, no, in Milan.
        We're flying to Rome on 3 December, but it's cancelled.
        I got a job at Initech, but I turned it down.
        I got married to Tom in 2015 and divorced him in 2019.
        I moved to Munich in 2015 and to Hamburg in 2019.
        Ich ziehe im März, nein, im April nach Wien.
        Ich bin kein Vegetarier.
        Ich komme aus Mangel an Zeit nicht dazu.
        Me mudo a Bilbao en enero, digo, en febrero.
        Me casé con Pedro pero nos divorciamos.
        我对花生不过敏。
        我决定不了。""",
    "what holds today only": """I'm working at Starbucks today because my wifi is down.
        I'm vegan on Mondays.
        Soy vegana los lunes.
        My birthday is tomorrow.
        My birthday is in three weeks.
        Mein Geburtstag ist morgen.
        Mi cumpleaños es mañana.
        我的生日是明天。""",
    "names that go on": """I work for Microsoft's biggest competitor.
        I joined Initech's book club.
        I live in Apartment 5.
        I live in Block C.
        我住在北京的朋友叫小明。""",
    "denials": """I don't live in Madrid.
        I have never lived in Rome.
        I live in Rome no more.
        I'm not allergic to peanuts.
        Ich wohne nicht in Rom.
        No vivo en Madrid.""",
    "jokes": """Oh great, I just love Mondays.
        Oh sure, call me Einstein.
        Qué bien, me encanta esperar en el banco.
        真好，我最喜欢堵车了。
        Yeah right, I live in Disneyland.
        I live in Mordor, just kidding.
        Sure, I'm Batman.""",
    "other senses": """I live in a small flat.
        I work from home.
        I'm married to my job.
        I was born ready.
        I moved the file to Downloads.
        My code works in Chrome but not in Firefox.
        I joined the call late.
        I'm a bit lost.
        I'm a morning person.
        I love it when a plan comes together.
        I like your idea a lot.
        I can't stand up.
        I'm on page 34.
        I'm 5 minutes late.
        My name is hard to pronounce.
        Call me later.
        I have a dream.
        I'm going to the gym in 5 minutes.
        I'm flying through the code.
        I'm from the future.
        I'm a customer at Deutsche Bank.
        I'm a member at Fitness First.
        I'm a sucker for Netflix.
        I joined Anna at the cinema.
        I live in Excel at work.
        I'm a teacher by training.
        I'm allergic to bullshit.
        I'm allergic to Tuesdays.
        I'm a student at heart.
        I'm a doctor in training.
        i love you, Anna
        My name is Lena.
        Ich bin müde.
        Ich lebe in Saus und Braus.
        Ich heiße Gäste willkommen.
        Ich komme aus der Dusche.
        Ich esse gerne spät.
        Ich arbeite als Erste im Haus.
        Ich liebe dich.
        Ich liebe dich, Pizza.
        Ich heisse Gäste willkommen.
        Ich wohne in Untermiete.
        Arbeite nicht so viel! Habe Geduld. Fahre vorsichtig.
        lebe in Scheidung
        我姐夫是律师。
        我哥们儿叫大壮。
        我爸妈住在长沙。
        Ich schenke meiner Mutter Blumen.
        Ich weiß, dass meine Mutter Krebs hat.
        Me llamo Lena.
        Soy alérgica a los lunes.
        Trabajo mucho.
        Me gusta mucho eso.
        Estudio mucho.
        Tengo 34 años de experiencia.
        我的狗叫得很大声。
        我的猫叫了一晚上。
        我妈妈叫我回家。
        我叫了外卖。
        我30岁那年去了北京。
        我出生在一个小村庄。
        我出生在冬天。
        我很累。
        我在家工作。""",
}


@pytest.mark.parametrize("what", NOTHING)
def test_what_is_no_statement_for_certain_is_left_alone(what: str) -> None:
    """Questions, conditions, wishes, reports, denials, jokes and figures of speech give no fact."""
    for text in NOTHING[what].splitlines():
        assert (text.strip(), said(text.strip())) == (text.strip(), [])


CHIT_CHAT = """Good morning! Did you sleep well? Haha, I know, you don't sleep.
Thanks, that's exactly what I needed.
It's raining again and my head hurts.
I have a question about Python 3.11: my tests pass locally, but fail on the server.
I think the error comes from the second loop.
Could you write me a poem about Paris in May?
I like it, but can you make it shorter?
I'm so tired today. I went to bed late last night.
Oh well. I'll call you tomorrow, or on Friday.
I'm working on a proposal for the team, I have to send it by 5.
The meeting moved to Tuesday, so I have time now.
He's right, of course. They always are.
I love how you explain things. You're a genius!
I was thinking about what you said yesterday.
Let me think about it. I'm not sure.
We had pizza and watched a film. It was fun.
My phone died, sorry. My sister called in the meantime.
I used it last week and it worked fine.
I don't get the joke.
I'm off. See you next week, have a great weekend!
"""


def test_chit_chat_leaves_nothing() -> None:
    """A page of ordinary talk holds no fact worth keeping, and none is made."""
    turns = [turn(line, key=f"t{n}") for n, line in enumerate(CHIT_CHAT.splitlines())]
    assert [fact.text for fact in facts(*turns)] == []


def test_the_text_stands_alone_in_the_language_of_its_source() -> None:
    """Statements name their subject, also where somebody is known only by a role."""
    assert [f.text for f in facts(turn("I work at Initech. My sister lives in Bremen."))] == [
        "Lena works at Initech.",
        "Lena's sister lives in Bremen.",
    ]
    [german] = facts(turn("Ich wohne seit drei Jahren in Berlin."))
    assert (german.text, german.language) == ("Lena wohnt in Berlin.", "de")
    [unnamed] = facts(turn("I live in Hamburg.", speaker="user"))
    assert unnamed.text == "The user lives in Hamburg."
    assert unnamed.claims[0].subject == "user"
    [sister] = facts(turn("I met my sister Mia.", speaker="user"))
    assert sister.text == "Mia is the user's sister."


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Früher habe ich in Bonn gewohnt.", ("lives_in", "Bonn")),
        ("Antes vivía en Bilbao.", ("lives_in", "Bilbao")),
        ("我以前住在西安。", ("lives_in", "西安")),
        ("我上周从腾讯辞职了。", ("works_at", "腾讯")),
    ],
)
def test_what_was_so_before_is_over(text: str, claim: tuple[str, str]) -> None:
    """A former home or job is claimed as what is no longer so."""
    [fact] = facts(turn(text))
    assert (fact.claims[0].relation, fact.claims[0].object, fact.ends) == (*claim, True)


def test_pasted_text_is_nobodys_statement() -> None:
    """Text after a line that asks for work on it is not about the speaker."""
    asked = "Please fix my English:\nI live in Paris since 2019.\n\nI love cheese."
    assert said(asked) == []
    assert said("Tom: I love cheese.\nand I live in Rome.\n\nI live in Kiel.") == [
        ("Lena", "lives_in", "Kiel")
    ]


@pytest.mark.parametrize(
    "head",
    [
        "From: Claire Hughes <claire@acme.com>\nSubject: Re: invoice",
        "Von: Petra Klein\nBetreff: Urlaub",
        "De: Jorge Ruiz\nAsunto: Reunión",
        "---------- Forwarded message ---------",
        "发件人:王芳\n主题:请假",
    ],
)
def test_a_pasted_letter_is_somebody_elses(head: str) -> None:
    """From the first line of its head on, whatever its paragraphs; what stands before is one's own."""
    letter = f"{head}\n\nHi team,\n\nI live in Bristol. Vivo en Valencia. Ich wohne in Ulm.\n我住在苏州。"
    assert said(letter) == []
    assert said(f"I love cheese.\n\n{letter}") == [("Lena", "likes", "cheese")]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I hate cilantro, seriously", ("Lena", "dislikes", "cilantro")),
        ("I love sushi, bro", ("Lena", "likes", "sushi")),
        ("Soy alérgica a los mariscos, ojo", ("Lena", "allergic_to", "mariscos")),
        ("Me encantan las empanadas, hermano", ("Lena", "likes", "las empanadas")),
    ],
)
def test_a_word_after_a_comma_makes_no_list(text: str, claim: tuple[str, str, str]) -> None:
    """A list ends with "and"; what hangs behind a comma may be anything."""
    assert said(text) == [claim]


def test_statements_are_written_as_people_do() -> None:
    """An article goes with what follows it."""
    assert [f.text for f in facts(turn("I'm an engineer at Siemens."))] == [
        "Lena works at Siemens as an engineer."
    ]


def test_a_fact_carries_the_turn_it_comes_from() -> None:
    """Evidence, speaker, owner, privacy and time are those of the turn; repeats add evidence."""
    first = turn("I live in Hamburg.", key="a", owner="lena", privacy="private")
    again = turn("As I told… well. I live in Hamburg!", key="b", owner="lena", privacy="private")
    [fact] = facts(first, again)
    assert fact.evidence == ("a", "b")
    assert (fact.speaker, fact.owner, fact.privacy) == ("Lena", "lena", "private")
    assert fact.said_at == SAID


def test_assistants_and_tools_are_no_witnesses() -> None:
    """Statements of a model or a tool about the speaker are ignored."""
    assert (
        facts(turn("I live in Hamburg.", role="assistant"), turn("I live in Rome.", role="tool"))
        == ()
    )


def test_recalled_memories_are_not_extracted_again() -> None:
    """Text that recall put into a message is not what its speaker said."""
    echoed = "<recalled_memories>\nI live in Rome.\n</recalled_memories>\nI live in Hamburg."
    assert said(echoed) == [("Lena", "lives_in", "Hamburg")]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I no longer work at Initech.", ("Lena", "works_at", "Initech")),
        ("I don't work at Initech anymore.", ("Lena", "works_at", "Initech")),
        ("I quit my job at Initech last week.", ("Lena", "works_at", "Initech")),
        ("I used to live in Rome.", ("Lena", "lives_in", "Rome")),
        ("I worked at Initech until 2019.", ("Lena", "works_at", "Initech")),
        ("I broke up with Tom.", ("Lena", "partner_of", "Tom")),
        ("I'm no longer vegetarian.", ("Lena", "diet", "vegetarian")),
        ("Ich arbeite nicht mehr bei Siemens.", ("Lena", "works_at", "Siemens")),
        ("Ya no trabajo en Telefónica.", ("Lena", "works_at", "Telefónica")),
        ("我不再在谷歌工作了。", ("Lena", "works_at", "谷歌")),
    ],
)
def test_an_end_is_marked_as_one(text: str, claim: tuple[str, str, str]) -> None:
    """That something is over is a statement of its own, with the claim that is over."""
    [fact] = facts(turn(text))
    assert fact.ends
    assert said(text) == [claim]


@pytest.mark.parametrize(
    ("text", "corrects"),
    [
        ("No, actually my birthday is in May.", True),
        ("Sorry, I meant: my name is Mia.", True),
        ("Nein, mein Geburtstag ist im Mai.", True),
        ("No, mi cumpleaños es en mayo.", True),
        ("My birthday is in May.", False),
        ("Actually, I live in Hamburg.", False),
        ("No, I live in Hamburg.", False),
        ("Nein, ich wohne in Hamburg.", False),
        ("Sorry, I live in Hamburg.", True),
    ],
)
def test_a_correction_is_marked_as_one(text: str, corrects: bool) -> None:
    """Only words that take something back make a correction; "no" may answer a question, and then
    what was true before stays so."""
    [fact] = facts(turn(text))
    assert fact.corrects is corrects


@pytest.mark.parametrize(
    ("text", "valid_at", "invalid_at"),
    [
        ("I moved to Munich last week.", "2026-11-02", None),
        ("I moved to Munich in December.", "2025-12-01", None),
        ("I've been vegetarian since 2017.", "2017-01-01", None),
        ("I lived in Rome from 2010 to 2015.", "2010-01-01", "2016-01-01"),
        ("I worked at Initech until 2019.", "2020-01-01", None),
        ("I live in Berlin until March.", None, "2027-04-01"),
        ("Ich arbeite bei Bosch nur noch bis März.", None, "2027-04-01"),
        ("I start at Aigua Clara on 1 September.", "2027-09-01", None),
        ("My last day at Kontur Verlag is Friday, 20 November.", "2026-11-20", None),
        ("I live in Hamburg.", None, None),
        ("Ich wohne seit 2020 in Berlin.", "2020-01-01", None),
        ("我从2019年起住在上海。", "2019-01-01", None),
    ],
)
def test_times_bound_what_they_are_said_of(
    text: str, valid_at: str | None, invalid_at: str | None
) -> None:
    """The time of a clause becomes the validity of its statement, in the speaker's timezone."""
    [fact] = [resolved(fact, said_at=fact.said_at) for fact in facts(turn(text))]
    for got, expected in ((fact.valid_at, valid_at), (fact.invalid_at, invalid_at)):
        assert got == (
            datetime.fromisoformat(expected).replace(tzinfo=SAID.tzinfo) if expected else None
        )


def test_plans_and_events_say_their_date() -> None:
    """A plan without its date would be worthless later, and two trips to one place are two."""
    texts = [
        f.text
        for f in facts(turn("I'm flying to Oslo on 3 March."), turn("I went to Oslo in May."))
    ]
    assert texts == ["Lena plans to travel to Oslo (2027-03-03).", "Lena visited Oslo (2026-05)."]


def test_plans_of_the_moment_are_no_facts() -> None:
    """Requests for today, for the past or for an unknown time are ignored."""
    for text in ("I'm flying to Oslo today.", "I'm flying to Oslo.", "I'm going to Rome tonight."):
        assert said(text) == []


def test_known_names_are_subjects_and_keep_their_spelling() -> None:
    """Somebody known speaks for themselves in a sentence; strangers do not."""
    text = "Emil is badly allergic to hazelnuts."
    assert said(text) == []
    assert said(text, names=["Emil"]) == [("Emil", "allergic_to", "hazelnuts")]
    assert said("My sister katrin.", names=["Katrin"]) == []
    later = facts(turn("My brother Jonas is here."), turn("Jonas lives in Kiel.", key="t2"))
    assert [f.text for f in later] == ["Jonas is Lena's brother.", "Jonas lives in Kiel."]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "My sister Katrin has a son called Emil.",
            {("Katrin", "sister_of", "Lena"), ("Emil", "son_of", "Katrin")},
        ),
        ("Katrin has a dog called Bello.", {("Katrin", "has_pet", "Bello")}),
        (
            "Meine Schwester Katrin hat einen Sohn namens Emil.",
            {("Katrin", "sister_of", "Lena"), ("Emil", "son_of", "Katrin")},
        ),
    ],
)
def test_the_relatives_of_others_are_theirs(text: str, claims: set[tuple[str, str, str]]) -> None:
    """Whose son or pet somebody is, the subject of the sentence says, not who tells it."""
    assert set(said(text, names=("Katrin",))) == claims


def test_relations_are_those_formation_knows() -> None:
    """Every relation of the rules is one of `relations`, so that the guards apply to it."""
    names = {rule.relation for grammar in GRAMMARS.values() for rule in grammar.rules}
    names |= {f"{role}_of" for grammar in GRAMMARS.values() for role in grammar.kin.values()}
    open_ended = {"kin", "pet", "favourite_{other}"}
    unknown = {name for name in names - open_ended if relation_named(name).name not in BY_NAME}
    assert unknown == set()


async def test_it_is_an_extractor_on_both_doors() -> None:
    """Sync and async give the same, with the signature of the protocol, without a model call."""
    extractor: Extractor = RuleExtractor()
    batch = Batch(namespace=("x",), thread_id="t", turns=(turn("I live in Hamburg."),))
    found = extractor.extract(batch)
    assert await extractor.aextract(batch) == found
    assert (found.model_calls, found.summary) == (0, None)
    assert inspect.signature(RuleExtractor.extract) == inspect.signature(Extractor.extract)


@pytest.mark.parametrize(
    "text",
    ["", " ", "?" * 5000, "I live in " * 3000, "\ue000 I live in \ue001",
        "My birthday is \ue000.",
        "29 February to 3 March 2021",
        "today " * 40 + "x", "（（（", "'" * 999, "I\n" * 999,
     "ich " * 2000, "我" * 5000, "\ud800 I live in Rome", "No, " * 999, "a" * 100_000,
     "31.12.9999 in 99 years and 0 decades ago, in 999 decades"],
)  # fmt: skip
def test_no_text_makes_it_fail(text: str) -> None:
    """Empty, endless, broken and hostile text gives no error."""
    facts(turn(text), turn(text, key="t2", speaker=""), names=["", " ", "I"])


@pytest.mark.parametrize("one", ["\n", "-", "- ", " ", "\t\n", "`", "> ", "' ", "(("])
def test_a_message_of_one_character_is_read_like_any_other(one: str) -> None:
    """A text made to keep the worker busy for minutes yields no fact and is read fast."""
    assert said(f"Good morning {one * 50_000}x") == []


def test_of_a_very_long_message_its_ends_are_read(caplog: pytest.LogCaptureFixture) -> None:
    """The rules read the text before and after a pasted log. They skip the middle, and a log line
    and the extraction say so. Text after a colon there is still somebody else's."""
    log = "".join(f"12:00:{n % 60:02} worker {n} did its job.\n" for n in range(5_000))
    text = f"I live in Rome.\n{log}I live in Oslo.\n{log}My sister Ana lives in Bonn."
    batch = Batch(namespace=("n",), thread_id="t", turns=(turn(text), turn("Hi", key="t2")))
    with caplog.at_level("WARNING", "langmemory.formation"):
        found = RuleExtractor().extract(batch)
    assert [fact.text for fact in found.facts if "lives" in fact.text] == [
        "Lena lives in Rome.", "Ana lives in Bonn.",
    ]  # fmt: skip
    assert found.dropped == (READ_IN_PART,)
    assert [record.message.split()[:2] for record in caplog.records] == [
        ["read_in_part", "turns=1"]
    ]
    quoted = f"I live in Rome. Ana wrote:\n{log}{log}I live in Oslo."
    assert [fact.text for fact in facts(turn(quoted))] == ["Lena lives in Rome."]


def test_who_has_no_name_yet_says_it() -> None:
    """ "I'm Priya." is a name where the messages have none; "I'm Irish" and "I'm tired" are not."""
    said_by_nobody = {
        text: [one.text for one in facts(turn(text, speaker="user"))]
        for text in ("I'm Priya.", "I'm Irish.", "I'm tired.")
    }
    assert said_by_nobody == {
        "I'm Priya.": ["The user's name is Priya."],
        "I'm Irish.": ["The user is Irish."],
        "I'm tired.": [],
    }
