"""The words the benchmark's sentences are made of: lists of plain English and invented names.

Nothing here comes from a data set. Syllables make thousands of rare family, shop and project
names, so that document frequencies have the long tail real conversations have.
"""

# ruff: noqa: SIM905  (a list of three hundred quoted words is not easier to read)
from __future__ import annotations

GIVEN = """Ada Adil Agnes Aiko Alba Alma Amara Amir Anders Anika Anouk Arjun Astrid Aylin Bao Bela
Bianca Boris Brigid Bruno Caleb Camila Carlos Cato Celine Chen Chiara Clara Cyrus Dalia Dana Darius
Deniz Diego Dora Edda Efe Eirik Elena Elias Elif Emeka Emil Enzo Esther Fabio Farah Fatou Felix
Fiona Freya Gael Gemma Georg Greta Hana Haruki Hassan Heidi Hugo Ida Ikram Ilse Imani Ines Ingrid
Isaac Ivana Jamal Jana Javier Joaquin Jonas Jun Kamila Karim Kenji Kiran Klara Kofi Lars Leila Lena
Liang Lina Livia Louis Luca Lucia Magnus Maja Malik Marek Maren Mateo Maya Mei Mila Mina Mira Moritz
Nadia Naomi Nico Nilufar Nina Noor Nora Oda Olga Omar Oscar Pablo Paula Pavel Petra Priya Quentin
Rafael Ravi Rosa Ruben Ruth Sakura Salma Samir Sara Selma Sigrid Simone Sofia Stefan Sunita Tariq
Tessa Theo Thandi Tilda Tomas Ulla Valeria Victor Vikram Wanda Willem Xenia Yara Yusuf Zara Zeno
Zofia""".split()

SYLLABLES = """ba ber bor cal dan del dor eck fal fen gar gold gre hal han hel holm jan kal kar kel
kin kov lan lar len lin lund mar mel mer mon nak nor ols or pal per quin ran reed ros sal sam sen
sol stein ström tal tan tor val van ver vik wal wen wick win zan zel""".split()

PLACES = """Aarhus Accra Antwerp Athens Bergen Bilbao Bogota Bologna Bristol Brno Busan Cardiff Cork
Cusco Dakar Delft Dresden Dublin Essaouira Fez Florence Galway Gdansk Geneva Ghent Girona Graz
Hanoi Helsinki Hobart Innsbruck Izmir Jaipur Kigali Kyoto Lagos Leeds Leiden Lima Lisbon Ljubljana
Lviv Lyon Malmo Mombasa Montreal Nagoya Nairobi Naples Odense Oslo Oaxaca Palermo Perth Porto
Prague Quito Reykjavik Riga Rotterdam Salzburg Sapporo Seville Sofia Tallinn Tampere Tbilisi
Trieste Tromso Turin Utrecht Valencia Valparaiso Vilnius Wellington Yerevan Zadar Zurich""".split()

THINGS = """accordion allotment anchor antique apartment aquarium armchair audiobook backpack bakery
balcony bassoon bathtub beehive bicycle binoculars birdhouse blanket blender boat boiler bookcase
boots bracelet bread briefcase broadband camera candle canoe caravan carpet cello chainsaw
chandelier chessboard clarinet clock coat coffee compass compost concert cottage couch curtain
dentist desk diary dishwasher documentary drill drone drum dryer easel embroidery engine
espresso exhibition fence ferry fireplace fishing flute freezer fridge furnace garage garden
generator ginger glacier glasses gloves greenhouse guitar hammock harbour harp hedge helmet hiking
honey houseboat insurance jacket jigsaw kayak kettle keyboard kiln kimono kitchen kitten ladder lamp
lantern laptop lasagne lathe lavender library loom luggage mandolin map marathon marmalade
mattress medication microscope mirror mortgage motorbike mushroom necklace novel oboe orchard
orchid oven paddle painting parrot passport pension photograph piano pillow pottery printer
projector pumpkin puppy quilt rabbit radiator radio raincoat recipe rucksack saddle sailboat
sandals saxophone scarf scooter sculpture seedlings sewing shed shelf sketchbook skis sledge sofa
sourdough spectacles staircase stamp stove suitcase sunflower surfboard sweater swimming synth
tablecloth tapestry telescope tent terrarium thermostat timetable toaster toolbox tractor trailer
trombone trumpet turntable typewriter ukulele umbrella unicycle vaccine vase vegetable veranda
vinyl viola violin visa waffle wallet wallpaper wardrobe watch waterfall wheelbarrow windmill
wine workshop wreath xylophone yacht yoga zither""".split()

TRAITS = """amber antique battered blue borrowed brass broken bright broad brown ceramic cheap
copper cracked crimson dusty early electric emerald expensive faded fancy folding fragile freshly
glass green grey handmade heavy indigo inherited ivory large leather light linen local loud maroon
mismatched modern narrow noisy oak old olive orange oversized pale patched pink plain portable
purple quiet rare red refurbished round rusty scarlet second-hand shiny silver slow small soft solar
spare square striped tall teal tiny turquoise two-storey used vintage violet waterproof white
wicker wide wooden woollen yellow""".split()

JOBS = """accountant acupuncturist animator archivist architect baker barista beekeeper biologist
bookbinder botanist carpenter cartographer chef chemist choreographer conductor curator dentist
dermatologist diver economist editor electrician engineer farmer firefighter florist geologist
glazier goldsmith illustrator interpreter jeweller journalist judge lawyer librarian locksmith
luthier mechanic midwife miner musician neurologist notary nurse optician painter paramedic
pharmacist photographer physicist physiotherapist pilot plumber postman potter programmer
psychologist radiologist ranger referee sailor sculptor shepherd singer surgeon surveyor tailor
teacher translator upholsterer vet violinist waiter watchmaker weaver welder zoologist""".split()

MONTHS = """January February March April May June July August September October November
December""".split()

WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

FEELINGS = """annoyed anxious ashamed calm cheerful confident curious delighted disappointed
embarrassed excited exhausted frustrated grateful homesick hopeful impatient jealous lonely moved
nervous nostalgic optimistic overwhelmed proud puzzled relaxed relieved restless sad sceptical
shocked surprised thrilled tired uneasy worried""".split()
