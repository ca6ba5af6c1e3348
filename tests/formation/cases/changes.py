"""The world changes: what gives way, what stays, what is asked."""

from __future__ import annotations

from tests.formation.correctness import case, do, f, say

CASES = (
    case(
        "a move ends the old home",
        "supersession",
        say("2023-05-01", "I live in Berlin.", f("Lena lives in Berlin", "I | lives in | Berlin")),
        say(
            "2024-02-01",
            "I moved to Munich.",
            f("Lena moved to Munich", "Lena | moved to | Munich"),
        ),
        active=("Lena moved to Munich",),
        over=("Lena lives in Berlin",),
        as_of={
            "2023-06-01": ("Lena lives in Berlin",),
            "2024-03-01": ("Lena moved to Munich",),
            "2022-01-01": (),
        },
        known_at={"2023-06-01": ("Lena lives in Berlin",), "2024-03-01": ("Lena moved to Munich",)},
        edges=("Lena | lives_in | Munich",),
        no_edges=("Lena | lives_in | Berlin",),
    ),
    case(
        "a move told later counts from when it happened",
        "supersession",
        say("2023-05-01", "I live in Berlin.", f("Lena lives in Berlin", "I | lives_in | Berlin")),
        say(
            "2024-06-15",
            "I moved to Munich in March 2024.",
            f("Lena moved to Munich in March 2024", "I | lives_in | Munich", when="in March 2024"),
        ),
        active=("Lena moved to Munich in March 2024",),
        over=("Lena lives in Berlin",),
        as_of={
            "2024-02-20": ("Lena lives in Berlin",),
            "2024-04-01": ("Lena moved to Munich in March 2024",),
        },
        known_at={"2024-04-01": ("Lena lives in Berlin",)},
    ),
    case(
        "three homes in a row",
        "supersession",
        say("2021-01-10", "I live in Kiel.", f("Lena lives in Kiel", "I | lives_in | Kiel")),
        say(
            "2022-01-10", "I live in Bonn now.", f("Lena lives in Bonn now", "I | lives_in | Bonn")
        ),
        say("2023-01-10", "I live in Ulm now.", f("Lena lives in Ulm now", "I | lives_in | Ulm")),
        active=("Lena lives in Ulm now",),
        over=("Lena lives in Kiel", "Lena lives in Bonn now"),
        as_of={
            "2021-06-01": ("Lena lives in Kiel",),
            "2022-06-01": ("Lena lives in Bonn now",),
            "2023-06-01": ("Lena lives in Ulm now",),
        },
    ),
    case(
        "two moves in one batch",
        "supersession",
        say(
            "2023-01-10",
            "I lived in Kiel then.",
            f("Lena lives in Kiel", "I | lives_in | Kiel", valid_at="2020-01-01"),
        ),
        say(
            "2023-01-11",
            "In 2021 I moved to Bonn.",
            f("Lena moved to Bonn in 2021", "I | lives_in | Bonn", valid_at="2021-01-01"),
            more=True,
        ),
        say(
            "2023-01-12",
            "And in 2022 to Ulm.",
            f("Lena moved to Ulm in 2022", "I | lives_in | Ulm", valid_at="2022-01-01"),
            more=True,
        ),
        active=("Lena moved to Ulm in 2022",),
        over=("Lena lives in Kiel", "Lena moved to Bonn in 2021"),
        as_of={
            "2020-06-01": ("Lena lives in Kiel",),
            "2021-06-01": ("Lena moved to Bonn in 2021",),
            "2023-06-01": ("Lena moved to Ulm in 2022",),
        },
    ),
    case(
        "back to the first home is a new version",
        "return",
        say("2021-01-10", "I live in Kiel.", f("Lena lives in Kiel", "I | lives_in | Kiel")),
        say("2022-01-10", "I moved to Bonn.", f("Lena moved to Bonn", "I | lives_in | Bonn")),
        say("2023-01-10", "I live in Kiel again.", f("Lena lives in Kiel", "I | lives_in | Kiel")),
        active=("Lena lives in Kiel #2",),
        over=("Lena lives in Kiel", "Lena moved to Bonn"),
        as_of={
            "2021-06-01": ("Lena lives in Kiel",),
            "2022-06-01": ("Lena moved to Bonn",),
            "2023-06-01": ("Lena lives in Kiel #2",),
        },
    ),
    case(
        "a job that ended",
        "supersession",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works at | Initech")
        ),
        say(
            "2023-03-01",
            "I no longer work at Initech.",
            f("Lena no longer works at Initech", "I | works at | Initech", ends=True),
        ),
        active=("Lena no longer works at Initech",),
        over=("Lena works at Initech",),
        as_of={"2022-06-01": ("Lena works at Initech",)},
        no_edges=("Lena | works_at | Initech",),
        edges=("Lena | no_longer_works_at | Initech",),
    ),
    case(
        "quitting is an end without saying so",
        "supersession",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say("2023-03-01", "I quit Initech!", f("Lena quit Initech", "I | quit | Initech")),
        active=("Lena quit Initech",),
        over=("Lena works at Initech",),
    ),
    case(
        "an end leaves other jobs alone",
        "both true",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say(
            "2022-04-01",
            "I also work at the Blue Café on weekends.",
            f("Lena also works at the Blue Café on weekends", "I | works_at | Blue Café"),
        ),
        say(
            "2023-03-01",
            "I quit Initech.",
            f("Lena quit Initech", "I | works_at | Initech", ends=True),
        ),
        active=("Lena quit Initech", "Lena also works at the Blue Café on weekends"),
        over=("Lena works at Initech",),
        reviews={"contradiction": 1},
    ),
    case(
        "a new job with its word supersedes",
        "supersession",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say(
            "2023-03-01",
            "I started a new job at Hooli.",
            f("Lena started a new job at Hooli", "I | started at | Hooli"),
        ),
        active=("Lena started a new job at Hooli",),
        over=("Lena works at Initech",),
    ),
    case(
        "two jobs without a word of change are asked about",
        "both true",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say(
            "2022-05-01",
            "I teach at the evening school.",
            f("Lena works at the evening school", "I | works_at | Evening School"),
        ),
        active=("Lena works at Initech", "Lena works at the evening school"),
        reviews={"contradiction": 1},
    ),
    case(
        "a judge says two jobs are both true",
        "both true",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say(
            "2022-05-01",
            "I teach at the evening school.",
            f("Lena works at the evening school", "I | works_at | Evening School"),
        ),
        verdicts={("Lena works at the evening school", "Lena works at Initech"): "both_true"},
        active=("Lena works at Initech", "Lena works at the evening school"),
    ),
    case(
        "a judge says the new job took the place of the old",
        "supersession",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say(
            "2022-05-01",
            "At Hooli we have free lunch.",
            f("Lena works at Hooli", "I | works_at | Hooli"),
        ),
        verdicts={("Lena works at Hooli", "Lena works at Initech"): "supersedes"},
        active=("Lena works at Hooli",),
        over=("Lena works at Initech",),
    ),
    case(
        "many likes are all true",
        "both true",
        say("2022-03-01", "I like tea.", f("Lena likes tea", "I | likes | =tea")),
        say("2022-03-02", "I like coffee.", f("Lena likes coffee", "I | likes | =coffee")),
        say("2022-03-03", "I love hiking.", f("Lena loves hiking", "I | loves | =hiking")),
        active=("Lena likes tea", "Lena likes coffee", "Lena loves hiking"),
    ),
    case(
        "two pets, two children, two languages",
        "both true",
        say(
            "2022-03-01",
            "I have a dog, Rex, and a cat, Mia.",
            f("Lena has a dog named Rex", "I | has dog | Rex"),
            f("Lena has a cat named Mia", "I | has cat | Mia"),
        ),
        say(
            "2022-03-02",
            "My kids are Tom and Ida. I speak German and French.",
            f("Tom is Lena's son", "Tom | son of | I"),
            f("Ida is Lena's daughter", "Ida | daughter of | I"),
            f("Lena speaks German", "I | speaks | =German"),
            f("Lena speaks French", "I | speaks | =French"),
        ),
        active=(
            "Lena has a dog named Rex",
            "Lena has a cat named Mia",
            "Tom is Lena's son",
            "Ida is Lena's daughter",
            "Lena speaks German",
            "Lena speaks French",
        ),
        edges=("Lena | parent_of | Tom", "Lena | parent_of | Ida", "Lena | has_pet | Rex"),
    ),
    case(
        "two homes said in one breath",
        "both true",
        say(
            "2022-03-01",
            "I live in Kiel and in Bonn.",
            f("Lena lives in Kiel", "I | lives_in | Kiel"),
            f("Lena lives in Bonn", "I | lives_in | Bonn"),
        ),
        active=("Lena lives in Kiel", "Lena lives in Bonn"),
    ),
    case(
        "a place within the place",
        "both true",
        say("2022-03-01", "I live in Berlin.", f("Lena lives in Berlin", "I | lives_in | Berlin")),
        say(
            "2022-04-01",
            "I live in Berlin Kreuzberg.",
            f("Lena lives in Berlin Kreuzberg", "I | lives_in | Berlin Kreuzberg"),
        ),
        active=("Lena lives in Berlin", "Lena lives in Berlin Kreuzberg"),
    ),
    case(
        "a country is no other city",
        "both true",
        say("2022-03-01", "I live in Madrid.", f("Lena lives in Madrid", "I | lives_in | Madrid")),
        say(
            "2022-04-01",
            "Here in Spain it is hot.",
            f("Lena lives in Spain", "I | lives_in | Spain"),
        ),
        active=("Lena lives in Madrid", "Lena lives in Spain"),
        reviews={"contradiction": 1},
    ),
    case(
        "marriage ends with divorce",
        "supersession",
        say(
            "2019-03-01",
            "I am married to Tom.",
            f("Lena is married to Tom", "I | married to | Tom"),
        ),
        say(
            "2023-03-01",
            "Tom and I got divorced.",
            f("Lena and Tom are divorced", "I | divorced from | Tom"),
        ),
        active=("Lena and Tom are divorced",),
        over=("Lena is married to Tom",),
        no_edges=("Lena | married_to | Tom", "Tom | married_to | Lena"),
    ),
    case(
        "a second marriage, told from the other side",
        "supersession",
        say(
            "2019-03-01",
            "I am married to Tom.",
            f("Lena is married to Tom", "I | married to | Tom"),
        ),
        say(
            "2023-03-01", "Ben married me last week.", f("Ben married Lena", "Ben | married | Lena")
        ),
        active=("Ben married Lena",),
        over=("Lena is married to Tom",),
    ),
    case(
        "a favourite is one",
        "supersession",
        say(
            "2022-03-01",
            "My favourite colour is green.",
            f("Lena's favourite colour is green", "I | favourite colour | =green"),
        ),
        say(
            "2023-03-01",
            "My favorite color is blue.",
            f("Lena's favorite color is blue", "I | favorite color | =blue"),
        ),
        active=("Lena's favorite color is blue",),
        over=("Lena's favourite colour is green",),
    ),
    case(
        "two different favourites do not touch",
        "both true",
        say(
            "2022-03-01",
            "My favourite colour is green.",
            f("Lena's favourite colour is green", "I | favourite colour | =green"),
        ),
        say(
            "2022-03-02",
            "My favourite food is ramen.",
            f("Lena's favourite food is ramen", "I | favourite food | =ramen"),
        ),
        active=("Lena's favourite colour is green", "Lena's favourite food is ramen"),
    ),
    case(
        "taste turned, in so many words",
        "supersession",
        say("2022-03-01", "I love coffee.", f("Lena loves coffee", "I | likes | =coffee")),
        say(
            "2023-03-01",
            "I don't like coffee any more.",
            f("Lena does not like coffee any more", "I | likes | =coffee", ends=True),
        ),
        active=("Lena does not like coffee any more",),
        over=("Lena loves coffee",),
    ),
    case(
        "the opposite without a word of change is asked about",
        "contradiction",
        say("2022-03-01", "I love coffee.", f("Lena loves coffee", "I | likes | =coffee")),
        say("2023-03-01", "I hate coffee.", f("Lena hates coffee", "I | hates | =coffee")),
        active=("Lena loves coffee", "Lena hates coffee"),
        reviews={"contradiction": 1},
    ),
    case(
        "the opposite of something else is no contradiction",
        "both true",
        say("2022-03-01", "I love coffee.", f("Lena loves coffee", "I | likes | =coffee")),
        say("2023-03-01", "I hate tea.", f("Lena hates tea", "I | hates | =tea")),
        active=("Lena loves coffee", "Lena hates tea"),
    ),
    case(
        "getting older",
        "supersession",
        say("2022-03-01", "I am 33.", f("Lena is 33", "I | age | =33")),
        say("2023-04-01", "I turned 34.", f("Lena is 34", "I | age | =34")),
        active=("Lena is 34",),
        over=("Lena is 33",),
    ),
    case(
        "late news of a former home is history",
        "late news",
        say("2023-01-10", "I live in Bonn.", f("Lena lives in Bonn", "I | lives_in | Bonn")),
        say(
            "2021-06-01",
            "I live in Kiel.",
            f("Lena lives in Kiel", "I | lives_in | Kiel"),
            read="2023-02-01",
        ),
        active=("Lena lives in Bonn",),
        over=("Lena lives in Kiel",),
        as_of={"2022-06-01": ("Lena lives in Kiel",), "2023-01-20": ("Lena lives in Bonn",)},
    ),
    case(
        "the past told today is history",
        "late news",
        say("2023-01-10", "I live in Bonn.", f("Lena lives in Bonn", "I | lives_in | Bonn")),
        say(
            "2023-02-01",
            "In 2019 I lived in Kiel.",
            f("Lena lived in Kiel in 2019", "I | lives_in | Kiel", when="in 2019"),
        ),
        active=("Lena lives in Bonn",),
        over=("Lena lived in Kiel in 2019",),
        as_of={
            "2019-06-01": ("Lena lived in Kiel in 2019",),
            "2023-01-20": ("Lena lives in Bonn",),
        },
    ),
    case(
        "since an earlier time, said later, is asked about",
        "late news",
        say("2023-01-10", "I live in Bonn.", f("Lena lives in Bonn", "I | lives_in | Bonn")),
        say(
            "2023-02-01",
            "I have been living in Kiel since 2020.",
            f("Lena has been living in Kiel since 2020", "I | lives_in | Kiel", when="since 2020"),
        ),
        active=("Lena lives in Bonn", "Lena has been living in Kiel since 2020"),
        reviews={"contradiction": 1},
    ),
    case(
        "old news of a job that is known to be over",
        "late news",
        say(
            "2023-01-10",
            "I no longer work at Initech.",
            f("Lena no longer works at Initech", "I | works_at | Initech", ends=True),
        ),
        say(
            "2021-06-01",
            "I work at Initech.",
            f("Lena works at Initech", "I | works_at | Initech"),
            read="2023-02-01",
        ),
        active=("Lena no longer works at Initech",),
        over=("Lena works at Initech",),
        as_of={"2022-01-01": ("Lena works at Initech",)},
    ),
    case(
        "a job begun again after its end",
        "return",
        say(
            "2021-01-10", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say(
            "2022-01-10",
            "I left Initech.",
            f("Lena left Initech", "I | works_at | Initech", ends=True),
        ),
        say(
            "2023-01-10",
            "I work at Initech again.",
            f("Lena works at Initech again", "I | works_at | Initech"),
        ),
        active=("Lena works at Initech again", "Lena left Initech"),
        over=("Lena works at Initech",),
        as_of={"2021-06-01": ("Lena works at Initech",)},
        edges=("Lena | works_at | Initech",),
    ),
    case(
        "an end before the beginning touches nothing",
        "late news",
        say(
            "2023-01-10",
            "I work at Initech since 2022.",
            f("Lena works at Initech since 2022", "I | works_at | Initech", when="since 2022"),
        ),
        say(
            "2023-02-10",
            "I left Initech in 2015, the first time.",
            f("Lena left Initech in 2015", "I | works_at | Initech", ends=True, when="in 2015"),
        ),
        active=("Lena works at Initech since 2022", "Lena left Initech in 2015"),
    ),
    case(
        "a stay with an end of its own does not end another",
        "both true",
        say("2023-01-10", "I live in Bonn.", f("Lena lives in Bonn", "I | lives_in | Bonn")),
        say(
            "2023-02-01",
            "I lived in Rome from 2010 to 2012.",
            f(
                "Lena lived in Rome from 2010 to 2012",
                "I | lives_in | Rome",
                valid_at="2010-01-01",
                invalid_at="2013-01-01",
            ),
        ),
        active=("Lena lives in Bonn",),
        over=("Lena lived in Rome from 2010 to 2012",),
        as_of={"2011-06-01": ("Lena lived in Rome from 2010 to 2012",)},
    ),
    case(
        "a correction was never true",
        "correction",
        say(
            "2023-01-10",
            "My birthday is on 3 March.",
            f("Lena's birthday is on 3 March", "I | birthday | =3 March"),
        ),
        say(
            "2023-02-01",
            "No, my birthday is on 3 May.",
            f("Lena's birthday is on 3 May", "I | birthday | =3 May", corrects=True),
        ),
        active=("Lena's birthday is on 3 May",),
        over=("Lena's birthday is on 3 March",),
        as_of={
            "2023-01-20": ("Lena's birthday is on 3 May",),
            "2020-01-01": ("Lena's birthday is on 3 May",),
        },
        known_at={"2023-01-20": ("Lena's birthday is on 3 March",)},
    ),
    case(
        "a correction of something many",
        "correction",
        say("2023-01-10", "I have a cat, Tom.", f("Lena has a cat named Tom", "I | has pet | Tom")),
        say(
            "2023-01-11",
            "Sorry, the cat is called Tim!",
            f("Lena has a cat named Tim", "I | has pet | Tim", corrects=True),
        ),
        active=("Lena has a cat named Tim",),
        over=("Lena has a cat named Tom",),
        reviews={},
    ),
    case(
        "a correction in the same talk",
        "correction",
        say("2023-01-10T10:00", "I live in Bonn.", f("Lena lives in Bonn", "I | lives_in | Bonn")),
        say(
            "2023-01-10T10:05",
            "I mean Köln, sorry.",
            f("Lena lives in Köln", "I | lives_in | Köln", corrects=True),
            more=True,
        ),
        active=("Lena lives in Köln",),
        over=("Lena lives in Bonn",),
        as_of={"2023-02-01": ("Lena lives in Köln",)},
    ),
    case(
        "two birthdays without a correction are asked about",
        "contradiction",
        say(
            "2023-01-10",
            "My birthday is on 3 March.",
            f("Lena's birthday is on 3 March", "I | birthday | =3 March"),
        ),
        say(
            "2023-02-01",
            "My birthday is on 3 May.",
            f("Lena's birthday is on 3 May", "I | birthday | =3 May"),
        ),
        active=("Lena's birthday is on 3 March", "Lena's birthday is on 3 May"),
        reviews={"contradiction": 1},
    ),
    case(
        "a day within the month is no contradiction",
        "both true",
        say(
            "2023-01-10",
            "My birthday is in May.",
            f("Lena's birthday is in May", "I | birthday | =May"),
        ),
        say(
            "2023-02-01",
            "It is on 3 May.",
            f("Lena's birthday is on 3 May", "I | birthday | =3 May"),
        ),
        active=("Lena's birthday is in May", "Lena's birthday is on 3 May"),
    ),
    case(
        "a person decides which holds",
        "decision",
        say(
            "2022-03-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
        ),
        say("2022-05-01", "Hooli pays well.", f("Lena works at Hooli", "I | works_at | Hooli")),
        do("decide", "2022-05-02", "contradiction", "new"),
        active=("Lena works at Hooli",),
        over=("Lena works at Initech",),
        as_of={"2022-04-01": ("Lena works at Initech",), "2022-06-01": ("Lena works at Hooli",)},
    ),
    case(
        "undone is as it was",
        "undo",
        say("2023-05-01", "I live in Berlin.", f("Lena lives in Berlin", "I | lives_in | Berlin")),
        say("2024-02-01", "I moved to Munich.", f("Lena moved to Munich", "I | lives_in | Munich")),
        do("undo", "2024-02-02"),
        active=("Lena lives in Berlin",),
        edges=("Lena | lives_in | Berlin",),
    ),
    case(
        "what is pinned stays until a person decides",
        "protection",
        say("2023-05-01", "I live in Berlin.", f("Lena lives in Berlin", "I | lives_in | Berlin")),
        do("pin", "2023-05-02", "Lena lives in Berlin"),
        say("2024-02-01", "I moved to Munich.", f("Lena moved to Munich", "I | lives_in | Munich")),
        active=("Lena lives in Berlin",),
        pending=("Lena moved to Munich",),
        reviews={"approval": 1},
    ),
    case(
        "what is verified stays until a person decides, and then gives way",
        "protection",
        say("2023-05-01", "I live in Berlin.", f("Lena lives in Berlin", "I | lives_in | Berlin")),
        do("verify", "2023-05-02", "Lena lives in Berlin"),
        say("2024-02-01", "I moved to Munich.", f("Lena moved to Munich", "I | lives_in | Munich")),
        do("decide", "2024-02-02", "approval", "approve"),
        active=("Lena moved to Munich",),
        over=("Lena lives in Berlin",),
        as_of={"2024-01-01": ("Lena lives in Berlin",), "2024-02-10": ("Lena moved to Munich",)},
    ),
)
