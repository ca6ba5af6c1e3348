"""English."""

from __future__ import annotations

from langmemory.formation.rules.english_words import LANGUAGES_SPOKEN
from langmemory.formation.rules.requests.request import Manners, request
from langmemory.languages import ENGLISH as LEXICON
from langmemory.languages.language import word_set

ENGLISH = Manners(
    code="en",
    for_good=(
        r"from now on(?:wards?)?|from here on(?: out)?|from today on(?:wards?)?|"
        r"in (?:the )?future|in future (?:chats|conversations|answers|replies)|going forward|"
        r"moving forward|henceforth|(?:for|in) (?:all|every)(?: of)?(?: (?:the|future|my|our|your))* "
        r"(?:chats?|conversations?|answers?|repl(?:y|ies)|messages?|responses?|questions?)|"
        r"permanently"
    ),
    habit=r"always|ever|every(?: single)? time|by default|as a rule|in general|at all times",
    company=(
        r"i|i'm|i've|i'd|i'll|my|we|our|you|you're|your|thanks?|hi|hey|hello|ok|okay|great|good|nice|"
        r"perfect|cool|no|yes|yeah|well|also|please|that|that's|it|it's|by the way|btw|sorry|quick|one|"
        r"some|a few|and|but|so|otherwise|remember|just|then"
    ),
    fillers=(
        r"please|pls|plz|kindly|just|actually|really|instead(?! of)|thanks|thank you|"
        r"with me|to me|for me|(?:will|would) you(?=\W*$)"
    ),
    leads=(
        r"i(?:'d| would)? (?:want|like|love|prefer|need)(?: it)? (?:if you(?: would| could)?|you to|"
        r"for you to|that you)|i'd rather(?: that)? you|it(?:'d| would) be "
        r"(?:great|nice|good|better|lovely) if you|you (?:should|must|need to|have to|are to)|to|"
        r"let's|let us|remember(?: to| that you should)?|(?:make|be) sure (?:to|you|that you)|"
        r"don't forget to|try to|see that you"
    ),
    polite=r"(?:can|could|would|will) (?:you|we)(?: mind)?|do you mind",
    tags=r"ok|okay|please|alright|all right|deal|will you",
    splits=r"\s*[,;:()–—]\s*|\s+-+\s+",
    ands=r"\s+(?:and|but|so(?! (?:many|much|often))|because)\s+",
    when=r"when|whenever|every time|each time|where",
    somewhere=r"(?:in|for|on|at|during|within|regarding|as for|with) "
    r"(?:the|this|that|these|my|our|his|her|their|an?)",
    unclear=(
        r"if|unless|whether|imagine|suppose|pretend|hypothetically|joking|kidding|lol|lmao|haha\w*|"
        r"yeah right|(?:yeah|oh|ya|yes) sure|sure thing|as if|said|says|saying|told|tells|asks|asked|"
        r"wrote|writes|claims|claimed|thinks|heard|quote|prompt|story|novel|movie|character|game|would be|"
        r"just this once|this time|for once|for now|for today|today|tonight|until|till|"
        r"he|she|they|his|her|their"
    ),
    elsewhere=(
        r"role-?play\w*|pretend|let's play|you are (?:now )?an? \w+|you're (?:now )?an? \w+|act as|act like|"
        r"translat\w+|proofread|paraphrase|the following|text below|(?:system )?prompt|in character"
    ),
    tasks=(
        r"write|draft|compose|create|make|generate|build|design|code|implement|fix|summari[sz]e|"
        r"explain|list|give|tell|describe|rewrite|help|show|find|name|compare|plan|recommend|suggest|"
        r"prepare|answer|continue|shorten|edit|review|rate|do|can you|could you|i need|i want|"
        r"turn|convert|think|let's|use|add|put|i'm (?:writing|building|making|working on|designing)"
    ),
    same={
        "emoji": "emojis", "emojis": "emojis", "emoticons": "emojis", "smileys": "emojis",
        "bullets": "bullet points", "bulletpoints": "bullet points", "bullet point": "bullet points",
        "bulleted lists": "bullet points", "your sources": "sources", "references": "sources",
        "citations": "sources", "em-dashes": "em dashes", "exclamation points": "exclamation marks",
    },
    not_names=LEXICON.stop_words
    | LEXICON.temporal_words
    | frozenset(LEXICON.months)
    | word_set(
        """asap back later crazy old-fashioned maybe tomorrow tonight again weird mad stupid silly today
        uber lyft"""
    ),
    placeholders={
        "language": rf"(?:(?:british|american|simple|plain|brazilian|swiss) )?(?:{LANGUAGES_SPOKEN})",
        "answers": r"answers|replies|responses|explanations|messages|sentences|texts",
        "Name": r"(?-i:(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-ZÀ-ÖØ-Þ][\w'-]*(?: [A-ZÀ-ÖØ-Þ][\w'-]*){0,2})",
        "title": r"sir|ma'am|madam|miss|dude|bro|buddy|mate|honey|dear|darling|boss|pal|friend|(?:{Name})",
        "say": r"answer|reply|respond|write(?: back)?|talk|speak|communicate|continue|chat|be",
        "wish": r"i(?:'d| would)? (?:want|prefer|like)(?: it)?(?: to (?:get|have|see))?(?: all| your)*",
        "short": r"(?:(?:very|rather|nice and|as) )?(?:short(?:er)?|brief(?:er)?|concise|succinct|terse|"
        r"to the point|compact)(?: and (?:simple|sweet|to the point|clear|concise))?(?: as possible)?",
        "long": r"(?:(?:very|more|rather) )?(?:long(?:er)?|detailed|thorough|in-depth|elaborate|extensive)",
        "when": (
            r"(?: when(?:ever)? (?:you (?:answer|reply|respond|write|talk|speak)|you give me \w+|i ask"
            r"(?: you)?(?: something| anything)?)(?: me)?)?"
        ),
        "form": (
            r"emojis?|emoticons|smileys|bullet ?points?|bullets|bulleted lists|numbered lists|lists|"
            r"tables|headings|headers|markdown|bold(?: text)?|italics|(?:technical )?jargon|"
            r"technical terms|slang|abbreviations|acronyms|exclamation (?:marks|points)|em[- ]dashes|"
            r"dashes|hashtags|swear ?words|profanity|contractions|filler words|small talk|flattery|"
            r"disclaimers|clich[eé]s|puns|jokes|sarcasm|latex|code blocks|follow-up questions|apologies"
        ),
        "part": (
            r"{form}|sources|references|citations|links|examples|code examples|type hints|"
            r"type annotations|unit tests|docstrings|footnotes|an? (?:short )?summary|an? tl;?dr|"
            r"an? example|the date|dates|a source|temperatures in \w+|distances in \w+|"
            r"times in [\w-]+ format|dates in [\w-]+ format"
        ),
        "things": (
            r"(?!(?:.* )?(?:it|that|this|these|those|them|him|her|he|she|they|me|we|you|your|anything|"
            r"how|what|to)\b)[\w'-]+(?: [\w'-]+){0,6}?"
        ),
        "there": r"(?: in (?:your|the|any) {answers}| anywhere)?",
        "again": r"(?: (?:again|any ?more|any longer))?",
        "money": r"euros?|(?:us |american )?dollars?|pounds?|(?:swiss )?francs?|yen|rupees?|pesos?|yuan|"
        r"eur|usd|gbp|chf",
    },
    requests=(
        request(
            r"(?:{say}|answered|replied|responded|spoke)(?: me| us)? (?:only )?in <language>(?: only)?"
            r"{again}|(?:speak|talk|use|stick to|switch to|switch back to) (?:only )?<language>{again}"
            r"(?: in your {answers})?|(?:{wish}|give me|keep)(?: all)?(?: your)? {answers} in <language>|"
            r"(?:all )?(?:of )?your {answers} (?:should|must) be in <language>",
            "{s} wants answers in {o}.", "answer_language", importance=0.9,
        ),
        request(
            r"you (?:don't|do not) (?:have|need) to (?:{say}) in <language> (?:any ?more|any longer)",
            "{s} no longer asks for answers in {o}.", "answer_language", lasts="always", ends=True,
        ),
        request(
            r"(?:call(?:ed|ing)?|address(?:ed|ing)?) me (?:as |by )?<Name>{again}"
            r"(?: (?:instead of|rather than|and not|not) {Name})?|refer to me as <Name>",
            "{s} wants to be called {o}.", "addressed_as", lasts="always", importance=0.9,
        ),
        request(
            r"you (?:can|may) call me <Name>{again}",
            "{s} wants to be called {o}.", "addressed_as", importance=0.9,
        ),
        request(
            r"(?:(?:stop|not) (?:calling|addressing)|never (?:call|address)) me (?:as )?<title>{again}|"
            r"(?:don't|do not) call me <title> (?:again|any ?more|any longer)",
            "{s} does not want to be called {o}.", "not_addressed_as", lasts="always", importance=0.8,
        ),
        request(
            r"my pronouns are (?P<object>(?:she|he|they|xe|ze|it|any)(?:/\w+){1,2})",
            "{s} uses the pronouns {o}.", "pronouns", lasts="always", importance=0.8,
        ),
        request(
            r"(?:keep|make) (?:all )?(?:of )?your {answers} {short}|(?:{wish}) {short} {answers}|"
            r"(?:all )?(?:of )?your {answers} (?:should|must) be {short}",
            "{s} wants short answers.", "answer_length", object="short", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:keep (?:it|them|things|{answers}) {short}|be {short}|(?:answer|reply|respond) (?:briefly|"
            r"concisely|in (?:short|brief)(?: sentences)?)|(?:give(?: me)?|use|write) {short} {answers}|"
            r"{short} {answers}(?: only)?)",
            "{s} wants short answers.", "answer_length", object="short", importance=0.8,
        ),
        request(
            r"(?:keep|make) (?:all )?(?:of )?your {answers} {long}|(?:{wish}) {long} {answers}",
            "{s} wants detailed answers.", "answer_length", object="detailed", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:(?:answer|reply|respond|explain things) in (?:more )?detail|(?:give(?: me)?|write) {long} "
            r"{answers}|{long} {answers})",
            "{s} wants detailed answers.", "answer_length", object="detailed", importance=0.8,
        ),
        request(
            r"(?:you (?:don't|do not) (?:have|need) to|no need to|stop) (?:be(?:ing)? (?:so )?{short}|"
            r"keep(?:ing)? (?:it|your {answers}|things) (?:so )?{short})(?: (?:any ?more|any longer))",
            "{s} no longer asks for short answers.", "answer_length", object="short", lasts="always",
            ends=True,
        ),
        request(
            r"(?:use|stick to|prefer|give me|show(?: me)?) (?:the )?(?P<object>metric|imperial)"
            r"(?: (?:units|system|measurements|measures))(?: only)?{there}{when}",
            "{s} wants {o} units.", "answer_units", lasts="if alone", importance=0.8,
        ),
        request(
            r"(?:give|show|quote|list|state|tell)(?: me)?(?: all| the| your)* prices in <money>|"
            r"use <money> for prices",
            "{s} wants prices in {o}.", "answer_currency",
        ),
        request(
            r"you (?:can|may|could|are allowed to) (?:use|start using|go back to using) <form> "
            r"(?:again|now)|<form> (?:are|is) (?:fine|ok|okay|welcome|allowed) (?:again|now)",
            "{s} allows {o} again.", "answers_with", lasts="always", importance=0.4,
        ),
        request(
            r"(?:(?:don't|do not|didn't|never) use|(?:stop|avoid|not) using) (?:any |so many |too many )?"
            r"<form>{there}{again}(?: with me)?{when}|no more <form>{there}",
            "{s} wants answers without {o}.", "answers_without", lasts="if alone",
        ),
        request(
            r"(?:no(?: more)?|avoid|skip|leave out|drop|omit|without) (?:any |the )?<form>{there}{again}",
            "{s} wants answers without {o}.", "answers_without",
        ),
        request(
            r"(?:stop apologi[sz]ing|(?:don't|didn't|never|do not) (?:apologi[sz]e|say (?:you're )?sorry))"
            r"(?: all the time| so much| constantly| so often| for everything| every time)",
            "{s} wants answers without apologies.", "answers_without", object="apologies",
            lasts="always",
        ),
        request(
            r"(?:stop apologi[sz]ing|(?:don't|never|do not) apologi[sz]e){again}",
            "{s} wants answers without apologies.", "answers_without", object="apologies",
        ),
        request(
            r"(?:never (?:suggest|recommend|offer|propose)|(?:stop|not) (?:suggesting|recommending|"
            r"offering|proposing))(?: me| us)? <things>{again}|"
            r"(?:don't|do not|didn't) (?:suggest|recommend|offer|propose)(?: me| us)? <things> "
            r"(?:again|any ?more|any longer)",
            "{s} does not want {o} suggested.", "answers_without", lasts="always", importance=0.8,
        ),
        request(
            r"(?:don't|do not) (?:suggest|recommend|offer|propose)(?: me| us)? <things>",
            "{s} does not want {o} suggested.", "answers_without", importance=0.8,
        ),
        request(
            r"(?:cite|use|give|include|add|mention|provide|show|name|list|end with|start with)(?: me)?"
            r"(?: your| the| some| all)? <part>{there}{again}{when}",
            "{s} wants answers with {o}.", "answers_with",
        ),
        request(
            r"(?:{say})(?: me)? (?:only )?(?:in|with|using) <form>",
            "{s} wants answers with {o}.", "answers_with",
        ),
        request(
            r"be (?:more |very |completely |brutally )?(?P<object>blunt|direct|honest|frank|formal|informal|"
            r"casual|friendly|polite|patient|critical|strict|gentle|funny|serious|enthusiastic)",
            "{s} wants the assistant to be {o}.", "answer_tone",
        ),
    ),
)  # fmt: skip
