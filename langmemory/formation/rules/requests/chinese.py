"""Chinese, simplified and traditional."""

from __future__ import annotations

from langmemory.formation.rules.requests.request import Manners, request
from langmemory.languages.language import word_set

CHINESE = Manners(
    code="zh",
    spaced=False,
    for_good=(
        r"以后都这样|以後都這樣|从现在(?:起|开始)|從現在(?:起|開始)|从今以后|從今以後|从今天起|從今天起|以后(?:每次)?|"
        r"以後(?:每次)?|今后|今後|往后|往後|将来|將來"
    ),
    habit=r"一直|始终|始終|总是|總是|永远|永遠|每次",
    company=r"我|你|您|谢谢|謝謝|好|嗯|对|對|不|请|請|另外|还有|還有|顺便|順便",
    fillers=r"请你?|請你?|麻烦你?|麻煩你?|拜托|谢谢|謝謝|跟我|和我|对我|對我|一律|统一|都|[吗嗎](?=\W*$)|\s",
    leads=r"我(?:希望|想要?)你|你(?:要|应该|應該|必须|必須|得)|记得要?|記得要?|记住|記住|务必|務必|要",
    polite=r"你?(?:能不能|可不可以|能|可以)",
    tags=r"好吗|好嗎|可以吗|可以嗎|行吗|行嗎|好不好|行不行",
    splits=r"[，,；;：:]",
    ands=r"而且|并且|並且|所以",
    when=r"当|當|每当|每當|.*(?:时|時|的时候|的時候)$",
    somewhere=r"在|对于|對於|关于|關於|写|寫",
    unclear=(
        r"如果|要是|假如|假设|假設|开玩笑|哈哈|他|她|老板叫|老闆叫|老师|老師|告诉|告訴|电影|小说|故事|游戏|遊戲|"
        r"这次|這次|这句|這句|这个|這個|这段|這段|今天|暂时|暫時|才怪"
    ),
    elsewhere=r"角色扮演|扮演|假装|假裝|翻译|翻譯|下面(?:的|这)|以下|提示词|提示詞|prompt",
    tasks=(
        r"写|寫|帮我|幫我|给我|給我|列出|解释|解釋|告诉|告訴|介绍|介紹|推荐|推薦|总结|總結|描述|比较|比較|生成|做|设计|"
        r"設計|改|你能|能不能|可以|我想|我要|我需要|什么|怎么|为什么"
    ),
    same={
        "emoji": "表情符号", "emojis": "表情符号", "表情": "表情符号", "表情符號": "表情符号",
        "出处": "来源", "出處": "来源", "來源": "来源",
    },
    not_names=word_set("起床 名字 外卖 外賣"),
    placeholders={
        "language": (
            "德语|德文|德語|英语|英文|英語|中文|汉语|漢語|普通话|普通話|简体中文|繁体中文|繁體中文|粤语|粵語|西班牙语|"
            "西班牙文|西班牙語|法语|法文|法語|日语|日文|日語|韩语|韩文|韓語|韓文|意大利语|葡萄牙语|俄语|俄文|俄語|阿拉伯语"
        ),
        "say": "回答|回复|回復|答复|说话|說話|交流|聊天|写|寫|说|說|讲|講|对话|對話|沟通|溝通",
        # Not "叫我起床", "叫我去开会".
        "Name": (
            r"(?!起|醒|去|来|來|吃|喝|先|等|早|晚|做|不|别|別|到|回|一|帮|幫|写|寫|给|給|看|买|買|上|下|出|开|開|"
            r"怎|什|在|的)[\u4e00-\u9fffA-Za-z·]{1,6}?"
        ),
        "title": r"先生|女士|小姐|老师|老師|老板|老闆|亲|親|朋友|[\u4e00-\u9fffA-Za-z·]{1,4}?",
        "short": r"(?:尽量|儘量)?(?:简短|簡短|简洁|簡潔|简单|簡單|短|精简|精簡)(?:一点|一點|一些|点|點|些)?",
        "long": r"(?:尽量|儘量)?(?:详细|詳細)(?:一点|一點|一些|点|點|些)?",
        "form": (
            r"表情符[号號]|表情包?|emojis?|列表|项目符号|項目符號|表格|网络用语|網路用語|缩写|縮寫|专业术语|專業術語|"
            r"术语|術語|感叹号|感嘆號|markdown"
        ),
        "part": r"{form}|(?:信息)?来源|來源|出处|出處|参考文献|參考文獻|例子|链接|連結",
        "not": r"(?:请)?(?:不要|别|別|不许|勿)",
        "never": r"(?:不要|别|別)再|永不|不要|别|別",
        "money": r"人民币|人民幣|美元|欧元|歐元|日元|英镑|英鎊|港币|港幣|台币|新台幣",
    },
    requests=(
        request(
            r"(?:只)?[用以]<language>(?:来|來)?(?:{say})(?:我|我的问题)?|(?:回答|回复)(?:我)?用<language>|"
            r"[说說讲講]<language>",
            "{s}希望助手用{o}回答。", "answer_language", importance=0.9,
        ),
        request(
            r"不(?:用|必|需要)(?:再)?用<language>(?:{say})(?:我)?了",
            "{s}不再要求用{o}回答。", "answer_language", lasts="always", ends=True,
        ),
        request(
            r"(?:就)?(?:叫|称呼|稱呼)我(?:为|為|做)?<Name>(?:吧|就好|就行|就好了|就行了|就可以了)",
            "{s}希望被称为{o}。", "addressed_as", lasts="always", importance=0.9,
        ),
        request(
            r"(?:就)?(?:叫|称呼|稱呼)我(?:为|為|做)?<Name>",
            "{s}希望被称为{o}。", "addressed_as", importance=0.9,
        ),
        request(
            r"(?:{not})再(?:叫|称呼|稱呼)我<title>了?",
            "{s}不希望被称为{o}。", "not_addressed_as", lasts="always", importance=0.8,
        ),
        request(
            r"你的?(?:回答|回复|答复)(?:要|得|请|請)?{short}",
            "{s}希望回答简短。", "answer_length", object="short", lasts="if alone", importance=0.8,
        ),
        request(
            r"(?:回答|回复|答复)(?:我)?(?:要|得|可以)?{short}|{short}(?:地)?(?:回答|回复)(?:我)?",
            "{s}希望回答简短。", "answer_length", object="short", importance=0.8,
        ),
        request(
            r"(?:你的?)?(?:回答|回复|答复)(?:我)?(?:要|得|可以)?{long}|{long}(?:地)?(?:回答|回复)(?:我)?",
            "{s}希望回答详细。", "answer_length", object="detailed", importance=0.8,
        ),
        request(
            r"(?:回答)?不(?:用|必|需要)(?:再)?(?:那么|那麼|这么|這麼)?{short}(?:回答)?了",
            "{s}不再要求回答简短。", "answer_length", object="short", lasts="always", ends=True,
        ),
        request(
            r"(?:使)?用公制(?:单位|單位)?",
            "{s}希望使用公制单位。", "answer_units", object="metric", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:使)?用英制(?:单位|單位)?",
            "{s}希望使用英制单位。", "answer_units", object="imperial", lasts="if alone",
            importance=0.8,
        ),
        request(
            r"(?:所有)?[价價]格(?:要)?用<money>(?:表示|标注|標註|显示|顯示|计算|計算)?",
            "{s}希望价格用{o}表示。", "answer_currency",
        ),
        request(
            r"你?(?:可以|能)(?:重新|再|又|继续|繼續)(?:开始|開始)?(?:使)?用<form>了?|<form>(?:又)?可以(?:再|重新)?用了",
            "{s}又允许使用{o}了。", "answers_with", lasts="always", importance=0.4,
        ),
        request(
            r"(?:{not})(?:再)?(?:使)?用<form>了?",
            "{s}希望回答里没有{o}。", "answers_without", lasts="if alone",
        ),
        request(
            r"(?:(?:不要|别|別)再|永不)(?:给我|給我|向我)?(?:推荐|推薦)(?P<object>[\u4e00-\u9fffA-Za-z]"
            r"{2,12}?)了?",
            "{s}不希望被推荐{o}。", "answers_without", lasts="if alone", importance=0.8,
        ),
        request(
            r"(?:{never})(?:再)?(?:给我|給我|向我)?(?:推荐|推薦|介绍|介紹)(?P<object>[\u4e00-\u9fffA-Za-z]"
            r"{2,12}?)了?",
            "{s}不希望被推荐{o}。", "answers_without", importance=0.8,
        ),
        request(
            r"(?:注明|註明|标注|標註|给出|給出|列出|附上|标明|標明)<part>",
            "{s}希望回答带有{o}。", "answers_with",
        ),
        request(
            r"(?:说话|說話|回答)?(?P<object>直接|坦率|正式|随意|隨意|友好|耐心|严格|嚴格)(?:一点|一點|一些|点|些)",
            "{s}希望助手的语气{o}。", "answer_tone",
        ),
    ),
)  # fmt: skip
