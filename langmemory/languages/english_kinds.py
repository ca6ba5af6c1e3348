"""English words for kinds of things, each with things of that kind.

"Which cities has she seen?" is answered by "I flew to Rome": no word in common, and no static
vector that knows enough geography. Everyday kinds only, from general knowledge; a member that means
many other things ("turkey", "light") does more harm than good and is left out.
"""

from __future__ import annotations

from langmemory.languages.language import kinds

ENGLISH_KINDS = kinds(
    # People and what they are to each other.
    (
        "family relative relatives",
        "mother father mom mum dad parents sister brother son daughter kids child children wife "
        "husband aunt uncle cousin niece nephew grandma grandpa grandmother grandfather",
    ),
    ("child children kid kids", "son daughter baby toddler boy girl twins newborn"),
    ("parent parents", "mother father mom mum dad mommy daddy"),
    ("sibling siblings", "sister brother twin"),
    ("spouse partner", "wife husband fiancé girlfriend boyfriend married"),
    ("colleague colleagues coworker coworkers", "boss manager teammate office"),
    ("friend friends", "buddy buddies pal pals mate bestie friendship"),
    (
        "relationship marital romantic",
        "single married divorced divorce dating engaged widowed breakup boyfriend girlfriend "
        "husband wife partner spouse fiancé",
    ),
    ("identity gender", "woman man female male transgender nonbinary gay lesbian queer bisexual"),
    (
        "job jobs career careers profession occupation work employment",
        "teacher nurse doctor engineer lawyer chef waiter waitress manager driver accountant "
        "programmer developer designer artist writer journalist counselor therapist salesman "
        "cashier barista intern banker hired fired promoted promotion salary",
    ),
    (
        "education degree study studies field fields subject subjects major",
        "university college school course class bachelor master phd diploma graduate graduated "
        "graduation certificate exam psychology biology engineering economics law medicine history",
    ),
    # Places and going there.
    (
        "country countries nation abroad",
        "america england france germany italy spain portugal greece ireland scotland sweden norway "
        "denmark finland netherlands belgium switzerland austria poland russia china japan korea "
        "india thailand vietnam indonesia philippines australia canada mexico brazil argentina "
        "chile peru colombia egypt morocco kenya nigeria israel iran britain",
    ),
    (
        "european europe",
        "england france germany italy spain portugal greece ireland scotland sweden norway denmark "
        "finland netherlands belgium switzerland austria poland hungary croatia london paris rome "
        "berlin madrid barcelona vienna prague lisbon amsterdam",
    ),
    (
        "asian asia",
        "china japan korea india thailand vietnam indonesia malaysia singapore philippines taiwan "
        "tokyo beijing shanghai bangkok seoul delhi mumbai bali",
    ),
    (
        "city cities town towns",
        "london paris rome berlin madrid barcelona vienna prague lisbon amsterdam dublin athens "
        "istanbul moscow tokyo beijing shanghai bangkok singapore seoul delhi mumbai sydney "
        "melbourne toronto vancouver montreal chicago boston seattle portland denver dallas "
        "houston austin miami atlanta philadelphia detroit york angeles francisco vegas",
    ),
    (
        "state states area areas region regions",
        "california texas florida oregon washington nevada arizona colorado utah montana "
        "minnesota wisconsin michigan illinois ohio pennsylvania virginia carolina georgia alabama "
        "tennessee kentucky louisiana massachusetts connecticut vermont maine jersey hawaii alaska "
        "coast northwest southwest northeast midwest",
    ),
    (
        "place places location locations visited visit travel traveled vacation trip "
        "trips holiday holidays destination",
        "beach mountains island lake city museum park hotel resort cruise flight flew airport tour "
        "abroad country coast camping visited travelled trip vacation",
    ),
    (
        "home house live lives living accommodation",
        "apartment flat house condo cottage farm neighborhood moved rent mortgage roommate "
        "landlord",
    ),
    # What people do.
    (
        "activity activities hobby hobbies pastime pastimes interest interests fun leisure",
        "painting drawing pottery reading writing knitting sewing gardening cooking baking "
        "photography fishing hiking camping swimming running cycling biking climbing skiing surfing "
        "sailing yoga dancing singing guitar piano violin chess gaming puzzles museum concert "
        "picnic bowling tennis football basketball golf volunteering",
    ),
    (
        "outdoor outdoors nature",
        "hiking hike camping camped fishing kayaking canoeing climbing mountaineering skiing "
        "surfing cycling biking trail forest lake river mountain beach park picnic",
    ),
    (
        "sport sports athletic athletics",
        "football soccer basketball baseball hockey tennis golf volleyball rugby cricket swimming "
        "running marathon cycling skiing snowboarding surfing skating boxing wrestling climbing "
        "badminton gymnastics",
    ),
    (
        "exercise exercises exercising workout workouts fitness",
        "gym yoga pilates running jogging cycling swimming aerobics weights lifting boxing "
        "kickboxing stretching cardio marathon treadmill zumba crossfit",
    ),
    (
        "martial",
        "karate judo taekwondo kickboxing boxing aikido wrestling kung dojo fencing",
    ),
    (
        "relax relaxing relaxation unwind stress",
        "yoga meditation meditate running jogging walking swimming reading music bath massage spa "
        "nap pottery painting therapy therapeutic gardening calming",
    ),
    (
        "instrument instruments",
        "guitar piano violin cello flute clarinet saxophone trumpet drums keyboard harp ukulele "
        "bass banjo trombone oboe accordion",
    ),
    (
        "music musical musician musicians",
        "song songs band concert album singer guitar piano violin orchestra choir festival jazz "
        "rock classical pop rap opera playlist",
    ),
    (
        "art arts artwork artistic creative craft crafts",
        "painting drawing sculpture pottery sketch photography watercolor portrait mural canvas "
        "gallery ceramics collage sewing knitting origami",
    ),
    ("dance dances dancing", "ballet salsa tango hip hop waltz contemporary choreography ballroom"),
    (
        "book books read reading literature author",
        "novel novels memoir biography fantasy mystery poem poetry chapter bookstore library "
        "paperback story",
    ),
    ("writing write", "poem poetry novel blog diary journal essay screenplay article story"),
    (
        "movie movies film films show shows watch",
        "cinema documentary series comedy drama thriller horror netflix episode theater trilogy",
    ),
    (
        "game games",
        "chess poker monopoly puzzle scrabble nintendo playstation xbox videogame cards console",
    ),
    (
        "event events attended attend participate participated",
        "party wedding concert festival parade conference workshop meeting fair exhibition show "
        "fundraiser gala ceremony competition tournament race marathon march rally reunion "
        "graduation seminar auction speech",
    ),
    (
        "celebration celebrate celebrated holiday holidays",
        "christmas thanksgiving easter halloween hanukkah diwali birthday anniversary wedding "
        "party newyear parade independence",
    ),
    (
        "competition competitions contest compete",
        "tournament championship race medal trophy award prize won winner match finals",
    ),
    # What people have, eat and need.
    (
        "pet pets",
        "dog cat puppy kitten rabbit hamster parrot turtle tortoise goldfish snake lizard guinea "
        "bunny",
    ),
    (
        "animal animals wildlife",
        "dog cat horse cow pig sheep goat bird bear wolf fox deer elephant lion tiger monkey "
        "whale dolphin snake rabbit squirrel",
    ),
    (
        "food foods dish dishes cuisine meal meals eat eaten recipe",
        "pizza pasta burger sandwich salad soup rice bread cheese chicken beef fish seafood sushi "
        "curry tacos steak noodles vegetables cake pie chocolate breakfast lunch dinner barbecue",
    ),
    (
        "dessert desserts sweets baked",
        "cake pie cookies brownies ice cream pudding pastry cupcakes muffins chocolate tart "
        "cobbler donuts cheesecake",
    ),
    ("drink drinks beverage", "coffee tea beer wine juice soda cocktail smoothie whiskey lemonade"),
    ("allergy allergies allergic", "peanuts nuts gluten lactose pollen shellfish asthma hives"),
    (
        "vehicle vehicles transport transportation",
        "car truck bike bicycle motorcycle van bus train scooter boat suv",
    ),
    (
        "clothes clothing outfit wear",
        "shirt dress jeans jacket coat shoes boots hat sweater skirt suit scarf hoodie",
    ),
    (
        "jewelry jewellery accessory accessories",
        "necklace ring bracelet earrings pendant watch locket brooch",
    ),
    (
        "bought buy purchased purchase gift gifts present presents",
        "shoes dress jacket bag toy doll book watch necklace lamp mug phone laptop camera bike "
        "furniture flowers ordered shopping",
    ),
    ("toy toys", "doll teddy lego puzzle kite bear blocks"),
    (
        "device devices gadget electronics technology",
        "phone laptop computer tablet camera headphones console printer tv watch drone",
    ),
    ("furniture", "sofa couch table chair desk bed shelf lamp wardrobe bookcase rug"),
    ("plant plants flower flowers", "roses tulips sunflowers orchid herbs tomatoes cactus"),
    ("color colors colour colours", "red blue green yellow orange purple pink black white brown"),
    (
        "money financial finances finance wealth",
        "salary rent debt loan savings mortgage bills afford budget bank broke rich poor wealthy "
        "investment",
    ),
    # How people are.
    (
        "health illness sick medical condition",
        "hospital doctor surgery diagnosed disease cancer diabetes flu fever asthma pain medication "
        "therapy migraine infection",
    ),
    ("injury injuries injured hurt", "broke broken sprained twisted fracture cast bruise accident"),
    (
        "feel feels feeling feelings emotion emotions mood",
        "happy sad angry proud scared anxious nervous excited grateful lonely stressed relieved "
        "overwhelmed worried frustrated joy",
    ),
    (
        "personality trait traits character",
        "kind caring thoughtful brave honest shy funny patient generous creative passionate loyal "
        "stubborn ambitious curious calm",
    ),
    (
        "religion religious faith spiritual",
        "church mosque synagogue temple christian catholic muslim jewish buddhist hindu god prayer "
        "pray bible",
    ),
    (
        "political politics",
        "election vote candidate liberal conservative democrat republican government activist "
        "rights policy",
    ),
    (
        "military army",
        "veteran veterans soldier navy marines flag troops country serve deployed",
    ),
    (
        "charity volunteer volunteering volunteered cause causes community",
        "shelter homeless donate donated donation fundraiser foodbank charity soup kitchen "
        "orphanage mentoring veterans environment education rights nonprofit",
    ),
    (
        "damage damages disaster weather",
        "flood storm hurricane fire earthquake tornado crash accident leak snow drought",
    ),
    (
        "language languages",
        "english spanish french german italian chinese japanese portuguese arabic",
    ),
)
