"""English."""

from __future__ import annotations

from langmemory.languages.english_kinds import ENGLISH_KINDS
from langmemory.languages.language import Language, numbered, ordered, unit_words, word_set

ENGLISH = Language(
    code="en",
    stop_words=word_set(
        """a about above after again against ain all also am an and any are aren as at be because been
        before being below between both but by can cannot could couldn d did didn do does doesn
        doing don down during each few for from further get got had hadn has hasn have haven
        having he her here hers herself him himself his how i if in into is isn it its itself
        just kind likely ll m many me might more most much my myself no nor not now of off on
        once only or other our ours ourselves out over own re s same shall she should shouldn
        so some such t than that the their theirs them themselves then there these they this
        those through to too under until up ve very was wasn we were weren what when where
        which while who whom whose why will with won would wouldn you your yours yourself
        yourselves"""
    ),
    stop_names=frozenset(("don", "will")),
    questions={
        "now": (
            r"\b(now|nowadays|currently|current|these days|at the moment|at present|presently)\b",
            r"\b(latest|newest|most recent|still|any ?more)\b",
        ),
        "before": (
            r"\b(before|previous(ly)?|former(ly)?|earlier|used? to|originally|back then|at first"
            r"|at the (start|beginning)|first (meant|planned|supposed)|was first)\b",
            r"\b(did|was|were)\b.*\b(live|living|stay|work|working|have|own|drive|date|dating)\b",
            r"\b(lived|worked|ex|my old|had been)\b",
        ),
        "first": (
            r"\b(at first|originally|initially|(in|at) the (beginning|start)|to (begin|start) with"
            r"|first (meant|planned|supposed)|was first)\b",
        ),
        "present": (
            r"^(?!.*\b(did|was|were|had|before|used to|when|first|last)\b)"
            r".*(\b(is|are|am|do|does|has|have|can|will|should)\b|['’]s\b)",
        ),
        "change": (
            r"\bhow\b.*\b(changed?|evolved?|develop(ed)?|progress(ed)?|grown?|grew|improved?|shifted)\b",
            r"\bover (the )?(years|months|weeks|time|course)\b|\b(timeline|history|course|evolution) of\b",
            r"\b(changes?|progress|developments?) (in|of|with|to)\b",
            r"\bfrom (beginning|start) to (end|finish)\b",
        ),
        "count": (r"^\W*how (many|much|often)\b",),
        "when": (
            r"^\W*(since |until |by )?when\b",
            r"^\W*how (long|old|recently|soon)\b",
            r"\b(what|which) (date|day|time|month|year|week|weekday|season|decade)s?\b",
        ),
        "where": (
            r"^\W*where\b",
            r"\b(what|which) (city|country|state|place|town|location|cities|countries|places)\b",
        ),
        "who": (
            r"^\W*(who|whom|whose|with whom|to whom)\b",
            r"\bwhat(['’]?s| is| was) (\w+(['’]s)? ){1,3}(name|called)\b",
        ),
        "why": (r"^\W*why\b", r"\b(what|which) (reason|motivated|inspired|made)\b"),
        "preference": (
            r"\b(favou?rite|prefers?|preferred|likes?|loves?|enjoys?|hates?|dislikes?)\b",
        ),
        "relation": (
            r"\b(friend|friends|wife|husband|spouse|partner|sister|brother|mother|father|mom|mum"
            r"|dad|son|daughter|kids|children|boss|colleague|colleagues|married|related)\b",
        ),
        "how": (r"^\W*how\b",),
    },
    months=numbered(
        "january jan",
        "february feb",
        "march",
        "april apr",
        "may",
        "june jun",
        "july jul",
        "august aug",
        "september sept sep",
        "october oct",
        "november nov",
        "december dec",
    ),
    weekdays=numbered(*ordered("monday tuesday wednesday thursday friday saturday sunday")),
    seasons={
        "spring": (3, 3),
        "summer": (6, 3),
        "autumn": (9, 3),
        "fall": (9, 3),
        "winter": (12, 3),
    },
    asks_listener=(
        r"\bdid you (\w+ )?(say|tell|recommend|suggest|mention|give|write|list|propose|explain|advise"
        r"|describe|draft|warn|pick|think|reckon|calculate|teach|name|show|send|call|come up|put"
        r"|have|make|quote)\b",
        r"\byou(['’]ve| have| had)?( \w+)? (said|told|recommended|suggested|mentioned|gave|given"
        r"|wrote|written|listed|proposed|explained|advised|described|drafted|warned|picked|thought"
        r"|reckoned|calculated|taught|named|showed|shown|sent|called|came up|quoted|worked out)\b",
        r"\byour (\w+ )?(advice|recommendations?|suggestions?|proposals?|explanation|answer)\b",
        r"\baccording to you\b|\byou had (a|an|the) (\w+ )?(idea|opinion|tip|recipe|plan|list)\b",
    ),
    own=r"\b(?:my|our)\s+(\w+(?:\s+\w+)?)",
    courtesies={
        **dict.fromkeys(("hey", "hi"), r"^\W*(?:hey|hi)(?: (?:there|again|all))?(?:[\s,.!…]+|$)"),
        **dict.fromkeys(
            ("hello", "good "),
            r"^\W*(?:hello|good (?:morning|afternoon|evening|day))(?: (?:there|again|all))?\s*[,.!…\n]\s*"
            r"|^\W*(?:hello|good (?:morning|afternoon|evening|day|night))(?:,? (?-i:[A-Z])\w+)?\W*$",
        ),
        **dict.fromkeys(
            ("how are", "how r", "how's", "how’s", "what's up", "what’s up", "how do you do"),
            r"\b(?:how (?:are|r) (?:you|u|ya|things)|how['’]s (?:it going|life|everything|things"
            r"|your day(?: going)?)|what['’]s up|how do you do)\b(?: (?:doing|today|then))*\W*(?=$|[?.!,])",
        ),
        **dict.fromkeys(
            ("what do you mean", "where were we"), r"^\W*(?:what do you mean|where were we)\b\W*$"
        ),
        **dict.fromkeys(
            ("thank", "thx"),
            r"(?<=[?!.,;…\n])\s*(?:many |lots of )?(?:thanks|thank you|thx)"
            r"(?: (?:a lot|so much|very much|in advance|again|a million))*\W*$",
        ),
        "please": r"(?:^\W*|,\s*)please\b,?\s*|\s+please\b(?=\W*$)",
        " you ": r"\b(?:can|could|would|will) you (?:please |maybe |possibly |just |quickly |kindly )*"
        r"(?:tell|remind) me\b(?: again| once more)*(?: of| about)?\s*[:,]?\s*|"
        r",?\s*\bif you (?:still |even |happen to )*(?:remember|recall|know)\b(?: (?:it|that|this))?\s*[:,]?|"
        r"\b(?:do|did) you (?:still |even |happen to |by any chance )*(?:remember|recall|know)\s+",
        " me": r"^\W*(?:tell|remind) me\b(?: again| once more)*(?: of| about)?\s*[:,]?\s*",
        **dict.fromkeys(
            ("wondering", "curious"),
            r"\bi(?:['’]m| am| was|['’]ve been| have been)? (?:just |still )*(?:wondering|curious)\b"
            r"(?: about)?\s*[:,]?\s*",
        ),
        "to know": r"\bi(?:['’]d| would)? (?:want|need|like|love) to know\b\s*[:,]?\s*",
        "question": r"\b(?:just |a |one |another )*(?:quick|small|short) question\s*[:,.!]\s*",
        **dict.fromkeys(("by the way", "btw"), r"\b(?:by the way|btw)\b,?\s*"),
    },
    fillers=word_set(
        """absolutely afternoon agreed ah aha alright amazing anything anytime anyway appreciate
        appreciated aw awesome aww back bit brb brilliant bye care catch certainly cheers ciao
        clear continue cool copy correct course cu darling day dear definitely done else enjoy
        enough evening everything exactly example excellent fab fabulous fair fantastic fine first
        funny glad gm gn go going gonna good goodbye goodnight got gotcha grand great greetings
        guys ha haha hahaha hang happy hehe hei hello help helped helpful helps hey heya hi hiya
        hm hmm hope huh indeed interesting k keep kidding kind kk last later let like lmao lol
        longer lot lots love lovely luck make makes mate maybe mean meet mhm minute mm moment mon
        morning nah neat never next nice night nope noted oh ok okay omg one ones ooh oops part
        perfect perhaps phew please pleasure pls problem proceed question quick quite really
        repeat rephrase right roger sec second see sense shorter simpler something soon sorry
        sound sounds speak spot start step still such super sure sweet sweetheart take talk tell
        thank thanks thankyou thats there thing thinking thx till time today tomorrow tonight true
        try ttyl ty uh um understand understood useful wait way week weekend welcome well whatever
        wonderful worked works worries worry wow yay yeah yep yes yet yo yup"""
    ),
    unknowing=word_set(
        """afraid answer aware clue data detail details earlier find found idea info information
        know known memory mention mentioned note notes previous previously recall record records
        remember said say shared sure tell told unable unclear unfortunately unknown unsure yet
        conversation conversations chat access provided context far"""
    ),
    negations=word_set(
        """no not never nothing none without don doesn didn haven hasn isn aren wasn won can cannot
        couldn nope neither unable unknown unsure unfortunately"""
    ),
    reworks=(
        r"^\W*(?:(?:can|could|would|will) you |please |just |now |ok(?:ay)? )*"
        r"(?:make|say|write|put|phrase|rephrase|reword|word|repeat|explain|redo|rewrite|shorten|expand"
        r"|translate|format|summari[sz]e|try|do|(?:give|show) me(?= (?:another|more|an example)\b)) "
        r"(?:it|that|this|them|the (?:answer|text|above|last one)|another(?: one)?|more|an example)\b"
        r"(?!.*\b(?:i|my|our|we)\b).{0,48}$",
    ),
    question_words=word_set("what whats when where who whom whose which how why"),
    requests=word_set(
        """do does did is are was were am can could would will should shall has have had tell remind
        show list give name find explain describe"""
    ),
    impersonal=(r"\bhow (?:do|does|can|could|would|should) (?:i|you|we|one)\b",),
    first_person=word_set("i me my mine myself we us our ours ourselves"),
    references=word_set("that those again previously"),
    corrections=(
        # "No" may also begin a Spanish sentence; `SPANISH` excepts the same.
        r"^\W*(no|nope|nah)\b(?!\W*(thank|problem|worries|need|doubt|matter"
        r"|gracias|hay problema|pasa nada|importa|te preocupes))",
        r"^\W*(wrong|incorrect|actually|correction)\b",
        r"^\W*not (true|right|quite|really|correct|what i)\b",
        r"\b(that|this|it|you)( is| was| are|['’]s|['’]re) (\w+ )?"
        r"(wrong|incorrect|mistaken|false|nonsense)\b",
        r"(n['’]t|\bnot|\bnever) (true|right|correct|what i (said|meant|asked|wanted))\b",
        r"\bi (never|didn['’]t|did not) (say|said|mean|meant|ask|asked|tell|told|want|wanted)\b",
        r"\bi (meant|already (said|told))\b",
        r"\byou (misunderstood|misremember|forgot|mixed|got (it|that|this|me) wrong|confuse|confused)\b",
        r"\b(doesn['’]t|didn['’]t|does not|did not|not|isn['’]t) (really )?help(ful)?\b|\buseless\b",
    ),
    relative={
        r"\b(today|tonight|this (morning|afternoon|evening))\b": ("day", 0),
        r"\bday before yesterday\b": ("day", -2),
        r"\b(yesterday|last night)\b": ("day", -1),
        r"\bday after tomorrow\b": ("day", 2),
        r"\b(last|past) weekend\b": ("weekend", -1),
        r"\bthis weekend\b": ("weekend", 0),
        r"\btomorrow\b": ("day", 1),
        r"\bthis week\b": ("week", 0),
        r"\b(last|past|previous) week\b(?! of\b)": ("week", -1),
        r"\bnext week\b": ("week", 1),
        r"\bthis month\b": ("month", 0),
        r"\b(last|past|previous) month\b(?! of\b)": ("month", -1),
        r"\bnext month\b": ("month", 1),
        r"\bthis year\b": ("year", 0),
        r"\b(last|past|previous) year\b(?! of\b)": ("year", -1),
        r"\bnext year\b": ("year", 1),
    },
    numbers={"few": 5, "couple of": 2, "a": 1, "an": 1}
    | numbered(*ordered("one two three four five six seven eight nine ten eleven twelve")),
    units=unit_words(day="day days", week="week weeks", month="month months", year="year years"),
    counted={
        # Not "half a year ago", "thirty five years ago", "forty-two days ago".
        r"(?<![\w-])(?<!half )(?<!ty )(?<!hundred ){n} {unit} ago\b": "ago",
        r"\b(?:last|past|previous) {n} {unit}\b": "lately",
    },
    last=frozenset(("last", "past", "previous")),
    since=("since", "on or after", "not before", r"starting(?: from)?", "beginning", "as from"),
    onwards={"from": r"on|onwards?|until|till|through|forward"},
    after=("after", "later than", "following"),
    before=("before", "prior to", "earlier than", "ahead of", "leading up to", "in the run-up to"),
    until=(
        "by",
        "as of",
        "as at",
        r"(?:up )?(?:until|till)",
        r"up to(?: and including)?",
        r"(?:up )?through",
        "on or before",
        r"(?:no|not) later than",
        "not after",
    ),
    around=("around", "about", "roughly", "approximately", "circa", "near", "close to"),
    other_side={
        "until": r"at the (?:very )?latest|(?:or|and) (?:before|earlier)",
        "since": r"(?:and |or )?(?:onwards?|later|after(?:wards)?)|at the earliest",
        "around": r"or (?:so|thereabouts)|give or take",
    },
    between=r"(?:about|around|roughly|approximately|at least|at the latest|some ?time|on|in|noon on"
    r"|midnight on|(?:the )?(?:morning|noon|afternoon|evening|night|day|week|close|date) (?:of|on)"
    r"|\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm|o['’]?clock)? on)",
    parts={
        "first": r"(?:very )?(?:beginning|start) of|early(?: in)?",
        "middle": r"middle of|mid(?:dle)?",
        "last": r"(?:very )?end of|late(?: in)?",
    },
    shifted={
        r"(?:{n} |\bthe ){unit} (?:before|prior to)": -1,
        r"(?:{n} |\bthe ){unit} after": 1,
    },
    coming=r"\b(?:must|should|shall|will|need(?:s|ed)? to|ha(?:ve|s) to|due|deadline|going to|plan(?:s|ned)?"
    r"|upcoming|supposed)\b",
    ranges={"between": "and", "from": "to|until|till|through", "": "to|through|[-–—]"},
    verbs={
        "may": word_set("in of from during between by"),
        "march": word_set("in of from during between by"),
        "fall": word_set("in of from during this next every early late over"),
    },
    persons=(
        r"\b(?:who['’]?s|is|was|does|did|do|has|had|with|named|called)\s+{month}\b(?!\s+(?:of|\d))"
        r"|\b{month}['’]s\b|^\W*may\s+(?:i|we|you|he|she|they|my|the)\b"
    ),
    day_first=False,
    temporal_words=word_set(
        """yesterday today tomorrow tonight ago last next recently soon morning afternoon evening
        night day days week weeks weekend weekends month months year years monday tuesday wednesday
        thursday friday saturday sunday spring summer autumn fall winter january february march
        april may june july august september october november december birthday anniversary
        since"""
    ),
    kinds=ENGLISH_KINDS,
)
