"""English."""

from __future__ import annotations

from langmemory.formation.rules.english_words import (
    JOBS,
    KIN,
    LANGUAGES_SPOKEN,
    NUMBERS,
    PETS,
    PLACEHOLDERS,
    PLACES,
    POSTS,
)
from langmemory.formation.rules.grammar import Grammar, rule
from langmemory.languages import ENGLISH as LEXICON
from langmemory.languages.language import word_set

NOW = (
    r"(?:(?:now|currently|still|actually|also|just|recently|both|really|always|"
    r"finally|originally|officially|absolutely|completely|totally|even|all|already|"
    r"simply|mostly|usually|severely|badly|very|quite|happily|newly|definitely|"
    r"then|lately|normally|personally|obviously|honestly) )*"
)
BE = rf"(?:am|'m|is|'s|are|'re) {NOW}"
HAVE = r"(?:have|has|'ve|'s)"
END = (
    r"(?=(?:\s|{time})*(?:$|[.,;:!)(–—]|-(?!\w)|\b(?:and|but|with|because|so|for|lately|especially|"
    r"particularly|"
    r"since|as|now|too|again|at|in|on|who|which|by|these|though|anyway|anymore|"
    r"already|near|where|when|or|this|last|next|today|after|before|while|until|till|from|every|each|"
    r"during|despite|lol|btw|tho|either|mostly|mainly|honestly|obviously|thanks|please|instead|then|"
    r"full-time|part-time|myself|although|just|outside|since|ever|that)\b))"
)

ENGLISH = Grammar(
    code="en",
    respelled=(
        (r"(?<![\w.'’(])(?:[Ii]['’]?m|i am)(?= )", "I'm"),
        (r"(?<![\w.'’(])i(?=['’ ])", "I"),
        (r"(?<!\w)([Dd]o|[Dd]oes|[Cc]a)nt(?!\w)", r"\1n't"),
        (r"(?<!\w)b-?day(?!\w)", "birthday"),
    ),
    frames=(
        r"\b(?:let'?s (?:pretend|say|imagine|suppose|play)|pretend|role[- ]?play\w*|quiz time|"
        r"hypothetically|in character|"
        r"(?:my|main) (?:\w+ )?characters?|act as|as if you|"
        r"(?:in|of|for|from) (?:my|the|a|this|our|his|her) (?:\w+ )?(?:novel|screenplay|poem|sketch|quiz|"
        r"sequel|prequel|"
        r"remake|fanfic\w*|(?:next|past|previous|other|another|parallel) (?:life|universe))|"
        r"i(?:'m| am) (?:basically|practically|virtually) (?=[a-z]+\b(?:\W|$))|"
        r"(?:in|of|for|from) (?:my|a|our) (?:\w+ )?(?:story|dream|play|script))\b|"
        r"(?:^|[.!,;:–—-]\s*)(?:imagine(?! (?:my|how|the))|suppose|dear [a-z]+)\b"
    ),
    plays=(
        r"\b(?:(?:let'?s|let us|we could|shall we|can we|start|begin|continue) (?:(?:do|start|try|have) )?"
        r"(?:with )?(?:an? |the |our |this |some )?(?:\w+ )?role[- ]?play|let'?s (?:play )?pretend|"
        r"let'?s play (?:d&d|dnd|dungeons|make-believe|werewolf|mafia|doctor|house)|"
        r"let'?s play(?=\s*[.!:]|$)|my character|i cast \w+|roll for initiative)\b"
    ),
    plays_no_more=(
        r"\b(?:for real(?: now)?|out of character|ooc|(?:end of|stop|enough of|pause|break from) (?:the |"
        r"this )?"
        r"(?:game|role[- ]?play|scene)|game over|back to (?:reality|real life|normal)|"
        r"(?:ok|okay)[, ]+(?:pause|break|seriously)|new topic|different question)\b"
    ),
    void=(
        r"\b(?:if|unless|whether|joking|kidding|lol|haha|in (?:my|her|his|their) (?:dreams|nightmares|head|"
        r"mind|imagination)|yeah right|oh sure|"
        r"sure, because|novel|movie|film|(?<!long )story|character|game|called off|"
        r"cancel(?:l?ed|ling|ing)|fell through|backed out|,\s*no(?=,)|"
        r"[\w,]\s+(?:no,?\s+wait|or\s+rather|make\s+that|scratch\s+that)|changed my mind|"
        r"turned (?:it|them|him|her) down|(?<!got )(?<!gotten )(?<!'m )(?<!\bam )(?<!\bis )(?<!'s "
        r")(?<!now )divorced|(?:quit|left|stopped) after|"
        r"then (?:i'm|i am|we're|he's|she's) an?\b|but not (?:any ?more|now|yet|really|for long|today)|"
        r"but only (?:on paper|until|till|for)|or "
        r"(?:did|was|so)|allegedly|supposedly|rumou?r|oh great|just great|once upon)\b|/s\b|🙄|😏"
    ),
    withdraws=(
        r"^\W*(?:(?:i'm )?(?:just |only )?(?:kidding|joking)|jk|as if|yeah right|not really|in my dreams|"
        r"i wish|who am i|(?:it|that|this|but it|but that)(?:'s| is| was| has been|'s been)? "
        r"(?:\w+ )?(?:cancel\w+|called off|a joke|a lie|not true))\b|\bfell through\b|🙄|😏|"
        r"^\W*(?:well|technically|or rather),? (?!(?:anyway|thanks|thank|bye|ok|okay|yes|no|you|see|good|"
        r"happy|"
        r"that|it|now|back|what|so)\b)(?:technically |actually |near |more like |sort |kind )?[\w-]+\W*$"
    ),
    unclear=(
        r"\b(?:would|wouldn't|could|couldn't|should|might|may be|maybe|perhaps|probably|possibly|"
        r"as though|as if|imagine|suppose|supposed|pretended|wish(?! (?:me|us) luck)|wishes|hope|hopes|"
        r"hoping|dream|dreamt|"
        r"dreamed|dreaming|almost|nearly|not sure|i think|i guess|i reckon|i doubt|said|says|say|saying|"
        r"told|tells|asked|asks|claims|claimed|thinks|thought|wrote|writes|heard|reads|believes|"
        r"believed|quote|whatever|whenever|(?:i|we|he|she|they|you)'d|apparently|"
        r"(?:was|were) (?:going|about|planning|meant) to|thinking (?:of|about)|considering|tempted|"
        r"wanted to|wants? to|wanna|applied|one day|some ?day|in theory|it seems|seems to|"
        r"reckons|joked|jokes|according to|such as (?=I\b|we\b))\b"
    ),
    but=r"\bbut\b",
    anew=r"\b(?:and|but|so|because|while|although|though)\b",
    asks=(
        r"(?:\s*[,;:–—]\s*|\s+-+\s+|\s+(?=(?:and|but|so)\b))(?:(?:and|but|so|or|then|also|now)\s+)*"
        r"(?:(?:what|how|where|when|who|which|why|any)\b|"
        r"(?:can|could|do|does|did|is|are|was|were|should|shall|would|will|have|has|am|may|isn't|don't)\s+"
        r"(?:I|you|we|they|he|she|it|there|this|that|the|my|your|any\w*|some\w*)\b(?!\W*$))"
    ),
    openers=(
        r"(?:and|but|so|well|oh|ah|hi|hey|hello|hola|yes|yeah|yep|ok|okay|anyway|also|"
        r"actually|by the way|btw|"
        r"fun fact|fyi|then|now|still|honestly|besides|plus|because|since|sure|thanks|"
        r"thank you|great|"
        r"good morning|good evening|right|just so you know|for the record|update|news|good news|"
        r"bad news|big news|as of now|these days|nowadays|personally|important|please note|note|"
        r"guess what|finally|there|sometimes|mostly|in fact|remember|family(?=:)|work(?=:)|"
        r"that|today|sadly|unfortunately|luckily|alas|phew|ugh|argh|wow|yay|hiya|morning|cheers|lol|"
        r"tbh|to be honest|to be fair|ngl|not gonna lie|long story short|in other news|other news|"
        r"turns out|it turns out|quick update|quick one|last thing|one more thing|another thing|"
        r"meanwhile|anyways|alright|all right|hey again|hi again|hello again|basically so|as you know|"
        r"as for me|for context|context|side note|in short|in any case|either way|in the end|eventually|"
        r"recently|lately|apart from that|other than that|on top of that|thankfully|happily|"
        r"after that|before that|since then|until then|the thing is|as a matter of fact|although|while|"
        r"proud (?:mum|mom|dad) here|"
        r"(?:since|after|before|during|until) (?:the|my|our|this|that) [a-z'-]+(?: [a-z'-]+)?(?=,|\s+(?:i|"
        r"we|my)\b)|"
        r"(?:since|after|before|during|with|because of|thanks to|due to|despite|at|in|for|between|through) "
        r"[^,.;:!]{2,40}(?=,\s+(?:i|i'm|i've|we|we've|we're|my|our)\b))(?!\w)[\s,:.!–—-]*"
    ),
    takes_back=(
        r"(?:no|nope|sorry|wait|correction|i meant|i mean|scratch that|oops|my mistake)"
        r"\b[\s,:.!–—-]*"
    ),
    no=r"(?:no|nope)\b",
    announces=(
        r"\b(?:things?|news|facts?|about me|myself|background|context|reminder|intro|introduction|"
        r"future|from now on|remember|note|request|preferences?|heads-?up|favou?r|going forward|"
        r"question|answer|know|short|summary|status|p\.?s|allerg(?:y|ies)|hobb(?:y|ies)|household|family)\b"
    ),
    denied=r"\s+(?:no more|no longer)\b",
    breaks=(
        r"(?:\s*[,;:(–—]\s*|\s+-+\s+|\s+)(?:and\s+|but\s+|so\s+|because\s+|then\s+)?"
        r"(?={begins}\b(?!\s+(?:and|or)\b))(?<=[,;:(–—-]\s)"
        r"|(?:\s*[,;]\s*|\s+)(?:and|but|so|because|then|while|although|though|whereas)\s+"
        r"(?:(?:now|then|today|anyway|after that|before that|since then)\s+)?(?={begins}\b)"
        r"|(?:\s*,)?\s+(?:and|but|so)\s+(?=(?:(?:now|also|just|recently|finally|then|still) )?{verbs}\b)"
        r"|\s*[,;]\s*(?:and|but|so)\s+(?=(?:the|it|it's|there|there's|this|that|that's|what|everything|"
        r"everyone|nobody|people)\b)"
        r"|\s*[,;]\s*so\s+(?=\w)"
        r"|\s*[,;]\s*(?=(?:found|bought|got|sold|moved|started|joined|quit|adopted|lost)\b)"
        r"|(?:\s*[,;]\s*|\s+)(?:and|but|so|because|while)\s+"
        r"(?=(?!I\b){Word}(?: (?:is|lives|works|has|studies|plays|moved|got|started|loves|likes|hates|"
        r"speaks)\b|'s (?:an?|in|at|allergic|vegan|vegetarian|moved|got|started)\b))"
    ),
    half=(
        r"(?:{my} {adjectives}(?:{kin})(?: {Name})?|(?!I\b){Word}|[Mm]e)\s+and\s+|"
        r"(?:{my} {adjectives}(?:{kin}|{pet})(?: {Name})?|(?!I\b){Word})(?:, (?:{Word}|{my} "
        r"{adjectives}(?:{kin}|{pet})))+"
        r"\s*,?\s+and\s+"
    ),
    carried=r"(?:(?:now|also|just|recently|finally|then|still) )?{verbs}\b",
    dropped=(
        r"{now}(?:moved|relocated|started|joined|switched|migrated|quit|got|bought|sold|turned|left|adopted|"
        r"rescued|graduated|retired|resigned|gave up|took up|married|became|lost my job|found|went|"
        r"been|collected|traded|handed in)\b"
    ),
    i=r"I\b",
    we=(
        r"(?:[Ww]e\b|(?:{my} {adjectives}(?:{kin}|{pet})|(?!I\b){Word})"
        r"(?:, (?:{my} {adjectives}(?:{kin}|{pet})(?: {Name})?|{Word}))+,? and I\b|{my} "
        r"{adjectives}(?:{kin})(?: {Name})? and I\b|(?!I\b){Word} and I\b|"
        r"[Mm]e and (?:{my} {adjectives}(?:{kin})(?: {Name})?|{Word})(?!\w))"
    ),
    before_thing=(
        r"\b(?:in|at|to|from|near|of|the|an?|on|for|since|until|via|my|our|his|her|their|your|its|this|"
        r"that|some|any|no|own|used|new|old|use|using|is|are|am|was|were|been|speaks?)\s+$"
    ),
    before_person=(
        r"\b(?:ask|asked|tell|told|with|met|meet|meeting|named|miss|invite|invited|dating|marry|"
        r"marrying|text|texted|phoned|rang|hug|hugged)\s+$"
    ),
    not_of_others=(
        r"{now}(?:like|love|hate|dislike|enjoy|prefer|live|work|have|own|use|play|speak|study|teach|eat|"
        r"drink|drive|am)\b"
    ),
    he=r"[Hh]e\b",
    she=r"[Ss]he\b",
    my=r"(?:[Mm]y|[Oo]ur)",
    places=PLACES,
    kin=KIN,
    kin_adjectives=(
        r"(?:(?:best|close|old|older|elder|oldest|eldest|younger|youngest|little|big|twin|new|good|"
        r"dear|lovely|great|poor|line|own|baby|middle|only|amazing|wonderful|piano|guitar|violin|cello|"
        r"singing|"
        r"driving|swimming|yoga|maths|music|dance|running) )*"
    ),
    pets=PETS,
    numbers=NUMBERS,
    user="the user",
    we_text="{s} and others",
    tidied=((r"\ba (?=(?!eu|uni|us[aeiu]|one\b)[aeiou])", "an "),),
    genitive=("{s}'s", "{s}'s", "the user's"),
    whose="{g} {kin}",
    kin_text="{o} is {whose}.",
    pet_text="{s} has a {kin} called {o}.",
    relative=(
        r"(?:{my} {adjectives}|(?={parent}\b))(?P<kin>{kin})(?:{apposed}{title}(?P<name>{Name}),?)?"
        r"(?=\s|$|,|'s\s|{time})"
    ),
    aside=r"^,?(?: )?(?:who|that|he|she)\b(?: )?",
    resumed=(
        r"^(?: (?!I\b){Word})?(?:, {my} {adjectives}(?:{kin})\b)?(?: )?,?(?: )?"
        r"(?:(?:he|she|who)\b)?(?: )?"
    ),
    time_lead=r"^(?:on|in|at)\s+(?:the\s+)?",
    leaning=r"\b(?:I|we|you|it|this|that|these|those|he|she|him|her|they|there|here|one)\b",
    kin_name=(
        r"\b{my} {adjectives}(?P<kin>{kin}){apposed}{title}(?P<name>{Name})(?!'s\b)(?=\W|$)|"
        r"(?P<name3>(?!I\b){Word}) ?, (?:she|he)(?:'s| is) {my} {adjectives}(?P<kin3>{kin})\b(?!')|"
        r"\b(?:with|and|to|from|for|saw|called|met|meet|meeting|visit|visiting) (?P<name2>{Name}), "
        r"{my} {adjectives}(?P<kin2>{kin})(?=\s*(?:$|[.,;!)]|who\b))"
    ),
    mention=(
        r"\b(?:{my} {adjectives}|(?={parent}\b))(?P<kin>{kin})\b(?:{apposed}{title}(?P<name>{Name}))?"
    ),
    pet_mention=(
        r"(?:(?<![Nn]ot\s)(?<!n't\s)\b{my} {adjectives}(?:[a-z-]+ )?|(?:^\W*|\b(?:I|"
        r"[Ww]e)\b[^,;.]{0,40}?)\b(?:got|get|getting|have|"
        r"'ve|adopted|adopting|bought|rescued|found|collected|took in)\b(?: [a-z]+){0,2}? "
        r"(?:an?|the|this|one) (?:[\w-]+ ){0,3}?)(?P<pet>{pet})\b"
        r"(?!'|-|\s+(?:food|bed|sitter|walker|park|toy|hair|shelter|litter|flap|tree|person|people|owner))"
    ),
    others=(
        r"(?<!\bis\s)(?<!\bare\s)(?<!'s\s)(?<!\bas\s)(?<!\bam\s)(?<!'m\s)(?<!\bbeen\s)(?<!\bbecame\s)"
        r"\b(?:an?|the|her|his|their|this|that|another|some|one|your|every|no) (?:[a-z-]+ ){0,2}?"
        r"(?:{kin}|{jobs}|{posts}|{pet}|{folk})\b|'s (?:[a-z]+ )?(?:{kin}|{folk}|{pet})\b|\b(?:{folk})\b"
    ),
    its_name=(
        r"(?:[Hh]e|[Ss]he|[Ii]t)(?:'s| is) (?:(?:an?|the) [a-z][a-z -]{2,40}? )?(?:called|named) "
        r"(?P<name>{Name})|(?:[Hh]is|[Hh]er|[Ii]ts) name(?:'s| is) (?P<name2>{Name})"
    ),
    pet_name=(
        r"\b{my} {adjectives}(?P<kin>{pet}){apposed}(?P<name>{Name})|(?P<name2>{Name})(?: )?, "
        r"{my} {adjectives}(?P<kin2>{pet})(?=\s*(?:$|[.,;!)]|who\b|that\b))"
    ),
    died=(
        r"\b(?:die[ds]|dead|dying|passed away|goodbye|farewell|put (?:\w+ ){1,5}?(?:down|to sleep)|ran "
        r"away)\b"
    ),
    not_names=(
        LEXICON.stop_words
        | LEXICON.temporal_words
        | frozenset(LEXICON.months)
        | word_set(
            """i'm i've i'll god lord jesus monday's everyone everybody nobody someone english german
            french spanish doctor dr mr mrs ms miss company"""
        )
    )
    - word_set("jan an"),
    not_places=word_set(
        """slack jira notion linux windows python rust docker kubernetes teams zoom react django gmail
        azure aws android postgres mysql mongo redis java kotlin swift typescript javascript trello
        confluence discord telegram whatsapp signal firefox chrome vim emacs ubuntu debian
        ikea amazon lidl aldi tesco starbucks costco walmart target mcdonald's church mass
        accounting marketing sales hr it legal finance support engineering procurement logistics
        excel word outlook powerpoint photoshop figma apartment flat room block building unit zone
        platform track gate floor heaven hell bed school work court production staging chapter
        version level page part phase stage step"""
    ),
    no_allergens=(
        r"(?:.* )?(?:\w+(?:ments?|ness|ity|isms?|ships?|hood|ions?(?<!lotions)(?<!lotion)(?<!medications)"
        r"(?<!medication))|questions?|jokes?|puns?|tubas?|lists?|deadlines?|rules?|excel|exercise|sports?|"
        r"feelings?|couples|doctors?|dentists?|teachers?|lawyers?|tourists?|adults?|"
        r"babies|bosses|neighbou?rs|strangers?|effort|chaos|fun|happiness|love|money|mess|noise|silence|"
        r"weekdays|small talk|spreadsheets?|"
        r"emails?|alarms?|paperwork|taxes|politics|maths?|cooking|cleaning|running|dating|working|waiting|"
        r"losing|"
        r"being \w+|idiots?|fools?|children|kids|men|women|boys|girls|exes)"
    ),
    not_things=(
        r"(?:from|of|for|with|about|by|like|it|that|this|these|those|them|him|her|you|us|me|my|your|his|"
        r"their|our|how|"
        r"when|what|where|"
        r"who|why|the|a|an|to|being|having|getting|seeing|hearing|both|all|everything|anything|"
        r"nothing|early|mornings|people|meetings|commitment|drama|stupidity|went|had|was|were|am|is|are|"
        r"have|has|do|did|can|will|eat|ate|go|got|get|"
        r"need|want|think|know|"
        r"feel|felt|\w{2,}ed\b(?!\s+\w)|everyone|people|so|such|more|most|some|any|one|each|"
        r"here|there|one's|i|we|not|"
        r"love|bullshit|nonsense|mornings|work(?!ing)|"
        r"too|better|best|as|way|thing|things|stuff|idea|talking|working with|reading this)\b"
    ),
    doing=r"(?:[a-z]+ly )?[a-z]{2,}ing\b",
    done=(
        r"(?: (?!(?:and|but|because|'?cause|'?cuz|so|since|as|which|when|while|too|though|although|or|"
        r"it's|that's|"
        r"lately|recently|these days|especially|particularly|if|whenever|anyway|again)\b)[\w'&-]+)*"
    ),
    narrows=r"\s+(?:that|who|whose|whom|where|if|when you|about how)\b",
    verb_or_noun=r"loves?|likes?|hates?|works?|plays?|uses?|stud(?:y|ies)|left|found",
    listed=r"\b(?:so much|lots of|full of|a lot of|all the|such|of)\b[^.]*$",
    theirs={"my": "their", "our": "their", "myself": "themselves", "ourselves": "themselves",
            "me": "them", "us": "them", "mine": "theirs"},
    and_=r"\s*,?\s*\b(?:and|or)\b\s*|\s*,\s*",
    placeholders={
        **PLACEHOLDERS,
        "gets": (
            r"(?:{now}{have} (?:{now}(?:got|adopted|bought|rescued) )?|{now}(?:got|adopted|bought|rescued) )"
        ),
        "couple": (
            r"(?=[Mm]e and |.{1,50} and I\b)(?:{my} {adjectives}(?:{kin}) |[Mm]e and "
            r")?(?P<object>{Name})(?:,? and I)?"
        ),
        "begins": (
            r"(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur|we're|we've|[Hh]e|[Ss]he|[Tt]hey|[Hh]er name|"
            r"[Hh]is name|it's called|its name|{parent})"
        ),
        "verbs": (
            r"(?:live|lives|work|works|study|studies|speak|speaks|love|loves|like|likes|hate|hates|"
            r"moved|own|owns|have|has|play|plays|use|uses|am|is|came|started|joined|quit|left|got|bought|"
            r"sold|adopted|turned|retired|graduated|married|switched|became|can't|cannot|don't|"
            r"doesn't|found|lost|took up|gave up|prefer|prefers)"
        ),
        "title": r"(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?",
        "parent": r"(?:Mum|Mom|Dad|Grandma|Granny|Grandpa|Grandad)",
        "now": NOW, "be": BE, "have": HAVE, "end": END, "jobs": f"(?i:{JOBS})",
        "posts": f"(?i:{POSTS})",
        "hardly": (
            r"(?:good|bad|great|terrible|hopeless|real|natural|born|would-be|wannabe|failed|decent|"
            r"lousy|better|former|retired|aspiring|future|frustrated|horrible|amateur)"
        ),
        "am": r"(?:am|'m|is|'s)", "is": r"(?: is|'s)", "dont": r"(?:do not|don't|does not|doesn't)",
        "several": r"(?:two|three|four|five|six|[2-6])(?: [a-z]+)?",
        "names": r"{Word}(?:, {Word}){0,4},? and {Word}",
        "anymore": r"(?:any(?: )?more|any longer)",
        "live": r"{now}(?:live|lives|{am} {now}living|{have} {now}lived|{have} {now}been living) {now}",
        "work": (
            r"{now}(?:work|works|{am} {now}working|{have} {now}worked|{have} {now}been working) "
            r"{now}"
        ),
        "study": r"{now}(?:study|studies|{am} {now}studying)",
        "stop": r"(?=(?:\s|{time})*(?:$|[.!,;]|(?:but|because)\b))",
        "Name": r"{NameWord}(?: (?:{particle} )?{NameWord}){0,2}",
        "NameWord": r"(?!Jan\b\.?(?: )?'?\d){Word}",  # not "my sister Jan 3rd"
        "particle": r"(?:v[ao]n(?: de[nr]?)?|de(?: la)?|del|della|d[aiou]s?|bin|ibn|al|el|ter)",
        # Not "Microsoft's biggest competitor", "Platform 9", "Block C", "St. Mary".
        "whole": r"(?!['’]?\w)(?!\s+\d)(?!\s+[A-HJ-Z]\b)(?!\.\s*[^\W\d_])",
        # Not "to Munich in 2015 and to Hamburg in 2019".
        "once": (
            r"(?!.*\b(?:(?:and|then|later)(?:{gap}\w+)?{gap}to|back{gap}to)\b)"
            r"(?!.*\bfor{gap}(?:an?|the|two|three|\d+){gap}(?:few{gap})?(?:days?|weeks?|weekends?|nights?|"
            r"months?|summer)\b)"
            r"(?!.*\bin{gap}spirit\b)"
        ),
        # "My sister Ann", "my sister, Ann"; not "my sister, Ann and I", who are three.
        "apposed": r"(?: |, (?!{title}{Word}(?: {Word})?,? (?:and|or|&) )(?!{title}{Word}, {Word},? "
        r"(?:and|or) ))",
        "gap": r"(?:\s|{time})+",
        "Place": (
            r"(?:the )?{Word}(?:(?: (?:de|del|la|of|upon|am|an der))? {Word}){0,2}{whole}"
        ),
        "Org": r"(?:(?:a|an|the) [\w -]{2,40}?(?:called|named) )?(?P<object>{Company})",
        "Company": (
            r"(?:the )?{Word}(?: (?:of |de |der |für |for )?(?:the )?{Word}){0,4}{whole}"
        ),
        "whosename": (
            r"(?:(?:[Mm]y|[Oo]ur) {adjectives}(?P<kinship>{kin})'s|[Mm]y|(?P<name>{Word})'s)"
        ),
        "thing": r"[a-zà-ÿA-Z][\w'-]*(?: [a-zà-ÿA-Z][\w'-]*){0,2}?",
        "things": (
            r"[a-zà-ÿA-Z][\w'-]*(?: [a-zà-ÿA-Z][\w'-]*){0,2}?(?:(?:, | and |, and )"
            r"[a-zà-ÿ][\w'-]*(?: [a-zà-ÿ][\w'-]*)?){0,3}"
        ),
        "phrase": r"[a-z][^.!?;:()]{2,100}?",
        "languages": LANGUAGES_SPOKEN,
    },
    rules=(
        # Names and birthdays; {whose} is "my" or "my sister's".
        rule(
            r"{whosename} name{is} (?:actually )?<Name>",
            "{s}'s name is {o}.", "named", entity=False, whole=True, importance=0.8,
        ),
        rule(
            r"[Yy]ou can (?:just )?call me <Name>{end}",
            "{s} goes by {o}.", "nickname", entity=False, whole=True, importance=0.7,
        ),
        rule(
            r"(?i:everyone|everybody|people|my friends|friends|they all|most people) calls? me "
            r"<Name>{end}",
            "{s} goes by {o}.", "nickname", entity=False, whole=True, importance=0.7,
        ),
        rule(
            r"(?:{have} )?(?:just |legally |officially )*changed my name to <Name>{end}",
            "{s}'s name is {o}.", "named", entity=False, importance=0.8,
        ),
        rule(r"go by <Name>{end}", "{s} goes by {o}.", "nickname", entity=False, importance=0.7),
        rule(
            r"{whosename} birthday{is} <time>",
            "{s}'s birthday is {time}.", "born_on", entity=False, whole=True, importance=0.8,
        ),
        rule(
            r"[Ii]t's {whosename} birthday <time>",
            "{s}'s birthday is {time}.", "born_on", entity=False, whole=True, importance=0.8,
        ),
        rule(
            r"(?:was|were) born <time>",
            "{s} was born {time}.", "born_on", entity=False, importance=0.8,
        ),
        rule(
            r"(?:was|were) born (?:and raised )?in <Place>",
            "{s} was born in {o}.", "born_in", importance=0.6,
        ),
        rule(
            r"(?:{am} {now}|(?:{have} )?(?:just |finally )?turned )(?P<object>{number}|[1-9]\d?)"
            r"(?: years old| now| today)*(?=(?:\s|{time})*(?:$|[.,;!)–—-]|(?:and|but|so|already)\b))",
            "{s} is {o} years old.", "age", entity=False,
        ),
        rule(
            r"{be}[^,]{2,40}, (?:aged )?(?P<object>[1-9]\d)(?: years old)(?=\s*(?:$|[,.;!]|and\b))",
            "{s} is {o} years old.", "age", entity=False, also=True,
        ),
        rule(
            r"{be}an? (?P<object>[1-9]\d)[ -]years?[ -]old\b",
            "{s} is {o} years old.", "age", entity=False, also=True,
        ),
        rule(
            r"{be}an? (?:[1-9]\d[ -]years?[ -]old )(?P<object>(?:(?!{hardly} )[A-Za-z][A-Za-z-]* "
            r"){0,2}?(?:{jobs}))"
            r"(?=\s*(?:$|[.,;!]|(?:and|from|in|at|with|who)\b))",
            "{s} works as a {o}.", "works_as", entity=False, also=True, importance=0.6,
        ),
        rule(
            r"{be}an? (?:[1-9]\d[ -]years?[ -]old )?(?:(?!{hardly} )[a-z][a-z-]* ){0,2}?"
            r"(?:{jobs}) from <Place>{end}",
            "{s} comes from {o}.", "comes_from", also=True, importance=0.6,
        ),
        rule(
            r"{be}[^,]{2,30}, born (?:and raised )?in <Place>",
            "{s} was born in {o}.", "born_in", also=True, importance=0.6,
        ),
        rule(
            r"{be}{Word}(?: {Word})?, (?:aged )?(?P<object>[1-9]\d)(?=\s*(?:$|[,.;!]|and\b))",
            "{s} is {o} years old.", "age", entity=False, also=True,
        ),
        rule(
            r"{be}{Word}(?: {Word})?(?:, (?:aged )?[1-9]\d)?, (?:and )?(?:an? )?(?P<object>(?:[a-z]+ "
            r")?(?:{jobs}))"
            r"(?=\s*(?:$|[,.;!]|(?:and|from|in|at)\b))",
            "{s} works as a {o}.", "works_as", entity=False, also=True, importance=0.6,
        ),
        rule(
            r"{be}(?P<object>{Word} {Word}){end}",
            "{s}'s name is {o}.", "named", entity=False, if_me=True, importance=0.8,
        ),
        rule(
            r"(?:am|'m) (?!{nations}\b)(?!{faiths}\b)(?!{states}\b)(?P<object>(?![A-Z]+\b){Word})"
            r"(?=\s*(?:$|[.,!;]|and (?:I|my)\b|from\b|by the way\b))",
            "{s}'s name is {o}.", "named", entity=False, if_me=True, importance=0.8,
        ),
        rule(
            r"(?P<object>(?![A-Z]+\b){Word}) here(?=\s*(?:$|[.,!;]))",
            "{s}'s name is {o}.", "named", entity=False, if_me=True, whole=True, importance=0.8,
        ),
        rule(
            r"{be}(?P<object>{nations})(?=\s*(?:$|[.,!;]|(?:and|but|by birth|so)\b))",
            "{s} is {o}.", "nationality", entity=False, importance=0.6,
        ),
        rule(
            r"{be}(?:an? )?(?:practising |practicing |devout )?(?P<object>{faiths})(?=\s*(?:$|[.,!;]|"
            r"(?:and|but|so)\b))",
            "{s} is {o}.", "religion", entity=False, importance=0.6,
        ),
        rule(
            r"{be}(?:happily |recently |newly )?(?P<object>divorced|single|widowed|separated|married|a "
            r"widow|a widower)"
            r"(?=(?:\s|{time})*(?:$|[.,!;]|(?:and|but|so|again|now|with)\b))",
            "{s} is {o}.", "marital_status", entity=False, times="any", prefer="past", importance=0.7,
        ),
        rule(
            r"{be}pregnant(?=(?:\s|{time})*(?:$|[.,!;]|(?:and|but|with|again)\b))",
            "{s} is expecting a baby.", "plans_to", kind="plan", entity=False, importance=0.8,
            claimed="have a baby",
        ),
        # Places.
        rule(
            r"{dont} live in <Place> {anymore}",
            "{s} no longer lives in {o}.", "lives_in", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"no longer lives? in <Place>",
            "{s} no longer lives in {o}.", "lives_in", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"used to live in <Place>",
            "{s} used to live in {o}.", "lives_in", ends=True, importance=0.6,
        ),
        rule(r"lived in <Place>", "{s} lived in {o}.", "lives_in", times="over", importance=0.6),
        rule(
            r"{live}(?:(?:alone|together|here) )?(?:in an? [a-z][a-z -]{2,30} )?(?:in|near) <Place>",
            "{s} lives in {o}.", "lives_in", importance=0.8,
        ),
        rule(
            r"(?:{have} )?{now}moved (?:out of|away from) <Place>",
            "{s} no longer lives in {o}.", "lives_in", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"{have} {now}been in <Place>(?=,? for (?:{number}|[1-9]\d?|many|several) years)",
            "{s} lives in {o}.", "lives_in", importance=0.8,
        ),
        rule(
            r"{have} {now}been in <Place>(?=(?:\s|,)*{time})",
            "{s} lives in {o}.", "lives_in", times="long", importance=0.8,
        ),
        rule(
            r"(?:{live}|(?:{have} )?{now}moved in )with (?!{condition})(?![A-Z]{2})(?:{my} "
            r"{adjectives}(?:{kin}),? )?<Name>{end}",
            "{s} lives with {o}.", "lives_with", also=True,
        ),
        rule(r"{be}based in <Place>", "{s} lives in {o}.", "lives_in", importance=0.8),
        rule(
            r"(?:{have} )?{now}(?:moved|relocated) (?:(?:back|over|away|house|in|out) )?(?:from {Place} )?"
            r"(?:to|into an? [a-z][a-z -]{2,30}? in) (?:(?:my|our|his|her) (?:hometown|home town|home "
            r"city),? )?"
            r"<Place>{once}",
            "{s} lives in {o}.", "lives_in", times="any", prefer="past", importance=0.8,
        ),
        rule(
            r"{be}(?:moving|relocating) (?:back |over )?(?:from {Place} )?to <Place>",
            "{s} plans to move to {o}.", "plans_to", kind="plan", entity=False, times="any",
            importance=0.8, claimed="move to {o}",
        ),
        rule(
            r"(?:{be}from|comes? from|grew up in|{be}originally from) <Place>{end}",
            "{s} comes from {o}.", "comes_from", importance=0.6,
        ),
        # Work and study.
        rule(
            r"{dont} work (?:at|for) <Name> {anymore}",
            "{s} no longer works at {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"no longer works? (?:at|for|with) {Org}",
            "{s} no longer works at {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:{have} )?{now}(?:quit|left) (?:my|his|her|the|their) job (?:at|with) {Org}",
            "{s} no longer works at {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:{have} )?{now}(?:resigned from|retired from|lost (?:my|his|her|the) job (?:at|with)|"
            r""
            r"left (?:my|his|her) (?:[a-z]+ )?(?:job|role|position|post) (?:at|with)) {Org}",
            "{s} no longer works at {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(  # whoever quits an app has no job there
            r"(?:{have} )?{now}quit (?!{apps}\b){Org}(?=\s*(?:{time}|$|[.,;!]|and\b|but\b|so\b))",
            "{s} no longer works at {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(  # whoever just leaves may be leaving a town, or a shop
            r"(?:{have} )?{now}left (?:my job at )?(?!(?:the )?(?:{apps})\b){Org}(?=(?:\s|"
            r"{time})*,?\s*(?:and|to) (?:(?:then "
            r")?(?:join|joined|start|started) (?:at )?(?:{Word}|an?|my own|as)\b|go freelance|"
            r"went freelance|freelance|"
            r"set up my own|found my own|work (?:at|for)\b|become an?\b|became an?\b))",
            "{s} no longer works at {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:was|were|got|{have} been|has been) (?:made redundant|fired|laid off|let go) (?:from|by|"
            r"at) {Org}",
            "{s} no longer works at {o}.", "works_at", ends=True, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"used to work (?:at|for|with) {Org}",
            "{s} used to work at {o}.", "works_at", ends=True, importance=0.6,
        ),
        rule(
            r"worked (?:at|for) {Org}",
            "{s} worked at {o}.", "works_at", times="over", importance=0.6,
        ),
        rule(
            r"{work}(?:part-time |full-time )?as an? (?P<other>[A-Za-z][\w -]{2,40}?) (?:at|for|with)"
            r" {Org}",
            "{s} works at {o} as a {other}.", "works_at", importance=0.7,
        ),
        rule(
            r"{work}(?:part-time |full-time |(?:{number}|\d\d?) (?:days|hours|shifts|nights) (?:a|per) "
            r"week )?(?:at|for) {Org}",
            "{s} works at {o}.", "works_at", importance=0.7,
        ),
        rule(
            r"{work}(?:(?:part-time|full-time|nights|days|mornings|evenings|weekends|shifts),? )*(?:at|in|"
            r"for) "
            r"(?P<object>(?:an?|the|my local|the local) (?:[a-z-]+ ){0,2}?{workplaces})(?=(?:\s|"
            r"{time})*(?:$|[.,;!–—]|(?:and|but|so|in|as|now|near|full-time|part-time)\b))",
            "{s} works at {o}.", "workplace", entity=False, importance=0.6,
        ),
        rule(
            r"{now}(?:run|runs|manage|manages|{am} {now}running|{have} {now}(?:run|been running)) "
            r"(?P<object>(?:an?|the|my own|our own|his own|her own|my|our) (?:[a-z-]+ "
            r"){0,2}?(?:{workplaces}|company|business|"
            r"agency|shop|store|studio|practice|boutique|consultancy|guesthouse|guest house|bistro|food "
            r"truck|salon|"
            r"workshop|dairy|winery|daycare|dance school|bed and breakfast|B&B|hostel|online shop|web "
            r"shop|blog|podcast))"
            r"(?=(?:\s|{time})*(?:$|[.,;!–—]|(?:and|but|so|in|called|with|near|from|together|on|at|for|"
            r"now)\b))",
            "{s} runs {o}.", "workplace", entity=False, importance=0.7,
        ),
        rule(
            r"{be}(?P<object>self-employed|unemployed|freelance|freelancing|between jobs|out of work)"
            r"(?=(?:\s|{time})*(?:$|[.,;!]|(?:and|but|so|now|again|at|as)\b))",
            "{s} is {o}.", "works_as", entity=False, times="any", prefer="past", importance=0.6,
        ),
        rule(
            r"(?:{work}|{be}(?:now )?(?:down to|up to|on) )(?:only )?"
            r"(?P<object>(?:{number}|\d\d?) (?:days|hours|shifts|mornings|afternoons|evenings|nights) "
            r"(?:a|per|each) week)\b",
            "{s} works {o}.", "working_hours", entity=False, times="any", also=True,
        ),
        rule(
            r"{my} new (?:job|role|position) is (?:at|with) {Org}",
            "{s} works at {o}.", "works_at", whole=True, importance=0.7,
        ),
        rule(
            r"(?:{have} )?{now}(?:got|took|found|landed|started|accepted) (?:an?|my|the) (?:new )?(?:job|"
            r"role|position) "
            r"as (?:an? |the )?(?P<object>(?:[a-z-]+ ){0,2}?(?:{jobs}|{posts}|{charges})){end}",
            "{s} works as a {o}.", "works_as", entity=False, times="any", prefer="past", importance=0.6,
        ),
        rule(
            r"{now}(?:charge|charges) (?:clients |people |them )?(?P<object>{money} (?:an?|per|the) "
            r"(?:hour|day|word|lesson|session|"
            r"night|piece|page|month|week|seat|head))\b",
            "{s} charges {o}.", "charges", entity=False, times="any",
        ),
        rule(
            r"{now}(?:pay|pays) (?:about |around )?(?P<object>{money} (?:a|per) (?:month|week)) "
            r"(?:in rent|rent|for (?:the|my|our|this|a) (?:[a-z]+ )?(?:flat|room|house|place|apartment|"
            r"studio)){end}",
            "{s} pays {o} in rent.", "rent", entity=False, times="any",
        ),
        rule(
            r"{my} rent{is} (?:now )?(?:about |around )?(?P<object>{money}(?: (?:a|per) (?:month|"
            r"week))?){end}",
            "{s} pays {o} in rent.", "rent", entity=False, times="any", whole=True,
        ),
        rule(
            r"{now}(?:teach|teaches) (?P<other>(?:{lessons})(?: and (?:{lessons}))?) (?:at|in) "
            r"(?:an? |the )?(?:[a-z]+ )?(?:school|university|college|kindergarten)\b",
            "{s} teaches {other}.", "works_as", entity=False, importance=0.6, claimed="teacher",
        ),
        rule(
            r"[Aa]s an? (?P<object>(?:[a-z-]+ )?(?:{jobs})),? I(?:'m| (?:am|get|have|know|work|see|need|"
            r"can|always|often|usually|do|don't|"
            r"love|hate|spend|deal|teach))\b",
            "{s} works as a {o}.", "works_as", entity=False, whole=True, importance=0.6,
        ),
        rule(
            r"{be}an? (?:(?:[a-z][\w-]*) ){0,2}student at <Company>",
            "{s} studies at {o}.", "studies_at", importance=0.6,
        ),
        rule(
            r"{be}an? (?P<other>(?:(?!{hardly} )[A-Za-z][\w-]* ){0,2}(?:{jobs}|{posts})) (?:at|for) "
            r"{Org}",
            "{s} works at {o} as a {other}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:{have} )?{now}(?:started (?:working |a (?:new )?job |work )?(?:at|with)(?! (?:the "
            r")?(?:{Word} ){0,3}"
            r"(?:University|College|School|Academy|Uni|Primary)\b)) {Org}",
            "{s} works at {o}.", "works_at", times="any", prefer="past", importance=0.7,
        ),
        rule(
            r"(?:{have} )?{now}(?:(?:got|took|accepted|found|landed) (?:an?|the) (?:new |first )?"
            r"(?:job|role|position|post) (?:at|with)|(?:been|got) hired (?:by|at)) {Org}"
            r"(?=(?:\s|{time})*(?:$|[.,;!–—]|(?:and|but|so|as|in|which|now)\b))",
            "{s} works at {o}.", "works_at", times="any", prefer="past", importance=0.7,
        ),
        rule(  # whom one joins is as often somebody at a table
            r"(?:{have} )?{now}joined (?!(?:Zoom|Teams|Slack|Discord|Facebook|Instagram|LinkedIn|"
            r"WhatsApp|Telegram)\b){Org}(?=\s*(?:{time}|$|[.,;!]|as\b|and\b|but\b))",
            "{s} works at {o}.", "works_at", times="any", prefer="past", importance=0.7,
        ),
        rule(
            r"(?:start|starts|{be}starting) (?:work |a new job |my new job |working )?at {Org}",
            "{s} works at {o}.", "works_at", times="must", prefer="future", importance=0.7,
        ),
        rule(
            r"{be}(?:at|with) {Org}(?: now)?,?(?: now)?,? as (?:an? |the )?"
            r"(?P<other>(?:[a-z][\w-]* ){0,2}?(?:{jobs}|{posts})){end}",
            "{s} works at {o} as a {other}.", "works_at", importance=0.7,
        ),
        rule(
            r"{work}as an? (?P<object>[A-Za-z][\w -]{2,30}?){end}",
            "{s} works as a {o}.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:{be}|{have} {now}been )an? (?P<object>(?:(?!{hardly} )[A-Za-z][\w-]* ){0,2}?"
            # Not "a student at heart", "a doctor in training".
            r"(?:{jobs})){end}(?!\s+by\b|\s+(?:at|in)\s+(?!(?:an?|the|my|our)\b)[a-z])",
            "{s} works as a {o}.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:{have} )?{now}(?:got|been|was|were) {now}promoted to "
            r"(?:an? |the )?(?P<object>[a-z](?:(?!\bat\b)[\w -]){2,30}?){end}",
            "{s} works as a {o}.", "works_as", entity=False, times="any", prefer="past",
            importance=0.7,
        ),
        rule(
            r"(?:{be}|became |{have} become |(?:was|were|got|{have} been) made )(?:the |a )?(?:new )?"
            r"(?P<object>(?:(?!{hardly} )[a-z][a-z-]* ){0,2}?{charges}){end}",
            "{s} works as {o}.", "works_as", entity=False, times="any", prefer="past", importance=0.6,
        ),
        rule(
            r"(?:[Tt]hey|[Mm]y (?:boss|manager|company|firm)|{Word}(?: {Word})?)(?:'ve|'s| have| has)? "
            r"(?:just )?(?:made|promoted) me "
            # Not "made me lead on it", "made me cook".
            r"(?:to )?(?!(?:lead|cook|guard|judge|coach|tutor|pilot|doctor|nurse|partner|bank)\b(?! of\b))"
            r"(?:an? |the )?(?P<object>(?:[a-z][a-z-]* ){0,2}?(?:{jobs}|{posts}|{charges})){end}",
            "{s} works as {o}.", "works_as", entity=False, times="any", prefer="past", whole=True,
            importance=0.7,
        ),
        rule(
            r"(?:{be}(?:an? )?|{have} {now}|(?:just |finally )?)retired(?: (?:{jobs}))?"
            r"(?=(?:\s|{time})*(?:$|[.,;!]|(?:and|but|so|after)\b))",
            "{s} is retired.", "works_as", entity=False, times="any", prefer="past", importance=0.6,
            claimed="retired", also=True,
        ),
        rule(
            r"(?:{have} )?{now}(?:started|begun|began|{be}starting|starting|start|starts) (?:an? |my |his "
            r"|her )?"
            r"(?:[\w'-]+ ){0,2}?(?:degree|master's|masters|bachelor's|phd|PhD|doctorate|course|"
            r"apprenticeship|studies)"
            r"(?: in (?P<other>[a-z][a-z ]{2,30}?))? at <Company>",
            "{s} studies at {o}.", "studies_at", times="any", importance=0.6,
        ),
        rule(
            r"(?:{have} )?{now}graduated from (?!{apps}\b)<Company>",
            "{s} graduated from {o}.", "graduated_from", times="any", prefer="past", importance=0.6,
        ),
        rule(
            r"(?:{have} )?{now}dropped out of (?!{apps}\b)<Company>",
            "{s} no longer studies at {o}.", "studies_at", ends=True, times="any", prefer="past",
            importance=0.6,
        ),
        rule(
            r"{study} (?P<other>[a-z][\w ]{2,30}?) at <Company>",
            "{s} studies {other} at {o}.", "studies_at", importance=0.6,
        ),
        rule(r"{study} at <Company>", "{s} studies at {o}.", "studies_at", importance=0.6),
        rule(
            r"{now}(?:'m studying|am studying|is studying|studies) (?!for\b|hard\b|with\b|the\b|"
            r"all\b|too\b|at\b|a\b|my\b|this\b)<thing>{end}",
            "{s} studies {o}.", "studies", entity=False, importance=0.6,
        ),
        rule(
            r"(?:{be}|{have} {now}been )learning (?P<object>{languages}){end}",
            "{s} is learning {o}.", "studies", entity=False,
        ),
        rule(
            r"{now}speaks? (?:fluent |some |a little |a bit of )?(?P<object>(?:{languages})"
            r"(?:(?:, |,? and )(?:{languages}))*)",
            "{s} speaks {o}.", "speaks", entity=False,
        ),
        rule(
            r"[Mm]y last day at {Org} (?:is|was) {time}",
            "{s} no longer works at {o}.", "works_at", ends=True, times="must", whole=True,
            importance=0.7,
        ),
        # People.
        rule(
            r"(?:.{0,80}?\b)?{my} (?:kids|children|twins|sons|daughters|boys|girls),? "
            r"(?P<object>{names}){end}",
            "{s} has a child called {o}.", "parent_of", also=True, whole=True, importance=0.7,
        ),
        rule(
            r".{0,60}?\bwith (?:her|his|my|our) (?:twins|kids|children|sons?|daughters?),? "
            r"(?P<object>{Word}(?:,? and {Word})?)",
            "{s} has a child called {o}.", "parent_of", also=True, importance=0.7,
        ),
        rule(
            r"(?:am|'m|is|{have} been|got) {now}(?:happily )?married to <Name>",
            "{s} is married to {o}.", "married_to", times="any", importance=0.8,
        ),
        rule(
            r"{couple} (?:have )?{now}(?:got|gotten|are) {now}engaged{stop}",
            "{s} is engaged to {o}.", "engaged_to", times="any", whole=True, importance=0.8,
        ),
        rule(
            r"{couple} (?:have )?{now}(?:got|gotten|are) {now}married{stop}",
            "{s} is married to {o}.", "married_to", times="any", whole=True, importance=0.8,
        ),
        rule(
            r"{couple} (?:have |'ve )?{now}(?:broke up|broken up|split up|separated|are done){stop}",
            "{s} and {o} are no longer together.", "partner_of", ends=True, times="any", prefer="past",
            whole=True, importance=0.8,
        ),
        rule(
            r"(?:{have} )?{now}married <Name>{end}",
            "{s} is married to {o}.", "married_to", times="any", prefer="past", importance=0.8,
        ),
        rule(
            r"(?:got|{have} gotten|'m|am|is) {now}engaged to <Name>",
            "{s} is engaged to {o}.", "engaged_to", times="any", importance=0.8,
        ),
        rule(
            r"(?:{have} )?{now}(?:broke|broken|split|splitted) up with <Name>",
            "{s} and {o} are no longer together.", "partner_of", ends=True, times="any",
            prefer="past", importance=0.8,
        ),
        rule(
            r"(?:{have} )?{now}(?:got|gotten) divorced from <Name>",
            "{s} and {o} are no longer married.", "married_to", ends=True, times="any",
            prefer="past", importance=0.8,
        ),
        rule(
            r"(?:now )?(?:report|reports) (?:directly |straight )?to (?!{offices}\b)(?:an? [a-z]+ "
            r"(?:named|called) )?<Name>",
            "{s} reports to {o}.", "reports_to", times="any", importance=0.6,
        ),
        rule(
            r"{my} (?:new )?(?:doctor|GP|gp|family doctor){is} (?:now )?(?:called )?(?:an? )?"
            r"(?P<object>Dr\.? {Word}(?: {Word})?|{Word} {Word}){end}",
            "{s}'s doctor is {o}.", "has_doctor", whole=True, importance=0.6,
        ),
        rule(
            r"(?:{gets}|{now}gets? )(?:a|an|one) {adjectives}(?P<kinship>{kin})(?: called|,? named|,) "
            r"<Name>",
            "", "kin",
        ),
        rule(
            r"{gets}(?:a|an|one) {adjectives}(?:[\w-]+ ){0,3}?(?P<pet>{pet})"
            r"(?: called|,? named|,|, whose name is) <Name>",
            "", "pet",
        ),
        rule(
            r"{gets}(?:a|an|one) {adjectives}(?:[a-z-]+ ){0,2}?(?P<object>{pet})"
            r"(?=(?:\s|{time})*(?:$|[.,;!]|(?:and|but|so|from|who|now|called|named|too)\b))",
            "{s} has a {o}.", "has_pet", entity=False, times="any", prefer="past",
        ),
        rule(
            r"{have}(?: got)? {several} (?:kids|children|boys|girls|sons|daughters)(?:,|:| called|"
            r",? named) (?P<object>{names})",
            "{s} has a child called {o}.", "parent_of", importance=0.7,
        ),
        rule(
            r"{have}(?: got)? (?P<object>(?:an?|one|two|three|four|five|six|seven|[1-9]) (?:(?:little|"
            r"small|young|lovely|"
            r"wonderful|beautiful|grown-up|grown|adult|teenage|older|younger|amazing|[\w-]+-year-old) )*"
            r"(?:kids?|children|child|sons?|daughters?|boys|girls|grandchildren|grandkids|grandsons?|"
            r"granddaughters?))"
            r"(?=(?:\s|{time})*(?:$|[.!;]|,? (?:and|but|so|who|aged|under|now|in|at|with|together|too|"
            r"from)\b|, (?![A-Z])))",
            "{s} has {o}.", "parent_of", entity=False, importance=0.7,
        ),
        rule(
            r"{be}an? (?:proud |single |working |stay-at-home )*(?:mum|mom|mother|dad|father|parent) of "
            r"(?P<object>{number}|twins|\d)(?: (?:kids|children|boys|girls))?(?=\s*(?:$|[.,!;]|(?:and|"
            r"but|so|who)\b))",
            "{s} has children: {o}.", "parent_of", entity=False, importance=0.7,
        ),
        rule(
            r"{have}(?: got)? (?P<object>(?:an?|one|two|three|four|five|six|[1-9]) (?:(?:little|big|"
            r"older|younger|elder|"
            r"twin|half) )*(?:brothers?|sisters?|siblings?)(?: and (?:an?|one|two|three|four) "
            r"(?:(?:older|younger|little|big) )*"
            r"(?:brothers?|sisters?))?)"
            r"(?=(?:\s|{time})*(?:$|[.!;]|,? (?:and|but|so|who|now|in|too)\b|, (?![A-Z])))",
            "{s} has {o}.", "sibling_of", entity=False, importance=0.6,
        ),
        rule(
            r"{gets}{several} (?P<other>{pet})s(?:,|:| called|,? named) (?P<object>{names})",
            "{s} has a {other} called {o}.", "has_pet", importance=0.7,
        ),
        rule(
            r"{gets}(?P<object>(?:two|three|four|five|[2-5]) (?:[a-z]+ )?(?:{pet})s){end}",
            "{s} has {o}.", "has_pet", entity=False,
        ),
        rule(
            r"{my} {adjectives}(?P<kinship>{kin}){is}(?: called| named) <Name>",
            "", "kin", whole=True,
        ),
        rule(r"{my} {adjectives}(?P<kinship>{kin})'s name{is} <Name>", "", "kin", whole=True),
        rule(
            r"<Name>{is} {now}{my} {adjectives}(?P<kinship>{kin})(?=\s*(?:$|[.,;!]|(?:and|but|who)\b))",
            "", "kin", whole=True,
        ),
        rule(
            r"{my} {adjectives}(?P<pet>{pet}){is}(?: called| named) <Name>",
            "", "pet", whole=True,
        ),
        rule(r"{my} {adjectives}(?P<pet>{pet})'s name{is} <Name>", "", "pet", whole=True),
        # Body and taste.
        rule(
            r"{now}(?:{dont} (?:really )?(?:eat|drink)|(?:can't|cannot) (?:eat|drink|have)|no longer "
            r"(?:eat|drink)s?) "
            r"(?:any )?(?P<object>{food}(?:(?:, | or | and ){food}){0,3})(?: {anymore}| at all| "
            r"either| now| these days)*(?=\s*(?:$|[.,;!–—]|(?:and|but|so|because)\b))",
            "{s} does not eat or drink {o}.", "does_not_eat", entity=False, importance=0.8,
        ),
        rule(
            r"(?:{be}(?:now )?on|{now}takes?|{be}taking|{have} {now}been (?:on|taking)) "
            r"(?P<object>\d+(?:[.,]\d+)? ?(?:mg|mcg|milligrams?|micrograms?|units)\b(?: of)? "
            r"[A-Za-z][a-z-]{3,})",
            "{s} takes {o}.", "takes_medication", entity=False, importance=0.8,
        ),
        rule(
            r"(?:{be}|{have} been ){now}allergic to <things>{end}",
            "{s} is allergic to {o}.", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"{have} (?:a|an) (?:bad |severe |mild )?(?P<object>[a-z]+(?: [a-z]+)?) allergy\b",
            "{s} is allergic to {o}.", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"(?:(?:was|were|got|{have} {now}been|am|'m|is) {now}diagnosed with|"
            r"{now}suffers? from|{now}{have}(?: got| had)?) (?:an? )?(?:mild |severe |chronic |"
            r"bad )?"
            r"(?P<object>{condition}){end}",
            "{s} has {o}.", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"{be}on [a-z-]+ for (?:my |his |her )?(?P<object>{condition}){end}",
            "{s} has {o}.", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"(?:{be}|{have} been )(?:an? )?(?P<object>(?:type [12] )?diabetic|asthmatic|coeliac|celiac|"
            r"epileptic|"
            r"dyslexic|lactose[- ]intolerant|colou?r[- ]?blind|gluten[- ]intolerant){end}",
            "{s} is {o}.", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"(?:{be}|{have} {now}been |became |turned |went |{have} become |{have} gone )"
            r"{now}(?:an? )?(?:strict )?(?P<object>vegetarian|vegan|pescatarian|pescetarian|"
            r"gluten-free|teetotal|kosher|halal)\b(?! (?:restaurant|food|place|option|dish|"
            r"version|caf|recipe|curious|on|except|during|when|until|but|mostly|most|half|some|"
            r"for (?:(?:an?|the|\w+|about|like|whole|entire|few|past|last) ){1,4}?(?:minutes?|hours?|days?|"
            r"weeks?|"
            r"month|while|lunch|dinner|breakfast)\b|for (?:him|her|them|[A-Z])))",
            "{s} is {o}.", "diet", entity=False, times="any", importance=0.8,
        ),
        rule(
            r"(?:{be}no longer|stopped being) (?:an? )?(?P<object>vegetarian|vegan|pescatarian|"
            r"pescetarian)\b",
            "{s} is no longer {o}.", "diet", entity=False, ends=True, times="any", prefer="past",
            importance=0.8,
        ),
        rule(
            r"{dont} (?:really )?(?:like|enjoy) <things>(?: (?:that|very|so) much)?{end}",
            "{s} does not like {o}.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"(?:{now}(?:hate|hates|dislike|dislikes|detest|loathe)|(?:can't|cannot) stand|(?:am|'m) "
            r"(?:really )?not (?:a|an|much of a) (?:big |huge |great )?fan of) "
            r"(?!up\b|by\b|in\b|on\b|out\b|still\b)<things>{end}",
            "{s} dislikes {o}.", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"{now}prefers? <thing> (?:to|over) (?P<other>{thing}){end}",
            "{s} prefers {o} to {other}.", "likes", kind="preference", entity=False,
        ),
        rule(
            r"{now}(?:like|likes|love|loves|enjoy|enjoys|adore|adores|prefer|prefers) "
            r"<things>{end}",
            "{s} likes {o}.", "likes", kind="preference", entity=False,
        ),
        rule(
            r"{be}(?:an? (?:big |huge |massive |lifelong |great )?fan of|(?:really |very |totally |so "
            r")?into|fond of|keen on|"
            r"crazy about|mad about|obsessed with|passionate about) (?!it\b|him\b|her\b|you\b|them\b|"
            r"this\b|that\b)<things>{end}",
            "{s} likes {o}.", "likes", kind="preference", entity=False,
        ),
        rule(
            r"{my} favou?rite (?P<other>[a-z]+(?: [a-z]+)?){is} <thing>{end}",
            "{s}'s favourite {other} is {o}.", "favourite_{other}", kind="preference",
            entity=False, whole=True,
        ),
        rule(
            r"{now}plays? (?:the )?(?P<object>{instruments}|chess|tennis|football|soccer|basketball|"
            r"volleyball|badminton|golf|hockey|rugby|cricket)\b",
            "{s} plays {o}.", "has_hobby", entity=False,
        ),
        rule(
            r"(?:{have} )?{now}(?:taken up|took up|(?:started|begun|began)(?: doing)?|got into|gotten into) "
            r"(?P<object>{pastimes}){end}",
            "{s} does {o}.", "has_hobby", entity=False, times="any", prefer="past",
        ),
        rule(
            r"(?:{have} )?{now}(?:given up|gave up|quit|stopped(?: doing)?|no longer do(?:es)?|dropped) "
            r"(?P<object>{pastimes}){end}",
            "{s} no longer does {o}.", "has_hobby", entity=False, ends=True, times="any", prefer="past",
        ),
        rule(
            r"{now}(?:sing|sings) in (?:an?|the|our) (?:[a-z]+ )?choir\b",
            "{s} sings in a choir.", "has_hobby", entity=False, claimed="singing in a choir",
        ),
        rule(
            r"{now}(?:do|does) (?P<object>{pastimes}){end}",
            "{s} does {o}.", "has_hobby", entity=False,
        ),
        rule(
            r"(?:{be}|{have} {now}been )learning (?:to play )?(?:the )?<instruments>\b",
            "{s} is learning to play the {o}.", "has_hobby", entity=False,
        ),
        rule(
            r"(?:{be}taking|takes?|{have} been taking) (?P<object>[a-z]+) lessons",
            "{s} takes {o} lessons.", "has_hobby", entity=False,
        ),
        # Things in use.
        rule(
            r"(?:{have} )?{now}(?:switched|migrated|moved|changed) (?:over )?(?:from "
            r"(?:an? |my |our )?(?P<other>[a-z]?{Company}) )?to (?!{offices}\b)(?:an? |the )?(?:new "
            r")?(?P<object>[a-z]?{Company}){once}(?! time\b)",
            "{s} switched to {o}.", "uses", times="any",
        ),
        rule(
            r"{now}(?:use|uses|'re using|'m using) <Company>(?= (?:for|as|at|now|every|to)\b|"
            r"{end})",
            "{s} uses {o}.", "uses",
        ),
        rule(
            r"(?:{have} )?{now}(?:stopped using|no longer uses?|{dont} use) "
            r"<Company>(?: {anymore})?{end}",
            "{s} no longer uses {o}.", "uses", ends=True, times="any", prefer="past",
        ),
        rule(r"{now}owns? an? <thing>{end}", "{s} owns a {o}.", "owns"),
        rule(
            r"(?:(?:{have} )?{now}(?:bought|got|purchased|picked up|collected) (?:an?|our|my) |"
            r"{have} (?:an?) (?=(?:{looks} )*(?:{makes})))"
            r"(?:{looks} )*<goods>{end}",
            "{s} has a {o}.", "owns", times="any", prefer="past",
        ),
        rule(
            r"{now}(?:drive|drives) (?:an?|my|our) (?:{looks} )*(?P<object>(?:{makes})(?: "
            r"[A-Z][\w-]*)?){stop}",
            "{s} has a {o}.", "owns",
        ),
        rule(
            r".{2,30}? (?:gave|has given|'s given|handed|left) me (?:his|her|their|an?) (?:{looks} "
            r")*<goods>{end}",
            "{s} has a {o}.", "owns", times="any", prefer="past", whole=True,
        ),
        rule(
            r"(?:{have} )?{now}(?:sold|scrapped|traded in|gave away|given away|got rid of|gotten rid of) "
            r"(?:my|our|the) (?:{looks} )*<goods>{end}",
            "{s} no longer has the {o}.", "owns", ends=True, times="any", prefer="past",
        ),
        # Decisions, plans, visits.
        rule(
            r"(?:{have} )?{now}decided (?P<object>(?:to|against|on|not to) {phrase}){stop}",
            "{s} decided {o}.", "decided", kind="decision", entity=False, times="any",
            importance=0.7,
        ),
        rule(
            r"{be}(?:leaving for|(?:flying|going|travelling|traveling|driving|heading|off) "
            r"(?:back |over |up |down )?to) <Place>",
            "{s} plans to travel to {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6, claimed="travel to {o}",
        ),
        rule(
            r"{be}visiting <Place>",
            "{s} plans to visit {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6, claimed="visit {o}",
        ),
        rule(
            r"{my} (?P<object>(?:[a-z][\w'-]* ){0,2}?{dates})(?:'s| is| got moved to| was moved to| has "
            r"been moved to| moved to)"
            r"(?: now)? {time}{stop}",
            "{s} has an appointment: {o}.", "plans_to", kind="plan", entity=False, times="must", whole=True,
            importance=0.6,
        ),
        rule(
            r"{be}expecting (?P<object>a baby|(?:our|my|their|her|his) (?:first|second|third|fourth)(?: "
            r"child| baby| kid)?|"
            r"twins|a (?:boy|girl|son|daughter))(?=(?:\s|{time})*(?:$|[.,;!]|(?:and|so)\b))",
            "{s} is expecting {o}.", "plans_to", kind="plan", entity=False, times="any", importance=0.8,
            claimed="have a baby",
        ),
        rule(
            r"{have}(?: got)? (?:an?|my|the) (?P<object>(?:[a-z][\w'-]* ){0,3}?(?:appointment|interview|exam|"
            r"check-?up|surgery|operation|MRI|CT scan|MRI scan|scan|X-ray|x-ray|blood test|driving test|viva|"
            r"colonoscopy|endoscopy|biopsy|hearing|audition))\b",
            "{s} has an appointment: {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6,
        ),
        rule(
            r"{be}retiring\b",
            "{s} plans to retire.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.7, claimed="retire",
        ),
        rule(
            r"{be}getting married",
            "{s} plans to get married.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.8, claimed="get married",
        ),
        rule(
            r"{be}going to (?P<object>(?:an?|the|my|our|some) {phrase}){stop}",
            "{s} plans to go to {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6, claimed="go to {o}",
        ),
        rule(
            r"(?:plan|plans|{be}planning|{be}going|intend|intends|{have} planned) to "
            r"(?!(?:an?|the|my|our|his|her|their|some|this|that|bed|work|school|sleep)\b)<phrase>{stop}",
            "{s} plans to {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6,
        ),
        rule(
            r"(?:will|'ll) (?P<object>(?:visit|travel|move|fly|start|marry|retire|graduate|run|"
            r"take part|give a talk)\b{phrase}){stop}",
            "{s} plans to {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6,
        ),
        rule(
            r"(?:visited|went to|travelled to|traveled to|flew to|{have} been to|{have} visited|"
            r"was in|were in) <Place>{end}",
            "{s} visited {o}.", "visited", kind="event", times="must",
        ),
    ),
)  # fmt: skip
