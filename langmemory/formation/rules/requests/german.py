"""German, by first name and formally."""

from __future__ import annotations

from langmemory.formation.rules.german import LANGUAGES_SPOKEN
from langmemory.formation.rules.requests.request import Manners, request
from langmemory.languages import GERMAN as LEXICON
from langmemory.languages.language import word_set

GERMAN = Manners(
    code="de",
    for_good=(
        r"ab jetzt|ab sofort|ab heute|von (?:jetzt|nun|heute) an|in zukunft|künftig|"
        r"zukünftig|dauerhaft|nur noch|"
        r"(?:in|bei|für) (?:allen?|jeder|jedem)(?: (?:deinen?|ihren?|unseren?|künftigen?|weiteren?))* "
        r"(?:antwort(?:en)?|chats?|gespräche?n?|nachricht(?:en)?|fragen?|unterhaltungen)"
    ),
    habit=r"immer|stets|grundsätzlich|generell|jedes mal|jederzeit|standardmäßig",
    company=(
        r"ich|mein\w*|wir|unser\w*|du|dein\w*|sie|ihre?|danke|hallo|hi|hey|ok|okay|gut|super|toll|schön|"
        r"nein|ja|also|übrigens|bitte|das|es|sorry|noch|und|aber|außerdem|sonst|kurz|ein paar"
    ),
    fillers=(
        r"bitte|doch|mal|einfach|auch|dabei|danke|nur|also|mit mir|zu mir|mir|uns|gerne?|ruhig|"
        r"lieber|wirklich"
    ),
    leads=(
        r"(?:ich (?:möchte|will|wünsche mir|hätte gern|fände es gut)|mir wäre (?:es )?lieb|denke? daran|"
        r"achte darauf|achten sie darauf),? (?:dass|wenn) (?:du|sie)|"
        r"(?:du (?:sollst|sollte?st|musst)|sie (?:sollen|sollten|müssen))(?! nicht)"
    ),
    polite=r"(?:kannst|könntest|würdest|magst) du|(?:können|könnten|würden) (?:sie|wir)|wollen wir",
    tags=r"ja|ok|okay|bitte|in ordnung|einverstanden|gell|abgemacht",
    splits=r"\s*[;:()–—]\s*|\s+-+\s+|\s*,(?!\s*(?:dass|wenn (?:du|sie)|dich|mich|sich|"
    r"[\w ]{1,30} zu (?:verwenden|benutzen|nutzen))\b)\s*",
    ands=r"\s+(?:und|aber|denn|also|deshalb)\s+",
    when=r"wenn|sobald|immer wenn|jedes mal,? wenn|wann immer",
    somewhere=r"im|beim|am|(?:in|für|bei|auf|während|an) (?:de[rmn]|das|die|dies\w*|mein\w*|unser\w*|ein\w*)",
    unclear=(
        r"falls|ob|angenommen|stell dir vor|witz|scherz|haha\w*|lol|ironie|sagte?|sagten|gesagt|meinte?|"
        r"fragte?|behauptete?|schreibt|schrieb|erzählte?|angeblich|prompt|film|roman|geschichte|spiel|"
        r"dieses mal|diesmal|ausnahmsweise|heute|vorerst|bis|na toll|na super|von wegen|na klar|"
        r"er|ihn|ihm|chef|chefin"
    ),
    elsewhere=(
        r"rollenspiel\w*|tu so|wir spielen|du bist (?:jetzt |nun )?ein\w*|spiel(?:e)? (?:einen?|den|die)|"
        r"übersetz\w*|korrekturles\w*|lektorier\w*|folgende[nrs]? (?:text|satz|absatz)|(?:system)?prompt"
    ),
    tasks=(
        r"schreibe?|schreiben|verfasse|erstelle?|mach|mache|erkläre?|erklär|liste|gib|sag|sage|"
        r"beschreibe?|hilf|zeige?|finde?|nenne?|vergleiche?|plane?|empfiehl|schlag|formuliere?|kürze?|"
        r"fasse?|programmiere?|kannst du|könntest du|können sie|könnten sie|ich brauche|ich will|"
        r"ich möchte|übersetze?|antworte|nimm|verwende|benutze?"
    ),
    same={
        "emoji": "Emojis", "emojis": "Emojis", "smileys": "Emojis", "emoticons": "Emojis",
        "aufzählungspunkte": "Aufzählungen", "stichpunkte": "Aufzählungen",
        "aufzählungen": "Aufzählungen", "quellenangaben": "Quellen",
    },
    not_names=LEXICON.stop_words
    | LEXICON.temporal_words
    | frozenset(LEXICON.months)
    | word_set("morgen später städte beispiele gründe"),
    placeholders={
        "language": LANGUAGES_SPOKEN,
        "answers": r"antworten|erklärungen|nachrichten|texte",
        "your": r"(?:alle )?(?:deine|ihre|die)",
        "Name": r"(?-i:(?:(?:Herr|Frau) )?(?:Dr\.? |Prof\.? )?[A-ZÄÖÜ][\w'-]+(?: [A-ZÄÖÜ][\w'-]+)?)",
        "say": (
            r"antworte|antworten(?: sie)?|antwortest|schreibe?|schreiben(?: sie)?|schreibst|rede|"
            r"reden(?: sie)?|redest|sprich|sprechen(?: sie)?|sprichst|kommuniziere|bleib|bleibe"
        ),
        "wish": r"(?:ich (?:möchte|will|hätte gern|hätte|bevorzuge|wünsche))",
        "short": (
            r"(?:(?:möglichst|so|recht|eher) )?(?:kurz|knapp|kürzer|prägnant|kompakt)(?:e[rn]?)?"
            r"(?: und (?:knapp|bündig|prägnant)(?:e[rn]?)?)?(?: wie möglich)?"
        ),
        "long": r"(?:möglichst |sehr )?(?:ausführlich|lang|detailliert|länger|ausführlicher)(?:e[rn]?)?",
        "use": r"verwende?|verwenden sie|benutze?|benutzen sie|nutze?|nutzen sie|nimm|nehmen sie|setz",
        "useinf": r"verwenden|verwendest|benutzen|benutzt|nutzen|nutzt|einsetzen",
        "form": (
            r"emojis?|emoticons|smileys|aufzählungen|aufzählungspunkte|stichpunkte|listen|tabellen|"
            r"überschriften|markdown|fettschrift|fachbegriffe|fachwörter|fremdwörter|anglizismen|"
            r"abkürzungen|ausrufezeichen|gedankenstriche|hashtags|schimpfwörter|floskeln|füllwörter|"
            r"witze|wortspiele|smalltalk|entschuldigungen|rückfragen|nachfragen|warnhinweise"
        ),
        "part": (
            r"{form}|quellen|quellenangaben|links|beispiele|ein beispiel|typannotationen|"
            r"code-?beispiele|eine (?:kurze )?zusammenfassung|belege|fußnoten"
        ),
        "there": r"(?: in (?:deinen|ihren|den) antworten)?",
        "stop": r"hör(?:en sie)? auf|aufhören",
        "never": r"nie|niemals|nie wieder|nie mehr|niemals wieder",
        "things": r"(?!(?:.* )?(?:das|es|ihn|ihm|ihr|sie|dies\w*|so|nichts|etwas|du|er|wir)\b)"
        r"[\w-]+(?: [\w-]+){0,6}?",
        "money": r"euros?|(?:us-)?dollar|pfund|(?:schweizer )?franken|yen|chf|eur|usd",
    },
    requests=(
        request(
            r"(?:{say}) (?:wieder )?(?:auf |in )?<language>(?: wieder)?|"
            r"(?:wieder )?(?:auf |in )?<language> (?:{say})|"
            r"(?:{wish}) (?:{your} )?{answers} auf <language>",
            "{s} möchte Antworten auf {o}.", "answer_language", importance=0.9,
        ),
        request(
            r"(?:du musst|sie müssen) nicht mehr auf <language> (?:{say})",
            "{s} braucht keine Antworten auf {o} mehr.", "answer_language", lasts="always", ends=True,
        ),
        request(
            r"nenne?n?(?: sie)? mich <Name>|mich <Name> (?:nennst|nennen)|"
            r"(?:sprich|sprechen(?: sie)?) mich mit <Name> an",
            "{s} möchte {o} genannt werden.", "addressed_as", lasts="always", importance=0.9,
        ),
        request(
            r"nenne?n?(?: sie)? mich (?:nicht mehr|nie wieder|nie|niemals) <Name>|{stop},? mich "
            r"<Name> zu nennen|mich (?:nicht mehr|nie wieder|nie|niemals) <Name> nennen",
            "{s} möchte nicht {o} genannt werden.", "not_addressed_as", lasts="always",
            importance=0.8,
        ),
        request(
            r"duze?n? (?:sie )?mich|sieze?n? (?:sie )?mich nicht(?: mehr)?|{stop},? mich zu siezen|"
            r"(?:(?:du kannst|sie können) )?mich duzen|sag(?:en sie)? du|"
            r"(?:lass uns )?per du",
            "{s} möchte geduzt werden.", "address_formality", object="du", lasts="always",
            importance=0.8,
        ),
        request(
            r"sieze?n? (?:sie )?mich|duze?n? (?:sie )?mich nicht(?: mehr)?|"
            r"{stop},? mich zu duzen|mich siezen|sag(?:en sie)? sie",
            "{s} möchte gesiezt werden.", "address_formality", object="Sie", lasts="always",
            importance=0.8,
        ),
        request(
            r"meine pronomen sind (?P<object>(?:sie|er|they|dey|xier)(?:/\w+){1,2})",
            "{s} verwendet die Pronomen {o}.", "pronouns", lasts="always", importance=0.8,
        ),
        request(
            r"halte?n?(?: sie)? (?:{your}) {answers} {short}|(?:{wish}) {short} {answers}|"
            r"(?:{your}) {answers} (?:(?:sollen|sollten|müssen) {short} sein|{short} halten)",
            "{s} möchte kurze Antworten.", "answer_length", object="short", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:fasse?n?(?: sie)? (?:dich|sich) {short}|antworten?(?: sie)? {short}|halte?n?(?: sie)? es "
            r"{short}|{short} {answers}|{short} antworten|gib {short} {answers}|"
            r"(?:dich|sich) {short} fass(?:en|t))",
            "{s} möchte kurze Antworten.", "answer_length", object="short", importance=0.8,
        ),
        request(
            r"(?:halte?n?(?: sie)? (?:{your}) {answers} {long}|(?:{wish}) {long} {answers})",
            "{s} möchte ausführliche Antworten.", "answer_length", object="detailed",
            lasts="if alone", importance=0.8,
        ),
        request(
            r"(?:antworten?(?: sie)? {long}|gib {long} {answers}|{long} {answers}|erkläre? alles {long})",
            "{s} möchte ausführliche Antworten.", "answer_length", object="detailed", importance=0.8,
        ),
        request(
            r"(?:du (?:musst|brauchst)|sie (?:müssen|brauchen)) (?:(?:dich|sich|{your} {answers}) )?nicht "
            r"mehr (?:so )?{short} (?:zu )?(?:fassen|halten|antworten)",
            "{s} braucht keine kurzen Antworten mehr.", "answer_length", object="short",
            lasts="always", ends=True,
        ),
        request(
            r"(?:{use}|rechne in|rechnen sie in|bleib bei) metrischen? (?:einheiten|maßeinheiten|maße|"
            r"angaben){there}",
            "{s} möchte metrische Einheiten.", "answer_units", object="metric", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:{use}|rechne in|rechnen sie in) (?:imperialen?|angloamerikanischen?) (?:einheiten|"
            r"maßeinheiten|maße|angaben){there}",
            "{s} möchte imperiale Einheiten.", "answer_units", object="imperial", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:gib|geben sie|nenne?|zeige?) (?:alle |die )?preise in <money>(?: an)?|"
            r"(?:alle |die )?preise in <money> (?:angeben|nennen)",
            "{s} möchte Preise in {o}.", "answer_currency",
        ),
        request(
            r"(?:du (?:darfst|kannst)|sie (?:dürfen|können)) (?:jetzt )?wieder <form> {useinf}|"
            r"<form> sind (?:jetzt )?wieder (?:ok|okay|erlaubt|in ordnung)",
            "{s} erlaubt {o} wieder.", "answers_with", lasts="always", importance=0.4,
        ),
        request(
            r"(?:{use}) (?:keine?n?|(?:{never})(?: irgendwelche)?) <form>(?: mehr)?{there}|"
            r"{stop},? (?:so viele )?<form> zu {useinf}",
            "{s} möchte Antworten ohne {o}.", "answers_without", lasts="if alone",
        ),
        request(
            r"keine <form>{there}(?: {useinf})?|lass(?:en sie)? (?:die )?<form> weg|"
            r"verzichten?(?: sie)? auf <form>|antworten?(?: sie)? ohne <form>",
            "{s} möchte Antworten ohne {o}.", "answers_without",
        ),
        request(
            r"keine <form> mehr{there}(?: {useinf})?",
            "{s} möchte Antworten ohne {o}.", "answers_without", lasts="if alone",
        ),
        request(
            r"(?:{never}) <form>{there}(?: {useinf})?",
            "{s} möchte Antworten ohne {o}.", "answers_without", lasts="always",
        ),
        request(
            r"{stop},? (?:dich|sich) (?:(?:ständig|dauernd|andauernd) )?zu entschuldigen|"
            r"entschuldigen? (?:sie )?(?:dich|sich) nicht (?:ständig|dauernd|andauernd)",
            "{s} möchte Antworten ohne Entschuldigungen.", "answers_without",
            object="Entschuldigungen", lasts="always",
        ),
        request(
            r"(?:schlage?n?(?: sie)?) (?:{never}) <things> vor|(?:empfiehl|empfehlen sie) (?:{never}) "
            r"<things>|schlage?n?(?: sie)? (?:keinen? )<things> mehr vor|"
            r"(?:empfiehl|empfehlen sie) keinen? <things> mehr",
            "{s} möchte keine Vorschläge dieser Art: {o}.", "answers_without", lasts="always",
            importance=0.8,
        ),
        request(
            r"(?:nenne?|gib|zeige?|füge?|ergänze?|schreibe?|verwende?|benutze?|nutze?|zitiere?)(?: sie)?"
            r"(?: deine| die| ihre)? <part>(?: an| hinzu| dazu| ein)?{there}",
            "{s} möchte Antworten mit {o}.", "answers_with",
        ),
        request(
            r"(?:sei|seien sie) (?:etwas |ganz |sehr )?(?P<object>direkt|ehrlich|offen|förmlich|formell|"
            r"locker|freundlich|höflich|geduldig|kritisch|streng|witzig|direkter|lockerer|ehrlicher|"
            r"förmlicher|kritischer)",
            "{s} wünscht sich den Ton der Antworten so: {o}.", "answer_tone",
        ),
    ),
)  # fmt: skip
