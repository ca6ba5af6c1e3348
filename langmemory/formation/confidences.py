"""Confidences: what somebody says for their own ears only, by rule.

Asked for outright in English, German, Spanish and Chinese; else what is told of one's health or money, and
surprises for others. Where a rule errs, a memory is private that need not be; its run can be undone.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Confidence = Literal["request", "surprise", "health", "money"]
"""Why something is private: the speaker asked for it, or what it is about."""

_ANYONE: Final = (
    r"(?:any(?:one|body)|no(?:body| ?one)|others|people|a soul|(?:my|our|the) \w+|him|her|them|"
    r"[A-Z]\w+)"
)
_NIEMAND: Final = (
    r"(?:niemand(?:em|en)?|keine[mnr]\w*|andere[nmr]?|jemand(?:em)?|weiter|"
    r"(?:mein|unser)e?[mnr]? \w+|ihm|ihr|ihnen|[A-ZÄÖÜ]\w+)"
)
_ASKED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # English
        r"(?i:\bkeep (?:this|that|it|these|those|what i \w+|all this)(?: \w+){0,3}? "
        r"(?:to yourself|secret|private|confidential|quiet|hush|between (?:us|ourselves|you)|under wraps|"
        r"a secret)\b)",
        r"(?i:\bkeep (?:a|my|our|the) secret\b|\b(?:just|strictly|only|stays?|remains?|keep (?:it|this)) "
        r"between (?:us|you and me|ourselves|the two of us)\b|\bbetween (?:you and me|ourselves)\b|"
        r"(?:^|[.!?;:,] ?)between us\s*[,:.!]|\bbetween us (?:please|only|two)\b)",
        rf"(?i:\b(?:don'?t|do not|never|not to|mustn'?t|must not|please not) (?:ever |please |"
        rf"you )?(?:tell|inform)) "
        rf"(?!me\b|us\b|you\b){_ANYONE}\b(?! (?:what to|how to|a joke|jokes))",
        r"(?i:\b(?:don'?t|do not|never|not to|mustn'?t|must not) (?:ever |please |you )?"
        rf"(?:mention|share|say|repeat|show|reveal|spread|breathe)\b[^.!?]{{0,30}}? (?:to|with)) (?!me\b|"
        rf"us\b){_ANYONE}\b",
        rf"(?i:\b(?:don'?t|do not|never) let) (?!me\b|us\b|it\b){_ANYONE} (?i:know|find out|see|hear)\b",
        r"(?i:\b(?:tell no ?(?:one|body)|no ?(?:one|body)(?: else)? (?:knows|(?:may|must|should|can|"
        r"is to|needs to) "
        r"(?:know|hear|find out))|not a word to|i have(?:n'?t| not) told any(?:one|body)|"
        r"i told no ?(?:one|body))\b)",
        r"(?i:\b(?:this|that|it|which)(?:'s| is| stays| must stay| should stay) (?:strictly |very |"
        r"still |a )*"
        r"(?:secret|confidential|private|off the record|in confidence|for your ears only)\b)",
        r"(?i:\b(?:off the record|in (?:strict |strictest )?confidence|for your ears only|"
        r"mum'?s the word|confidentially)\b"
        r"(?! (?:that|in)\b))",
        # German
        r"(?i:\bbehalte? (?:das|es|dies|diese\w*|alles)(?: \w+){0,3}? (?:für dich|geheim|unter uns)\b|"
        r"\bbehalten sie (?:das|es|dies)(?: \w+){0,3}? (?:für sich|geheim)\b)",
        r"(?i:\b(?:nur|strikt|streng|bleibt|bleiben)(?: \w+){0,2}? unter uns\b|(?:^|"
        r"[.!?;:,] ?)unter uns(?: gesagt)?\s*[,:.!]|"
        r"\bunter (?:vier augen|uns gesagt)\b|\bim vertrauen\b(?! (?:auf|darauf|in)\b)|"
        r"\bganz vertraulich\b)",
        rf"(?i:\b(?:sage?|erzähle?|verrate?|sagen sie|erzählen sie|verraten sie)(?: (?:das|es|dies|davon|"
        rf"bitte|aber|ja|ihm|noch))*) (?!mir\b|uns\b){_NIEMAND}(?i:[^.!?]{{0,25}}?\b(?:nichts?|kein wort|"
        rf"davon|weiter)|\b(?<=niemandem)|\b(?<=niemand)|\b(?<=keinem)|\b(?<=weiter))",
        r"(?i:\b(?:das|es|dies)(?: \w+)? (?:ist|bleibt|muss|soll)(?: \w+){0,2}? (?:ein geheimnis|geheim|"
        r"vertraulich|privat(?=\s*[.,!;:]|\s*$))|"
        r"\b(?:niemand|keiner) (?:darf|soll|weiß|sollte)(?: \w+){0,3}? (?:wissen|erfahren|davon)\b|"
        r"\bkein wort (?:zu|darüber|davon)\b)",
        r"(?i:\b(?:erzähl|sag|gib|plauder)\w*\b[^.!?]{0,30}\bnicht weiter\b)",
        # Spanish
        r"(?i:\b(?:que )?(?:quede|queda|quedar|solo|sólo|esto es)(?: \w+)? entre (?:nosotros|nosotras|"
        r"tú y yo|tu y yo|nos)\b|"
        r"(?:^|[.!?;:,¡¿] ?)entre (?:nosotros|nosotras|tú y yo|tu y yo)\s*[,:.!])",
        r"(?i:\bno (?:se )?l[oae]s?(?: l[oa])? (?:digas|cuentes|menciones|comentes|diga|cuente)\b|"
        r"\bno (?:le |les )?(?:digas|cuentes|menciones|comentes)(?: \w+){0,2}? (?:a nadie|nada a)\b|"
        r"\bguárda(?:lo|la|telo|tela|me el secreto|me un secreto)\b|"
        r"\bguarda (?:el|este|mi) secreto\b)",
        r"(?i:\b(?:es|sea|como) (?:un )?(?:secreto|confidencial|privado)\b|\ben confianza\s*[,:]|"
        r"\bnadie (?:más )?(?:lo )?(?:sabe|debe saber|puede saber|se entere)\b|\bque no se entere\b)",
        # Chinese
        r"(?:别|不要|不许|不能|千万别|请勿)(?:把\S{0,8})?(?:告诉|跟|和|对|让)(?!我|我们)\S{1,8}?(?:说|知道|讲|提|。|！|$|[，,])"
        r"|(?:别|不要)(?:告诉|说给)(?:别人|任何人|其他人|她|他|大家)|(?:别|不要)说出去|(?:请|要|帮我|替我|得)?保密|保守秘密|谁也别(?:说|告诉)|"
        r"(?:只有|就|只)(?:你我|我们|咱们|咱俩)(?:俩|两个|两个人|之间)?(?:人)?知道|(?:是|个|我的|我们的|咱们的|你我的)秘密|你我之间|不要外传|别外传",
    )
)
_ME: Final = re.compile(
    r"(?i:\b(?:i|i'm|i've|i'd|me|my|we|we're|our|us|ich|mein\w*|mir|mich|wir|unser\w*|uns|yo|mi|mis|me|"
    r"nos|nuestr\w+|"
    r"he|hemos|tengo|tenemos|estoy|estamos|soy|gano|debo|cobro|compré|voy|vamos|quiero|planeo|padezco|"
    r"sufro|tomo)\b)|我|咱"
)
_SURPRISE: Final = re.compile(
    r"(?i:\bsurprise (?:party|visit|trip|dinner|birthday|proposal|gift|present|weekend|holiday|"
    r"baby shower)\b|"
    r"\b(?:as|is|be|plan(?:ning)?|prepar\w+|organi[sz]\w+) (?:a |our |my )?surprise\b|\bit'?s a surprise\b|"
    r"\b(?:to|will|want to|gonna|we'll|i'll) surprise (?:him|her|them|my|our|\w+)\b|\bsurprising (?:him|"
    r"her|them|my|our) (?:with|for)\b|"
    r"\b(?:i|we|i'm|i've|we're|we've)\b[^.!?]{0,40}\b(?:buy|buying|bought|get|getting|got|order\w*|give|"
    r"giving|make|making|made|knit\w*|"
    r"hid|hidden|hiding|wrap\w*|plan\w*|looking for|need|found|find)\b(?! me\b)[^.!?]{0,60}\b(?:gift|"
    r"present|for (?:his|her|their|\w+['’]s|my \w+['’]s) "
    r"(?:\w+ )?(?:birthday|anniversary|graduation|wedding|christmas)|for christmas|for (?:his|her|their|"
    r"our) anniversary)\b|"
    r"\b(?:i|i'm|i've)\b[^.!?]{0,30}\b(?:propose|proposing) to\b|\bengagement ring\b|"
    r"\büberraschungs?\w*\b|\b(?:überrasche\w*|überraschen)\b|\bals überraschung\b|\b(?:geburtstags|"
    r"weihnachts)?geschenk\w* für\b|"
    r"\bschenke\w* (?:ich|wir)\b|\b(?:ich|wir) schenken?\b|\bheiratsantrag\b|\bverlobungsring\b|"
    r"\bfiesta sorpresa\b|\b(?:una|de|como|la) sorpresa\b|\bsorprender(?:la|lo|les|los|las)?\b|"
    r"\bregalo (?:para|de cumpleaños)\b|"
    r"\bregalar(?:le|les)\b|\ble (?:voy a|vamos a) (?:regalar|comprar)\b|\bpedirle matrimonio\b|"
    r"\banillo de compromiso\b)|"
    r"惊喜|给\S{1,6}(?:买|准备|订)了?\S{0,12}(?:礼物|生日)|(?:生日|圣诞)礼物|求婚|婚戒"
)
_HEALTH: Final = re.compile(
    r"(?i:\b(?:diagnos\w+|depress(?:ed|ion|ive)|anxiety disorder|panic attacks?|bipolar|schizophreni\w+|"
    r"ptsd|eating disorder|anorexi\w+|bulimi\w+|"
    r"psychiatr\w+|psychotherap\w+|in therapy|my therapist|therapy session|antidepressants?|chemo\w*|"
    r"cancer|tumou?r|biopsy|leuk(?:a)?emia|hiv|aids|"
    r"std|sti|herpes|hepatitis|diabet\w+|epilep\w+|multiple sclerosis|parkinson\w*|alzheimer\w*|dementia|"
    r"pregnan\w+|miscarriage|miscarried|"
    r"abortion|ivf|infertil\w+|menopause|addict(?:ed|ion)|alcoholic|rehab|relapsed?|overdos\w+|suicid\w+|"
    r"self-harm|burn-?out|hysterectomy|"
    r"vasectomy|colonoscopy|my (?:blood (?:pressure|test|sugar)|prescription|medication|meds|"
    r"cardiologist|oncologist|gyn(?:a)?ecologist|psychologist)|"
    r"test(?:ed)? (?:came back )?positive|heart (?:attack|disease|surgery|condition)|kidney (?:stones?|"
    r"failure|disease)|surgery|"
    r"diagnos\w*|depression\w*|depressiv|panikattacken?|angststörung|krebs|tumor|chemo(?:therapie)?|"
    r"schwanger(?:schaft)?|fehlgeburt|"
    r"abtreibung|süchtig|alkoholiker(?:in)?|entzug|selbstmord\w*|suizid\w*|magersucht|essstörung|"
    r"psychiater(?:in)?|(?:in|eine) (?:psycho)?therapie|"
    r"therapeut(?:in)?|zucker(?:krank|krankheit)|herzinfarkt|blutdruck|meine medikamente|operiert|"
    r"diagnosticar\w*|diagnosticad\w+|diagnóstico|depresi(?:ón|va|vo)|deprimid\w+|ansiedad|"
    r"ataques? de pánico|cáncer|quimioterapia|embarazad\w+|embarazo|"
    r"aborto|adict\w+|alcohólic\w+|rehabilitación|suicid\w+|anorexia|psiquiatra|psicólog\w+|terapeuta|"
    r"en terapia|vih|sida|infarto|operaron|cirugía)\b)|"
    r"确诊|抑郁|焦虑症|癌|肿瘤|化疗|怀孕|流产|堕胎|艾滋|糖尿病|癫痫|自杀|心理医生|精神科|吸毒|酗酒|高血压|心脏病|手术"
)
_MONEY: Final = re.compile(
    r"(?i:\b(?:my|our) (?:salary|wages?|income|pay(?:check|slip|rise)?|bonus|debts?|loans?|mortgage|"
    r"savings|bank (?:account|balance)|credit (?:score|rating|card debt)|"
    r"overdraft|inheritance|pension|net worth|tax (?:debt|return|bill)|alimony|finances)\b|\b(?:i|"
    r"we)(?:'m|'re| am| are| was| were)? (?:in debt|broke|bankrupt|overdrawn|insolvent)\b|"
    r"\b(?:i|we) (?:earn|make|owe|inherited|won|saved up|get paid|borrowed|lost)\b[^.!?]{0,25}?(?:[$€£¥]|"
    r"\d[\d.,]*\s?(?:k\b|thousand|million|dollars|euros|pounds|bucks))|"
    r"\b(?:i|we) (?:earn|owe|inherited)\b[^.!?]{0,20}\d|\b(?:took out|pay(?:ing)? off) (?:a|my|our|"
    r"the) (?:loan|mortgage|debt)|\bfiled for bankruptcy|\bpay (?:rise|cut)\b|"
    r"\b(?:mein|unser)e?[mnrs]? (?:gehalt|lohn|einkommen|schulden|kredit\w*|konto(?:stand)?|"
    r"ersparniss?e?n?|hypothek|erbe|erbschaft|rente|bonus)\b|"
    r"\b(?:ich|wir) (?:verdienen?|schulden?|habe?n?[^.!?]{0,20} schulden|habe?n?[^.!?]{0,25} geerbt|"
    r"sind? (?:pleite|verschuldet|insolvent)|bin (?:pleite|verschuldet|insolvent))\b|"
    r"\b(?:mi|nuestro|nuestra|mis|nuestras) (?:sueldo|salario|nómina|ingresos|deudas?|préstamo|hipoteca|"
    r"ahorros|cuenta bancaria|herencia|pensión)\b|"
    r"\b(?:gano|ganamos|cobro|debo|debemos|heredé|heredamos)\b[^.!?]{0,20}\d|\b(?:tengo|tenemos|estoy|"
    r"estamos)[^.!?]{0,20} (?:deudas|endeudad\w+|en bancarrota)\b)|"
    r"我的?(?:工资|薪水|收入|存款|贷款|房贷|债|年薪|月薪|奖金)|(?:我|我们)(?:欠|负债|破产|年薪|月薪|月入|赚)|欠了?\S{0,4}\d"
)
_SENTENCES: Final = re.compile(r"(?<=[.!?。！？\n])\s*")
_LITTLE: Final = 4
"""So many words beside a request say nothing of their own: it means what was said before."""


def confidence_of(text: str) -> Confidence | None:
    """Return why a text is its speaker's alone; None where it is not."""
    if any(pattern.search(text) for pattern in _ASKED):
        return "request"
    for sentence in filter(None, _SENTENCES.split(text)):
        if not _ME.search(sentence):
            continue
        if _SURPRISE.search(sentence):
            return "surprise"
        if _HEALTH.search(sentence):
            return "health"
        if _MONEY.search(sentence):
            return "money"
    return None


def means_before(text: str) -> bool:
    """Whether a request is for what was said before it: the text says nothing beside it."""
    for pattern in _ASKED:
        text = pattern.sub(" ", text)
    return len(re.findall(r"[^\W\d_]+|\d+", text)) < _LITTLE
