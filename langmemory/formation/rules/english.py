"""English."""

from __future__ import annotations

from langmemory.formation.rules.grammar import Grammar, rule
from langmemory.lexicon import ENGLISH as LEXICON
from langmemory.lexicon.language import word_set

KIN = {
    word: role
    for role, words in {
        "mother": "mother mum mom", "father": "father dad", "sister": "sister",
        "brother": "brother", "wife": "wife", "husband": "husband", "partner": "partner",
        "girlfriend": "girlfriend", "boyfriend": "boyfriend", "fiancé": "fiancé fiancée fiancee",
        "daughter": "daughter", "son": "son", "grandmother": "grandmother grandma granny",
        "grandfather": "grandfather grandpa", "aunt": "aunt", "uncle": "uncle", "cousin": "cousin",
        "niece": "niece", "nephew": "nephew", "friend": "friend", "colleague": "colleague coworker",
        "neighbour": "neighbour neighbor", "boss": "boss manager",
    }.items()
    for word in words.split()
}  # fmt: skip
PETS = (
    "dog", "puppy", "greyhound", "poodle", "labrador", "terrier", "beagle", "dachshund", "cat",
    "kitten", "rabbit", "hamster", "parrot", "budgie", "horse", "pony", "tortoise", "turtle",
    "guinea pig", "ferret", "snake",
)  # fmt: skip
JOBS = (
    "teacher|nurse|doctor|engineer|lawyer|chef|cook|waiter|waitress|manager|driver|accountant"
    "|programmer|developer|designer|artist|writer|author|journalist|counsell?or|therapist|salesman"
    "|saleswoman|cashier|barista|banker|architect|cartographer|carpenter|electrician|plumber"
    "|mechanic|dentist|pharmacist|physician|surgeon|vet|veterinarian|psychologist|psychiatrist"
    "|scientist|physicist|chemist|biologist|mathematician|statistician|economist|historian"
    "|geologist|hydrologist|librarian|editor|translator|interpreter|photographer|musician|pianist"
    "|violinist|cellist|singer|composer|actor|actress|director|producer|dancer|painter|sculptor"
    "|illustrator|baker|butcher|farmer|gardener|florist|hairdresser|tailor|firefighter"
    "|police officer|paramedic|midwife|soldier|pilot|flight attendant|sailor|captain|electrician"
    "|technician|analyst|consultant|researcher|professor|lecturer|tutor|coach|trainer"
    "|physiotherapist|secretary|receptionist|judge|notary|politician|priest|pastor|plasterer"
    "|bricklayer|welder|postman|postwoman|bus driver|taxi driver|social worker|data scientist"
    "|sound engineer|software engineer|product manager|project manager|freelancer|optician"
    "|paediatrician|pediatrician|cardiologist|radiologist|student|orthopaedist|seamstress"
)
POSTS = (
    "intern|apprentice|trainee|postdoc|fellow|director|administrator|assistant|clerk|officer|"
    "specialist|advisor|adviser|copywriter|recruiter|supervisor|cleaner|janitor|guard|courier|"
    "bartender|tester|strategist|curator|archivist|lead|team leader|partner|executive|"
    "representative|coordinator|planner|operator|buyer|reporter|presenter|head of [a-z]+"
)
LANGUAGES_SPOKEN = (
    "English|German|French|Spanish|Italian|Portuguese|Dutch|Swedish|Norwegian|Danish|Finnish"
    "|Polish|Czech|Slovak|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Arabic"
    "|Hebrew|Persian|Farsi|Hindi|Urdu|Bengali|Tamil|Chinese|Mandarin|Cantonese|Japanese|Korean"
    "|Vietnamese|Thai|Indonesian|Swahili|Catalan|Basque|Irish|Welsh|Croatian|Serbian|Latin"
)
NOW = (
    r"(?:(?:now|currently|still|actually|also|just|recently|both|really|always|"
    r"finally|originally|officially|absolutely|completely|totally|even|all|already|"
    r"simply|mostly|usually|severely|badly|very|quite|happily|newly|definitely|"
    r"honestly) )*"
)
BE = rf"(?:am|'m|is|'s|are|'re) {NOW}"
HAVE = r"(?:have|has|'ve|'s)"
END = (
    r"(?=(?:\s|[\ue000-\uf8ff])*(?:$|[.,;:!)(–—-]|\b(?:and|but|with|because|so|for|"
    r"since|as|now|too|again|at|in|on|who|which|by|these|though|anyway|anymore|"
    r"already|near|where|when)\b))"
)

ENGLISH = Grammar(
    code="en",
    respelled=(
        (r"(?<![\w.'’(])(?:[Ii]['’]?m|i am)(?= )", "I'm"),
        (r"(?<![\w.'’(])i(?=['’ ])", "I"),
        (r"(?<!\w)([Dd]o|[Dd]oes|[Cc]a)nt(?!\w)", r"\1n't"),
        (r"(?<!\w)b-?day(?!\w)", "birthday"),
        (
            r"(?m)(^|[.!]\s+)(?:[Jj]ust|[Ff]inally) (?=(?:moved|started|joined|switched|quit|"
            r"got (?:a|my|promoted|engaged|married))\b)",
            r"\1I just ",
        ),
    ),
    unclear=(
        r"\b(?:if|unless|whether|would|wouldn't|could|couldn't|should|might|may be|maybe|perhaps|"
        r"probably|possibly|imagine|suppose|supposed|pretend|wish(?! (?:me|us) luck)|wishes|hope|"
        r"hopes|hoping|dream|dreamt|dreamed|dreaming|almost|nearly|as though|hypothetically|joking|"
        r"kidding|lol|haha|yeah right|oh sure|as if|sure, because|not sure|i think|i guess|i doubt|"
        r"said|says|say|saying|told|tells|asked|asks|claims|claimed|thinks|thought|wrote|writes|"
        r"heard|reads|believes|believed|quote|pretended|novel|movie|film|story|character|game|"
        r"whatever|whenever|called off|cancel(?:l?ed|ling|ing)|fell through|backed out|"
        r",\s*no(?=,)|[\w,]\s+(?:no,?\s+wait|or\s+rather|make\s+that|scratch\s+that)|"
        r"changed my mind|turned (?:it|them|him|her) down|(?<!got )(?<!gotten )divorced|"
        r"(?:quit|left|stopped) after|i'd|we'd|allegedly|supposedly|rumou?r|apparently|oh great|just great|"
        r"once upon)\b|/s\b|🙄|😏"
    ),
    openers=(
        r"(?:and|but|so|well|oh|ah|hi|hey|hello|hola|yes|yeah|yep|ok|okay|anyway|also|"
        r"actually|by the way|btw|"
        r"fun fact|fyi|then|now|still|honestly|besides|plus|because|since|sure|thanks|"
        r"thank you|great|"
        r"good morning|good evening|right|just so you know|for the record|update|news|good news|"
        r"bad news|big news|as of now|these days|nowadays|personally|important|please note|note|"
        r"guess what|finally|there|sometimes|mostly|in fact|remember|family(?=:)|work(?=:)|"
        r"that|today|sadly|unfortunately|luckily)\b[\s,:.!–—-]*"
    ),
    takes_back=(
        r"(?:no|nope|sorry|wait|correction|i meant|i mean|scratch that|oops|my mistake)"
        r"\b[\s,:.!–—-]*"
    ),
    no=r"(?:no|nope)\b",
    announces=(
        r"\b(?:things?|news|facts?|about me|myself|background|context|reminder|intro|introduction|"
        r"future|from now on|remember|note|request|preferences?|heads-?up|favou?r|going forward|"
        r"answer|know|short|summary|status|p\.?s|allerg(?:y|ies)|hobb(?:y|ies)|household|family)\b"
    ),
    denied=r"\s+(?:no more|no longer)\b",
    breaks=(
        r"(?:\s*[,;:(–—]\s*|\s+)(?:and\s+|but\s+|so\s+|because\s+|then\s+)?"
        r"(?=(?:I|I'm|I've|We|we|My|my|Our|our|we're|we've)\b(?!\s+(?:and|or)\b))"
        r"(?<=[,;:(–—]\s)|(?:\s*[,;]\s*|\s+)(?:and|but|so|because|then)\s+(?:now\s+)?"
        r"(?=(?:I|I'm|I've|we|my|our|we're|we've)\b)"
        r"|(?:\s*,)?\s+(?:and|but)\s+(?=(?:live|lives|work|works|study|studies|speak|speaks|love|"
        r"loves|like|likes|hate|hates|moved|own|owns|have|has|play|plays|use|uses|am|is|came)\b)"
    ),
    carried=(
        r"(?:live|lives|work|works|study|studies|speak|speaks|love|loves|like|likes|hate|"
        r"hates|moved|own|owns|have|has|play|plays|use|uses|am|is|came)\b"
    ),
    i=r"I\b",
    we=r"[Ww]e\b",
    my=r"(?:[Mm]y|[Oo]ur)",
    kin=KIN,
    kin_adjectives=(
        r"(?:(?:best|close|old|older|elder|younger|little|big|twin|new|good|dear|lovely|"
        r"great) )*"
    ),
    pets=PETS,
    user="the user",
    we_text="{s} and others",
    tidied=((r"\ba (?=(?!eu|uni|us[aeiu]|one\b)[aeiou])", "an "),),
    genitive=("{s}'s", "{s}'s", "the user's"),
    whose="{g} {kin}",
    kin_text="{o} is {whose}.",
    pet_text="{s} has a {kin} called {o}.",
    relative=r"{my} {adjectives}(?P<kin>{kin})(?:,? (?P<name>{Name}),?)?(?=\s|$|[\ue000-\uf8ff])",
    resumed=r"^(?: (?!I\b){Word})?(?: )?,?(?: )?(?:(?:he|she|who)\b)?(?: )?",
    time_lead=r"^(?:on|in|at)\s+(?:the\s+)?",
    leaning=r"\b(?:I|we|you|it|this|that|these|those|he|she|him|her|they|there|here|one)\b",
    kin_name=r"\b{my} {adjectives}(?P<kin>{kin}),? (?P<name>{Name})(?!'s\b)(?=\W|$)",
    pet_name=(
        r"\b{my} {adjectives}(?P<kin>{pet}),? (?P<name>{Name})|(?P<name2>{Name})(?: )?, "
        r"{my} {adjectives}(?P<kin2>{pet})(?=\s*(?:$|[.,;!)]|who\b|that\b))"
    ),
    died=r"\b(?:die[ds]|dead|dying|passed away|put (?:\w+ ){1,5}?(?:down|to sleep)|ran away)\b",
    not_names=LEXICON.stop_words
    | LEXICON.temporal_words
    | frozenset(LEXICON.months)
    | word_set(
        """i'm i've i'll god lord jesus monday's everyone everybody nobody someone english german
        french spanish doctor dr mr mrs ms miss company"""
    ),
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
    not_things=(
        r"(?:it|that|this|these|those|them|him|her|you|us|me|my|your|his|their|our|how|"
        r"when|what|where|"
        r"who|why|the|a|an|to|being|having|getting|seeing|hearing|both|all|everything|anything|"
        r"nothing|early|mornings|people|meetings|commitment|drama|stupidity|went|had|was|were|am|is|are|have|has|do|did|can|will|eat|ate|go|got|get|"
        r"need|want|think|know|"
        r"feel|felt|\w{2,}ed\b(?!\s+\w)|everyone|people|so|such|more|most|some|any|one|each|"
        r"here|there|one's|i|we|not|"
        r"love|bullshit|nonsense|mornings|work(?!ing)|"
        r"too|better|best|as|way|thing|things|stuff|idea|talking|working with|reading this)\b"
    ),
    theirs={"my": "their", "our": "their", "myself": "themselves", "ourselves": "themselves",
            "me": "them", "us": "them", "mine": "theirs"},
    and_=r"\s*,?\s*\b(?:and|or)\b\s*|\s*,\s*",
    placeholders={
        "now": NOW, "be": BE, "have": HAVE, "end": END, "jobs": JOBS, "posts": POSTS,
        "hardly": (
            r"(?:good|bad|great|terrible|hopeless|real|natural|born|would-be|wannabe|failed|decent|"
            r"lousy|better|former|retired|aspiring|future|frustrated|horrible|amateur)"
        ),
        "am": r"(?:am|'m|is|'s)", "is": r"(?: is|'s)", "dont": r"(?:do not|don't|does not|doesn't)",
        "several": r"(?:two|three|four|five|six|[2-6])(?: [a-z]+)?",
        "names": r"{Word}(?:, {Word}){0,4},? and {Word}",
        "instruments": (
            r"piano|guitar|violin|viola|cello|flute|drums|trumpet|trombone|saxophone|clarinet|oboe|"
            r"harp|accordion|organ|bass|ukulele|banjo|mandolin"
        ),
        "anymore": r"(?:any(?: )?more|any longer)",
        "live": r"{now}(?:live|lives|{am} living|{have} {now}lived|{have} {now}been living) {now}",
        "work": (
            r"{now}(?:work|works|{am} working|{have} {now}worked|{have} {now}been working) "
            r"{now}"
        ),
        "study": r"{now}(?:study|studies|{am} studying)",
        "stop": r"(?=(?:\s|{time})*(?:$|[.!,;]|(?:but|because)\b))",
        "Name": r"{Word}(?: {Word})?",
        # Not "Microsoft's biggest competitor", "Platform 9", "Block C", "St. Mary".
        "whole": r"(?!['’]?\w)(?!\s+\d)(?!\s+[A-HJ-Z]\b)(?!\.\s*[^\W\d_])",
        # Not "to Munich in 2015 and to Hamburg in 2019".
        "once": r"(?!.*\b(?:(?:and|then|later)(?:\s+\w+)?\s+to|back\s+to)\b)",
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
            r"{whosename} birthday{is} <time>",
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
            r"{am} (?P<object>[1-9]\d)(?: years old| now)?(?=\s*(?:$|[,.;!]))",
            "{s} is {o} years old.", "age", entity=False,
        ),
        rule(
            r"{be}(?P<object>{Word} {Word}){end}",
            "{s}'s name is {o}.", "named", entity=False, if_me=True, importance=0.8,
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
        rule(r"{be}based in <Place>", "{s} lives in {o}.", "lives_in", importance=0.8),
        rule(
            r"(?:{have} )?{now}(?:moved|relocated) (?:back |over |away |house )?(?:from {Place} )"
            r"?to <Place>{once}",
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
            r"(?:was|were|got|{have} been|has been) (?:fired|laid off|let go) (?:from|by) {Org}",
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
            r"{work}(?:part-time |full-time )?as an? (?P<other>[a-z][\w -]{2,40}?) (?:at|for|with)"
            r" {Org}",
            "{s} works at {o} as a {other}.", "works_at", importance=0.7,
        ),
        rule(
            r"{work}(?:part-time |full-time )?(?:at|for) {Org}",
            "{s} works at {o}.", "works_at", importance=0.7,
        ),
        rule(
            r"{be}an? (?:(?:[a-z][\w-]*) ){0,2}student at <Company>",
            "{s} studies at {o}.", "studies_at", importance=0.6,
        ),
        rule(
            r"{be}an? (?P<other>(?:(?!{hardly} )[a-z][\w-]* ){0,2}(?:{jobs}|{posts})) (?:at|for) "
            r"{Org}",
            "{s} works at {o} as a {other}.", "works_at", importance=0.7,
        ),
        rule(
            r"(?:{have} )?{now}(?:started (?:working |a (?:new )?job |work )?(?:at|with)|"
            r"(?:got|took|accepted) a (?:new )?job (?:at|with)) {Org}",
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
            r"{work}as an? (?P<object>[a-z][\w -]{2,30}?){end}",
            "{s} works as a {o}.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:{be}|{have} {now}been )an? (?P<object>(?:(?!{hardly} )[a-z][\w-]* ){0,2}?"
            # Not "a student at heart", "a doctor in training".
            r"(?:{jobs})){end}(?!\s+by\b|\s+(?:at|in)\s+(?!(?:an?|the|my|our)\b)[a-z])",
            "{s} works as a {o}.", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"(?:{have} )?{now}(?:got|been|was|were) {now}promoted to "
            r"(?P<object>[a-z](?:(?!\bat\b)[\w -]){2,30}?){end}",
            "{s} works as a {o}.", "works_as", entity=False, times="any", prefer="past",
            importance=0.7,
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
            r".{0,60}?\bwith (?:her|his|my|our) (?:twins|kids|children|sons?|daughters?),? "
            r"(?P<object>{Word}(?:,? and {Word})?)",
            "{s} has a child called {o}.", "parent_of", also=True, importance=0.7,
        ),
        rule(
            r"(?:am|'m|is|{have} been|got) {now}(?:happily )?married to <Name>",
            "{s} is married to {o}.", "married_to", times="any", importance=0.8,
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
            r"{have}(?: got)? (?:a|an|one) {adjectives}(?P<kinship>{kin})(?: called|,? named|,) "
            r"<Name>",
            "", "kin",
        ),
        rule(
            r"{have}(?: got)? (?:a|an|one) {adjectives}(?:\w+ )?(?P<pet>{pet})(?: called|,? named|"
            r",) <Name>",
            "", "pet",
        ),
        rule(
            r"{have}(?: got)? {several} (?:kids|children|boys|girls|sons|daughters)(?:,|:| called|"
            r",? named) (?P<object>{names})",
            "{s} has a child called {o}.", "parent_of", importance=0.7,
        ),
        rule(
            r"{have}(?: got)? {several} (?P<other>{pet})s(?:,|:| called|,? named) (?P<object>{names})",
            "{s} has a {other} called {o}.", "has_pet", importance=0.7,
        ),
        rule(
            r"{my} {adjectives}(?P<kinship>{kin}){is}(?: called| named) <Name>",
            "", "kin", whole=True,
        ),
        rule(r"{my} {adjectives}(?P<kinship>{kin})'s name{is} <Name>", "", "kin", whole=True),
        rule(
            r"{my} {adjectives}(?P<pet>{pet}){is}(?: called| named) <Name>",
            "", "pet", whole=True,
        ),
        rule(r"{my} {adjectives}(?P<pet>{pet})'s name{is} <Name>", "", "pet", whole=True),
        # Body and taste.
        rule(
            r"(?:{be}|{have} been ){now}allergic to <things>{end}",
            "{s} is allergic to {o}.", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"{have} (?:a|an) (?:bad |severe |mild )?(?P<object>[a-z]+(?: [a-z]+)?) allergy\b",
            "{s} is allergic to {o}.", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"(?:{be}|{have} {now}been |became |turned |went |{have} become |{have} gone )"
            r"{now}(?:an? )?(?:strict )?(?P<object>vegetarian|vegan|pescatarian|pescetarian|"
            r"gluten-free|teetotal|kosher|halal)\b(?! (?:restaurant|food|place|option|dish|"
            r"version|caf|recipe|curious|on|except|during|when|until|but|mostly|most|half|some|"
            r"for a (?:day|week|month|while)))",
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
            r"(?P<other>{Company}) )?to <Company>{once}",
            "{s} switched to {o}.", "uses", times="any",
        ),
        rule(
            r"{now}(?:use|uses|'re using|'m using) <Company>(?= (?:for|as|at|now|every|to)\b|"
            r"{end})",
            "{s} uses {o}.", "uses",
        ),
        rule(r"{now}owns? an? <thing>{end}", "{s} owns a {o}.", "owns"),
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
            r"{have}(?: got)? an? (?P<object>(?:[a-z][\w'-]* ){0,3}(?:appointment|interview|exam|"
            r"check-?up|surgery|operation))\b",
            "{s} has an appointment: {o}.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.6,
        ),
        rule(
            r"{be}getting married",
            "{s} plans to get married.", "plans_to", kind="plan", entity=False, times="must",
            importance=0.8, claimed="get married",
        ),
        rule(
            r"(?:plan|plans|{be}planning|{be}going|intend|intends|{have} planned) to "
            r"<phrase>{stop}",
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
