"""Chinese, simplified and traditional. Without spaces there are no stop words but phrases."""

from __future__ import annotations

from langmemory.lexicon.language import Language, ordered, word_set

CHINESE = Language(
    code="zh",
    phrases=ordered(
        """什么时候 什麼時候 为什么 為什麼 什么 什麼 哪里 哪裡 哪儿
            哪兒 哪个 哪個 哪些 怎么样 怎麼樣 怎么 怎麼 多少 几次 幾次
            多久 是不是 有没有 有沒有 我们 我們 你们 你們 他们 他們
            她们 她們 谁 誰 吗 嗎 呢 吧 的 了 是 我 你 他 她 它
            和"""
    ),
    questions={
        "when": (r"什么时候|什麼時候|何时|何時|多久|哪一?[天年月]|几[号月点]|幾[號月點]",),
        "where": (r"哪里|哪裡|哪儿|哪兒|在哪|什么地方|什麼地方|哪个(城市|国家)|哪個(城市|國家)",),
        "who": (r"谁|誰|叫什么名字|叫什麼名字",),
        "why": (r"为什么|為什麼|为何|為何|怎么会|怎麼會",),
        "count": (r"多少|几[次个]|幾[次個]",),
        "preference": (r"喜欢|喜歡|最爱|最愛|偏好|讨厌|討厭|偏爱|偏愛",),
        "relation": (
            r"朋友|妻子|丈夫|老公|老婆|姐姐|妹妹|哥哥|弟弟|妈妈|媽媽|爸爸|儿子|兒子|女儿|女兒"
            r"|孩子|老板|老闆|同事",
        ),
        "how": (r"怎么|怎麼|如何",),
    },
    corrections=(
        r"^\W*(不对|不對|不是(?!吗|嗎)|错了|錯了|不[,，。!！]|其实|其實)",
        r"(记|記|搞|弄|说|說|理解|看)(错|錯)|(误会|誤會|误解|誤解)",
        r"我的意思是|我是(说|說)|我(从)?(没|沒)(有)?(说|說)(过|過)?",
        r"(没|沒)(有)?(用|帮助|幫助)",
    ),
    relative={
        r"今天": ("day", 0),
        r"昨天": ("day", -1),
        r"明天": ("day", 1),
        r"这周|這週|本周|本週": ("week", 0),
        r"上周|上週|上个?星期|上個星期": ("week", -1),
        r"下周|下週|下个?星期|下個星期": ("week", 1),
        r"这个月|這個月|本月": ("month", 0),
        r"上个?月|上個月": ("month", -1),
        r"下个?月|下個月": ("month", 1),
        r"今年": ("year", 0),
        r"去年": ("year", -1),
        r"明年": ("year", 1),
    },
    temporal_words=word_set("昨天 今天 明天 上周 下周 上个 下个 周末 去年 今年 明年 星期 生日"),
)
