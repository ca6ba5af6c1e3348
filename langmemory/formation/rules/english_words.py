"""English: who and what the rules know by its word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from langmemory.languages.language import numbered, ordered

KIN = {
    word: role
    for role, words in {
        "mother": "mother mum mom Mum Mom", "father": "father dad Dad", "sister": "sister",
        "brother": "brother", "wife": "wife", "husband": "husband", "partner": "partner",
        "girlfriend": "girlfriend", "boyfriend": "boyfriend", "fiancé": "fiancé fiancée fiancee",
        "daughter": "daughter", "son": "son", "grandmother": "grandmother grandma granny Grandma Granny",
        "grandfather": "grandfather grandpa grandad Grandpa Grandad",
        "aunt": "aunt", "uncle": "uncle", "cousin": "cousin",
        "niece": "niece", "nephew": "nephew", "friend": "friend", "colleague": "colleague coworker",
        "neighbour": "neighbour neighbor", "boss": "boss manager supervisor",
        "flatmate": "flatmate roommate housemate", "teacher": "teacher tutor instructor", "coach": "coach",
        "landlord": "landlord landlady", "grandson": "grandson",
        "granddaughter": "granddaughter", "sister in law": "sister-in-law",
        "brother in law": "brother-in-law", "mother in law": "mother-in-law",
        "father in law": "father-in-law", "son in law": "son-in-law",
        "daughter in law": "daughter-in-law", "stepmother": "stepmother stepmum stepmom",
        "stepfather": "stepfather stepdad", "stepsister": "stepsister", "stepbrother": "stepbrother",
        "stepdaughter": "stepdaughter", "stepson": "stepson", "godmother": "godmother",
        "godfather": "godfather", "goddaughter": "goddaughter", "godson": "godson",
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
    "|instructor|solicitor|barrister|roofer|joiner|potter|bookseller|childminder|nanny|carer|caretaker"
    "|civil servant|headteacher|radiographer|optometrist|dietitian|nutritionist|zookeeper|stonemason"
    "|surveyor|estate agent|travel agent|bookkeeper|auditor|actuary|paralegal|proofreader|stage manager"
    "|lorry driver|truck driver|train driver|tram driver|fisherman|shepherd|brewer|dispatcher|lineman"
    "|personal trainer|paediatrician|pediatrician|cardiologist|radiologist|student|orthopaedist|seamstress"
)
POSTS = (
    "intern|apprentice|trainee|postdoc|fellow|director|administrator|assistant|clerk|officer|"
    "specialist|advisor|adviser|copywriter|recruiter|supervisor|cleaner|janitor|guard|courier|"
    "bartender|tester|strategist|curator|archivist|lead|team leader|partner|executive|"
    "representative|PM|CEO|CTO|CFO|VP|coordinator|planner|operator|buyer|reporter|presenter|head of [a-z]+"
)
LANGUAGES_SPOKEN = (
    "English|German|French|Spanish|Italian|Portuguese|Dutch|Swedish|Norwegian|Danish|Finnish"
    "|Polish|Czech|Slovak|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Arabic"
    "|Hebrew|Persian|Farsi|Hindi|Urdu|Bengali|Tamil|Chinese|Mandarin|Cantonese|Japanese|Korean"
    "|Vietnamese|Thai|Indonesian|Swahili|Catalan|Basque|Irish|Welsh|Croatian|Serbian|Latin"
)
PLACES = ordered(
    """
    london manchester liverpool leeds sheffield bristol birmingham newcastle nottingham leicester
    edinburgh glasgow aberdeen dundee cardiff swansea belfast dublin galway brighton oxford cambridge
    norwich exeter plymouth paris lyon marseille toulouse bordeaux nantes berlin munich hamburg cologne
    frankfurt stuttgart leipzig dresden vienna salzburg graz zurich geneva basel amsterdam rotterdam
    utrecht brussels antwerp ghent copenhagen aarhus oslo bergen stockholm gothenburg malmö helsinki
    warsaw krakow prague brno budapest bucharest athens istanbul ankara rome milan turin naples bologna
    lisbon porto madrid barcelona valencia seville malaga bilbao moscow kyiv tokyo osaka kyoto beijing
    shanghai shenzhen taipei seoul bangkok hanoi singapore jakarta manila delhi mumbai bangalore chennai
    kolkata hyderabad karachi lahore dubai cairo lagos nairobi accra johannesburg durban toronto
    vancouver montreal ottawa calgary boston chicago seattle portland denver dallas houston miami
    atlanta philadelphia detroit minneapolis albuquerque tucson brooklyn sydney melbourne brisbane perth
    auckland wellington germany france spain italy portugal switzerland belgium netherlands denmark
    norway sweden finland poland ireland scotland wales england canada mexico brazil argentina japan
    korea vietnam thailand india australia
    """
)
"""Places that who writes without capitals is known to mean: none is a first name or another word."""
NUMBERS = numbered(
    *ordered(
        """
        one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen
        """
    )
) | {
    f"{ten}-{one}" if one else ten: 10 * tens + ones
    for tens, ten in enumerate(ordered("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
    for ones, one in enumerate(("", *ordered("one two three four five six seven eight nine")))
}
PLACEHOLDERS: Final[Mapping[str, str]] = {
    "states": (
        r"(?i:tired|late|happy|sad|sorry|back|home|hungry|sick|ill|ready|done|here|there|fine|good|"
        r"great|busy|sure|"
        r"not|so|very|pregnant|married|single|divorced|widowed|vegan|vegetarian|male|female|old|young|"
        r"bored|excited|"
        r"glad|new|batman|superman|okay|alive|free|lost|broke|afraid|scared|angry|nervous|retired|gay|"
        r"bi|trans|"
        r"autistic|deaf|blind|diabetic|dyslexic|left-handed|staff|nobody|human|anonymous|unemployed|"
        r"awake|drunk|"
        r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|team|still|just|really|all|also|now|"
        r"going|in|on|at)"
    ),
    "nations": (
        r"(?:American|British|English|Scottish|Welsh|Irish|German|French|Spanish|Italian|Portuguese|"
        r"Dutch|Belgian|"
        r"Swiss|Austrian|Swedish|Norwegian|Danish|Finnish|Icelandic|Polish|Czech|Slovak|Hungarian|Romanian|"
        r"Bulgarian|Greek|Turkish|Russian|Ukrainian|Serbian|Croatian|Slovenian|Bosnian|Albanian|"
        r"Estonian|Latvian|"
        r"Lithuanian|Canadian|Mexican|Brazilian|Argentinian|Argentine|Chilean|Colombian|Peruvian|"
        r"Venezuelan|Cuban|"
        r"Australian|Chinese|Japanese|Korean|Vietnamese|Thai|Indian|Pakistani|Bangladeshi|Nepali|Filipino|"
        r"Filipina|Indonesian|Malaysian|Singaporean|Taiwanese|Iranian|Persian|Iraqi|Syrian|Lebanese|Israeli|"
        r"Egyptian|Moroccan|Tunisian|Algerian|Nigerian|Ghanaian|Kenyan|Ethiopian|South African|New "
        r"Zealander|Kiwi|"
        r"Afghan|Armenian|Georgian|Arab|African|Asian|European|Latina|Latino|Hispanic)"
    ),
    "faiths": (
        r"(?:Catholic|Protestant|Christian|Muslim|Jewish|Hindu|Buddhist|Sikh|Mormon|Orthodox|Lutheran|"
        r"Anglican|"
        r"Methodist|Baptist|Quaker|[Aa]theist|[Aa]gnostic)"
    ),
    "departments": (
        r"(?:marketing|product|sales|finance|HR|IT|engineering|operations|design|research|legal|"
        r"school|year|"
        r"people|growth|data|communications|content|security|maths|english|science|music|nursing|kitchen|"
        r"development|support|logistics|compliance|risk|pricing|department|R&D)"
    ),
    "lessons": (
        r"Year \d+|maths?|English|French|Spanish|German|Latin|history|geography|physics|chemistry|"
        r"biology|science|"
        r"music|art|PE|drama|economics|philosophy|computer science|yoga|kids|children|adults|infants|"
        r"(?:first|second|third|fourth|fifth|sixth) grade"
    ),
    "offices": (
        r"(?:Accounting|Sales|Marketing|Finance|Legal|HR|Support|Procurement|Operations|Reception|"
        r"Security|Plan|"
        r"Court|HQ|Head Office|Headquarters|Engineering|Logistics)"
    ),
    "dates": (
        r"(?:appointment|interview|exam|viva|wedding|surgery|operation|MRI|scan|driving test|due date|"
        r"check-?up|"
        r"graduation|defence|marathon|flight|hearing|audition)"
    ),
    "workplaces": (
        r"(?:bakery|hospital|school|library|pharmacy|restaurant|bank|cafe|café|bar|pub|hotel|"
        r"supermarket|garage|"
        r"nursery|clinic|university|museum|warehouse|factory|law firm|bookshop|bookstore|salon|"
        r"theatre|theater|"
        r"airport|post office|council|call centre|call center|care home|startup|start-up|charity|"
        r"vet's|vineyard|"
        r"brewery|publisher|kindergarten|gym|shipyard|farm|florist's|department store)"
    ),
    "food": (
        r"(?:(?:red )?meat|pork|beef|lamb|chicken|fish|seafood|shellfish|dairy|gluten|wheat|sugar|"
        r"eggs|nuts|"
        r"peanuts|bread|cheese|milk|alcohol|coffee|caffeine|mushrooms|onions?|garlic|soy|tomatoes)"
    ),
    "money": (
        r"(?:about |around )?[£$€]?\d[\d.,]*[kK]?(?: ?(?:euros?|pounds|quid|dollars|bucks|pence|cents|"
        r"p|c|€|£))?"
    ),
    "apps": (
        r"(?:Facebook|Instagram|Twitter|X|TikTok|Netflix|Spotify|WhatsApp|LinkedIn|Reddit|Snapchat|"
        r"Tinder|Slack|"
        r"Discord|Duolingo|Prime|Amazon Prime|YouTube|Telegram|Zoom|Teams|Strava|Weight Watchers)"
    ),
    "condition": (
        r"(?:(?:type (?:1|2|one|two) )?diabetes|asthma|(?:coeliac|celiac|Crohn's|Graves'|Lyme|kidney|"
        r"heart) disease|"
        r"Crohn's|high blood pressure|hypertension|low blood pressure|arthritis|epilepsy|migraines?|"
        r"chronic fatigue syndrome|IBS|ADHD|autism|dyslexia|depression|PCOS|endometriosis|"
        r"eczema|psoriasis|hay fever|lactose intolerance|gluten intolerance|anaemia|anemia|"
        r"osteoporosis|tinnitus|"
        r"glaucoma|cataracts|sciatica|scoliosis|fibromyalgia|gout|(?:(?:breast|lung|skin|bowel|"
        r"prostate) )?cancer|"
        r"Parkinson's|multiple sclerosis|sleep apno?ea|vertigo|hypothyroidism|long covid)"
    ),
    "pastimes": (
        r"(?:(?:rock )?climbing|bouldering|yoga|pilates|running|jogging|swimming|cycling|knitting|"
        r"crochet|pottery|"
        r"ceramics|painting|drawing|photography|karate|judo|boxing|kickboxing|fencing|rowing|sailing|"
        r"surfing|"
        r"skiing|snowboarding|skating|dancing|salsa|tango|ballet|gardening|birdwatching|fishing|archery|"
        r"weightlifting|crossfit|spinning|spin|hiking|horse riding|woodworking|embroidery|sewing|"
        r"chess|tennis|"
        r"badminton|squash|golf|football|volleyball|basketball|rugby|cricket|hockey)"
    ),
    "looks": (
        r"(?:used|second-hand|secondhand|new|brand-new|old|little|small|big|blue|red|white|black|grey|"
        r"gray|"
        r"green|silver)"
    ),
    "goods": (
        r"(?:[a-z]+ )?(?:(?:{makes})(?: [A-Z][\w-]*)?(?: (?:van|estate))?|car|van|campervan|motorbike|"
        r"motorcycle|"
        r"scooter|e-bike|bike|bicycle|boat|caravan|truck|tractor|piano|cello|violin|telescope|house|flat|"
        r"apartment|cottage|laptop)"
    ),
    "makes": (
        r"(?i:Golf|Polo|Passat|Tiguan|VW|Volkswagen|Skoda|Škoda|Seat|Audi|BMW|Mercedes|Opel|Vauxhall|"
        r"Corsa|Astra|Ford|"
        r"Fiesta|Focus|Toyota|Corolla|Yaris|Prius|Honda|Civic|Nissan|Micra|Leaf|Mazda|Kia|Hyundai|"
        r"Renault|Clio|"
        r"Peugeot|Citroën|Citroen|Berlingo|Dacia|Fiat|Panda|Volvo|Saab|Subaru|Suzuki|Tesla|Jeep|Land "
        r"Rover|"
        r"Mini|Tacoma|Silverado|Chevy|Chevrolet|Lexus|Porsche|Vespa|Yamaha|Kawasaki|Pixel|Galaxy|"
        r"Samsung|Fairphone|"
        r"Huawei|Xiaomi|Motorola|MacBook|ThinkPad|Kindle|Brompton|e-Up)"
    ),
    "folk": (
        r"guy|man|woman|girl|boy|lady|bloke|lad|person|flatmates|roommates|housemates|"
        r"kids?|child|children|baby|twins|ex|clients?|customers?|team|crew|"
        r"parents|in-laws|someone|somebody|anyone|everyone|everybody|nobody|people|couple|family"
    ),
    "instruments": (
        r"piano|guitar|violin|viola|cello|flute|drums|trumpet|trombone|saxophone|clarinet|oboe|"
        r"harp|accordion|organ|bass|ukulele|banjo|mandolin"
    ),
    "charges": (
        r"(?:head of {departments}|team leader|team lead|(?:shift )?supervisor|foreman|"
        r"superintendent|deputy head|headmistress|headmaster|head teacher|sous chef|sous|(?:store|branch|"
        r"office|line|account) manager|managing director)"
    ),
}
"""Parts of patterns, by name."""
