"""English."""

from __future__ import annotations

from langmemory.formation.rules.questions.question import Asking, question

_WHO = r"(?:your {adjectives}(?P<kin>{kin})|(?P<name>{Word}))"
_DO = r"(?:do|d') ?(?:you|u|ya)"
_REST = r"(?P<rest>(?!.*\b(?:any\w*|some\w*|or|ever|want|think|know|mind|need|if|too)\b).+)"
_YEARS = r"(?:years? old|yrs? old|years)"

ENGLISH = Asking(
    code="en",
    ends=(
        r"now|again|exactly|these days|nowadays|at the moment|currently|then|though|actually|by the way|btw|"
        r"if i may ask|if you don't mind(?: me asking)?|anyway|at present"
    ),
    yes=(
        r"(?:oh )?(?:yes|yep|yeah|yup|yea|aye|indeed|correct|exactly|right|that's right)"
        r"(?:,? (?:i (?:do|am|have)|s?he (?:is|does)|we (?:do|are|have)))?"
    ),
    no=(
        r"no|nope|nah|not|none|nothing|nobody|no one|nowhere|never|neither|i don't|don't|hardly|barely|"
        r"rarely|"
        r"kind of|kinda|sort of|sorta|used to|both|either|sometimes"
    ),
    evades=(
        r"ask|guess|why|what|where|who|when|how|same|see|take|try|call|google|check|tell|wait|sorry|well|it|"
        r"here|there|everywhere|anywhere|somewhere|home|abroad|overseas|outside|inside|upstairs|downstairs|"
        r"downtown|uptown|far|near|close|around|between|depends|hard|tough|good|bad|great|nice|secret|"
        r"classified|private|still|just|only|guilty|busted|hell|heaven|limbo|mars|narnia|hogwarts|neverland|"
        r"trouble|haha\w*|lol|lmao|ha|hmm*|um+|uh+|er+|idk|dunno|whatever|anything|everything|all|some|many|"
        r"brb|omw|afk|gtg|ttyl|ok|okay|sure|fine|santa|satan|the man|the moon|too|lots|several|various|work|"
        r"school|bed|retired|unemployed|freelance|self-employed|myself|remote|"
        r"remotely|ew+|oh|ugh|wow|omg|thanks|thank|please|stop|next|my|your|his|her|their|our|this|that"
    ),
    trails=(
        r"originally|actually|now|currently|nowadays|these days|at the moment|atm|right now|as well|too|"
        r"still|"
        r"mate|thanks|obviously|of course|for now|btw|by the way|please|unfortunately|sadly|luckily|mostly|"
        r"mainly|again|x+|and you|you"
    ),
    back=r"(?:(?:and|how about|what about|wbu|hbu)[ ,]*)?(?:you|yours|yourself|u|wbu|hbu)",
    mine=((r"\byour\b", "my"), (r"\bYour\b", "My")),
    questions=(
        # Where.
        question(
            rf"where(?:abouts)? (?:{_DO}(?: guys)? (?:all )?(?:currently )?live|"
            r"are (?:you|u) (?:currently |now )?(?:living|based))",
            "I live in {answer}", "name", lead="(?:i )?(?:live )?(?:in|near)|i'm in",
        ),
        question(
            rf"where(?:abouts)? does {_WHO} (?:now )?live", "{who} lives in {answer}", "name", lead="in|near",
        ),
        question(
            rf"where(?:abouts)?(?:'s|'re| is| are) {_WHO}(?: originally)? from",
            "{who} is from {answer}", "name", lead="from",
        ),
        question(
            r"where(?:abouts)? (?:are|r) (?:you|u)(?: originally)? from(?: originally)?|"
            r"where did you grow up",
            "I'm from {answer}", "name", lead="from|in",
        ),
        question(r"where were you born", "I was born in {answer}", "name", lead="in"),
        question(
            r"where (?:did you|have you) moved?(?: to)?", "I moved to {answer}", "name", lead="to",
        ),
        question(
            r"where are you (?:moving|relocating)(?: to)?", "I'm moving to {answer}", "name", lead="to",
        ),
        # Work and study: without "at" a name may be that of a town.
        question(rf"where {_DO} work", "I work {answer}", "word"),
        question(rf"where does {_WHO} work", "{who} works {answer}", "word"),
        question(
            r"(?:who (?:do|are) you (?:work|working) (?:for|with)|what company (?:do you work for|are you "
            r"with)|which company do you work for|who's your employer)",
            "I work for {answer}", "name", lead="for|at|with",
        ),
        question(
            r"(?:(?:so )?what (?:do|d') ?(?:you|u|ya) do(?: for (?:a living|work))?|what(?:'s| is) your "
            r"(?:job|profession|occupation|line of work)|what do you work as)",
            "I'm a {answer}", "word", lead="(?:i'm |i am |i work as )?an?|as an?|i'm|i am",
        ),
        question(
            rf"what does {_WHO} do(?: for (?:a living|work))?", "{who} is a {answer}", "word",
            lead="(?:s?he(?:'s| is) )?an?|s?he(?:'s| is)",
        ),
        question(
            r"(?:where|which (?:university|uni|college|school)) (?:do you|are you) (?:study|studying|go to)"
            r"(?: at)?",
            "I study at {answer}", "name", lead="at",
        ),
        # Names and ages.
        question(
            r"what(?:'s| is) your {adjectives}(?P<kin>{kin})(?:'s name| called| named)",
            "{who} is called {answer}", "name",
        ),
        question(
            r"who(?:'s| is) your {adjectives}(?P<kin>{kin})", "{who} is called {answer}", "name",
        ),
        question(
            r"what(?:'s| is) (?:the name of )?your {adjectives}(?P<pet>{pet})(?:'s name| called| named)?",
            "My {pet} is called {answer}", "name",
        ),
        question(r"(?:what(?:'s| is) your (?:full )?name|may i (?:ask|know) your name)",
                 "My name is {answer}", "name"),
        question(rf"how old(?:'s| is) {_WHO}", "{who} is {answer}", "word", tail=_YEARS),
        question(r"how old (?:are|r) (?:you|u)", "I'm {answer}", "word", tail=_YEARS),
        # When.
        question(
            r"when(?:'s| is) your (?:birthday|b-?day|bday)", "My birthday is {answer}", "time",
        ),
        question(
            r"when(?:'s| is) your {adjectives}(?P<kin>{kin})'s (?:birthday|b-?day|bday)",
            "{who}'s birthday is {answer}", "time",
        ),
        question(r"when are you (?:two )?getting married|when(?:'s| is) (?:the|your) wedding",
                 "I'm getting married {answer}", "time"),
        question(r"when did you move to (?P<rest>.+)", "I moved to {rest} {answer}", "time"),
        question(rf"since when (?:do|are|have) you {_REST}", "I {rest} {answer}", "time"),
        # Health, animals, what somebody can.
        question(
            r"(?:are you allergic to (?:anything|something|any (?:food|foods|medication|medicines?))|"
            r"what are you allergic to|(?:(?:do you have )?any|do you have) (?:food )?allergies"
            r"(?: (?:i|we) should (?:know|be aware) (?:about|of))?)",
            "I'm allergic to {answer}", "word", lead="(?:i'm |i am )?allergic to|to|only|just",
        ),
        question(
            r"(?:do you have )?(?:any )?(?:dietary|food) (?:restrictions|requirements|preferences)"
            r"(?: (?:i|we) should (?:know|be aware) (?:about|of))?|do you follow (?:a|any) "
            r"(?:special |particular )?diet",
            "I'm {answer}", "word", lead="i'm|i am",
        ),
        question(
            r"do you have any (?:medical|health|chronic) conditions?(?: (?:i|we) should know about)?",
            "I have {answer}", "word", lead="i have|i've got",
        ),
        question(
            r"(?:do|have) you (?:have|got) (?:any |some )?(?:pets?|animals?|kids|children|siblings|brothers "
            r"(?:or|and) sisters|a pet|a dog|a cat)(?: at home)?|any (?:pets|kids|siblings)",
            "I have {answer}", "word", lead="(?:i |we )(?:have|'ve got)|i've got|we've got|just|only",
        ),
        question(r"what (?:pets?|animals?) do you have", "I have {answer}", "word", lead="just|only"),
        question(
            r"(?:what|which|how many) languages? (?:do|can) you speak", "I speak {answer}", "name",
            lead="i speak",
        ),
        question(
            r"(?:what|which) instruments? do you play", "I play the {answer}", "word", lead="(?:i play )?the",
        ),
        question(r"what (?:car )?do you drive", "I drive {answer}", "word", lead="i drive"),
        # Yes or no.
        question(rf"(?:do|don't) you {_REST}", "I {rest}{answer}", "yes"),
        question(rf"(?:are|aren't) you {_REST}", "I'm {rest}{answer}", "yes"),
        question(rf"have you {_REST}", "I've {rest}{answer}", "yes"),
        question(
            rf"(?:so )?you (?:still )?(?=(?:live|work|speak|play|have|own|drive|study)\b){_REST},? "
            r"(?:right|correct|yes|don't you)",
            "I {rest}{answer}", "yes",
        ),
        question(rf"(?:so )?(?:you're|you are) {_REST}, (?:right|correct|yes|aren't you)",
                 "I'm {rest}{answer}", "yes"),
        question(rf"is your {{adjectives}}(?P<kin>{{kin}}) {_REST}", "{who} is {rest}{answer}", "yes"),
    ),
)  # fmt: skip
