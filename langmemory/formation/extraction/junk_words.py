"""What junk looks like in one human language, as plain data.

Regular expressions over text in its own case, matched without regard to case. A new language is one
more `JunkWords` in `JUNK_WORDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class JunkWords:
    """Patterns of one language."""

    small_talk: tuple[str, ...]
    """Phrases; a text made of nothing else says nothing."""
    dangling: tuple[str, ...]
    """Beginnings that leave open who or what is meant."""
    clock: tuple[str, ...]
    """Beginnings of "it is …" before a time or date of the moment."""
    clock_words: str
    """Words that times of the moment are made of, besides numbers, months and weekdays."""
    meta: tuple[str, ...]
    """Beginnings of sentences about the conversation instead of the world."""
    assistant: str
    """What an assistant is called that has no name."""


_EN_AGENT = r"(?:the )?(?:user|human|customer|assistant|ai|bot|chatbot|model)"
_DE_AGENT = r"(?:(?:der|die|das) )?(?:nutzer(?:in)?|benutzer(?:in)?|anwender(?:in)?|assistent(?:in)?|ki|user)"
_ES_AGENT = r"(?:(?:el|la) )?(?:usuari[oa]|asistente|ia|bot)"

JUNK_WORDS: Mapping[str, JunkWords] = {
    "en": JunkWords(
        assistant=r"(?:the )?(?:ai )?assistant",
        small_talk=(
            "hi+", "hello", "hey+", "hiya", "howdy", "greetings", "welcome",
            "good (?:morning|afternoon|evening|night|day)", "morning", "(?:good)?bye(?: bye)?",
            "see (?:you|ya)(?: later| soon| tomorrow| around)?", "take care", "cheers", "thx",
            "(?:many )?thanks?(?: you)?(?: so| very)?(?: much| a lot)?(?: for your help)?",
            "you(?:['’]?re| are) (?:very |most )?welcome", "my pleasure",
            "how (?:are|r) (?:you|u)(?: doing)?(?: today)?", "how(?:['’]?s| is) it going",
            "what(?:['’]?s| is) up", "i(?:['’]?m| am) (?:fine|good|well|great|ok|okay)",
            "nice to (?:meet|see|hear from) you", "glad to hear(?: that| it)?",
            "have a (?:nice|good|great|lovely) (?:day|evening|weekend|night|one|time)",
            "congrats", "congratulations", "lol", "(?:ha){2,}",
            "same to you", "and you", "you too", "too", "everyone", "all", "there", "again", "and",
        ),
        dangling=(
            r"(?:i|he|she|it|they|we|you)(?:['’](?:s|m|re|ve|d|ll))?",
            "(?:my|your|his|her|its|our|their|mine|yours|hers|ours|theirs|me|him|us|them)",
            r"(?:this|that|these|those)(?:['’]s| (?:is|was|are|were|has|have|one|ones)\b)",
        ),
        clock=(
            r"it(?:['’]s| is| was)(?: now| currently| already)?",
            r"(?:the )?(?:current |local )?time (?:is|was)",
            r"(?:the )?(?:current|today['’]s) (?:date|day|time|date and time) (?:is|was)",
            r"today(?: is| was|['’]s)", r"(?:right )?now it(?:['’]s| is)",
        ),
        clock_words="""am pm a p m o clock oclock now currently already the of in on at st nd rd th noon
            midnight morning afternoon evening night half past quarter to about around almost exactly
            utc gmt cet cest est edt pst pdt and here a early late""",
        meta=(
            rf"{_EN_AGENT} (?:has |had |is |was |just |also )*(?:inquir\w+|wonder\w+|greet\w+"
            r"|thank\w*|apologi[sz]\w*|repl(?:y|ies|ied|ying)|respond\w*|answer\w*|acknowledg\w*|chat\w*"
            r"|wants? to know|wanted to know|said (?:hello|hi|hey|thanks|thank you|goodbye|bye))\b",
            rf"{_EN_AGENT} (?:has |had |is |was |just |also )*ask(?:s|ed|ing)? (?:about|what|how"
            r"|why|when|where|who|which|whether|if|for (?:help|advice|information|the|a|an|some|more)"
            r"|(?:a|some|several) |the (?:assistant|user) (?:about|what|how|why|when|where|for|whether|if))",
            r"(?:the )?(?:assistant|ai|bot|chatbot|model) (?:has |had |is |was |just |also )*"
            r"(?:explain|suggest|recommend|provid|offer|list|describ|summari[sz]|said|says|told|mention|ask|note)\w*",
            r"(?:the|this) (?:conversation|chat|dialogue|session|exchange|discussion|message) "
            r"(?:is|was|begins?|began|start|end|contain|consist|revolve|cover|ha[sd])\w*",
            r"(?:there (?:is|are|was|were) )?no (?:new |relevant |further |personal |lasting )*"
            r"(?:memor(?:y|ies)|facts?|information|details) (?:\w+ ){0,2}"
            r"(?:found|given|mentioned|shared|provided|available|stated|to)",
            r"as an? (?:ai|language model)", r"i(?:['’]?m| am) an? (?:ai|assistant|language model)",
        ),
    ),
    "de": JunkWords(
        assistant=r"(?:(?:der|die) )?(?:assistent(?:in)?|ki)",
        small_talk=(
            "hallo", "hi", "hey", "moin(?: moin)?", "servus", "grüß (?:dich|gott|euch)",
            "guten (?:morgen|tag|abend)", "gute nacht", "tschüss?", "ciao", "auf wiedersehen",
            "bis (?:bald|später|morgen|dann)", "(?:vielen |herzlichen |besten )?dank(?:e)?"
            "(?: schön| dir| ihnen| sehr)?", "danke(?:schön)?", "bitte(?: schön| sehr)?", "gern geschehen",
            "wie geht(?:['’]?s| es)?(?: dir| ihnen| euch)?", "mir geht(?:['’]?s| es) gut",
            "(?:einen )?schönen (?:tag|abend)(?: noch)?", "schönes wochenende", "mach['’]?s gut",
            "freut mich", "und dir", "zusammen", "auch", "ebenfalls", "noch",
        ),
        dangling=(
            r"(?:ich|du|er|sie|wir|ihr)", r"es(?! gibt\b| handelt\b)",
            "(?:mein|dein|sein|ihr|unser|euer)(?:e|er|en|em|es)?", "(?:mich|mir|dich|dir|ihn|ihm|uns|euch)",
            r"(?:das|dies|dieses|diese|dieser) (?:ist|war|sind|waren|hat|heißt)\b",
        ),
        clock=(
            "es (?:ist|war)(?: jetzt| gerade| schon)?", "heute ist", "(?:jetzt|gerade) ist es",
            r"(?:die )?(?:aktuelle |momentane )?(?:uhr)?zeit (?:ist|war)",
            r"(?:das )?(?:heutige |aktuelle )?datum (?:ist|lautet)", "wir haben(?: heute| jetzt)?",
        ),
        clock_words="""uhr jetzt gerade schon kurz vor nach halb viertel dreiviertel morgens vormittags
            mittags nachmittags abends nachts mittag mitternacht etwa ungefähr genau der die das den dem am um
            in ein eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf punkt""",
        meta=(
            rf"{_DE_AGENT} (?:hat )?(?:\w+ )?"
            r"(?:frag|erkundig|begrüß|grüß|bedank|dank|antworte|möchte wissen|will wissen)\w*",
            rf"{_DE_AGENT} hat\b.{{0,80}}\b(?:gefragt|begrüßt|gedankt|bedankt|geantwortet|erkundigt)\W*\Z",
            r"(?:der |die |das )?(?:assistent(?:in)?|ki|bot) (?:hat )?"
            r"(?:erklär|schl[aä]g|schlug|empf[ai]e?hl|nenn|sag|biete)\w*",
            r"(?:das|dieses) (?:gespräch|chat) (?:ist|war|beginn|begann|handel|ende)\w*",
            r"(?:es (?:gibt|gab|wurden?) )?keine (?:neuen |relevanten |weiteren )?"
            r"(?:erinnerungen|fakten|informationen|angaben)",
            "als (?:ki|sprachmodell)",
        ),
    ),
    "es": JunkWords(
        assistant=r"(?:(?:el|la) )?(?:asistente|ia)",
        small_talk=(
            "hola", "buen(?:os|as)? (?:días?|tardes|noches)", "buenas", "adiós", "chao", "chau",
            "hasta (?:luego|pronto|mañana|la vista)", "nos vemos",
            "(?:muchas |mil )?gracias(?: por (?:todo|tu ayuda))?",
            "de nada", "no hay de qué", "[¿]?(?:cómo|qué tal) (?:estás|está|están|va|te va)",
            "[¿]?qué tal", "estoy (?:muy )?bien", "mucho gusto", "encantad[oa]", "igualmente", "cuídate",
            "que tengas (?:un )?buen (?:día|fin de semana)", "y tú", "a todos", "también", "todo",
        ),
        dangling=(
            "(?:yo|él|ella|ellos|ellas|nosotr[oa]s|tú|usted(?:es)?)",
            "(?:mi|mis|tu|tus|su|sus|me|te|le|les|nos|se)",
            "nuestr[oa]s?", r"(?:esto|eso|est[ea]|es[ea]) (?:es|era|fue|está)\b",
        ),
        clock=(
            r"(?:ahora )?(?:son|es) las?", "eran las?", "hoy es", "(?:la )?hora(?: actual)? es",
            "(?:la )?fecha(?: actual| de hoy)? es", "estamos a",
        ),
        clock_words="""y de la las el del en media cuarto menos tarde mañana noche madrugada punto horas hora
            ahora mediodía medianoche a una dos tres cuatro cinco seis siete ocho nueve diez once doce""",
        meta=(
            rf"{_ES_AGENT} (?:ha |le |me |se )*"
            r"(?:pregunt|salud|agradec|respond|contest|dio las gracias|quiere saber|quería saber)\w*",
            r"(?:el |la )?(?:asistente|ia|bot) (?:ha |le )*(?:explic|suger|sugir|recom[ie]nd|dijo|ofrec)\w*",
            r"(?:la|esta) (?:conversación|charla) (?:es|fue|trata|empez|comenz|termin)\w*",
            r"no (?:hay|se (?:encontr|mencion)\w+) (?:nuev[oa]s? )?(?:recuerdos|hechos|información|datos)",
            r"como (?:una )?(?:ia\b|modelo de lenguaje)",
        ),
    ),
    "zh": JunkWords(
        assistant=r"助手|助理",
        small_talk=(
            "你好", "您好", "大家好", "嗨", "哈喽", "早", "早上好", "上午好", "下午好", "晚上好", "晚安",
            "再见", "拜拜", "回头见", "明天见", "非常感谢", "感谢", "谢谢(?:你|您|大家)?", "多谢", "不客气",
            "你好吗", "最近怎么样", "我很好", "很高兴认识(?:你|您)", "哈", "呢", "吗", "啊", "了", "也",
        ),
        dangling=(
            "我(?:们)?", "你(?:们)?", "您", "[他她它](?:们)?", "咱们?", "这(?:是|个|些)", "那(?:是|个|些)",
            "其",
        ),
        clock=(
            "(?:现在|目前|此刻)(?:的时间)?(?:是|已经是)?", "当前(?:的)?(?:时间|日期)(?:是|为)?", "时间是",
            "今天是",
        ),
        clock_words="""点 分 秒 半 上午 下午 早上 晚上 中午 凌晨 傍晚 时 整 刻 钟 年 月 日 号 星期 周 礼拜 天
            一 二 两 三 四 五 六 七 八 九 十 零""",
        meta=(
            "(?:用户|助手|助理|对方)(?:刚才|刚刚|也|曾)*"
            "(?:询?问|提问|想知道|打招呼|问候|感谢|致谢|回答|回复|解释|建议|推荐)",
            "(?:这次|本次|该)?(?:对话|谈话|聊天)(?:是|开始|结束|涉及|围绕)",
            "没有(?:新的|相关)*(?:记忆|事实|信息)",
            "作为(?:一个)?(?:ai|人工智能|语言模型)",
        ),
    ),
}  # fmt: skip
"""By language code, as in `langmemory.languages`."""
