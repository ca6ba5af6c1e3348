"""Chinese, simplified and traditional."""

from __future__ import annotations

from langmemory.formation.dates.words import TimeWords, form, unit_words

DIGITS = "一二三四五六七八九"
NUMBERS: dict[str, float] = {
    **{digit: number for number, digit in enumerate(DIGITS, start=1)},
    "十": 10,
    **{f"十{digit}": 10 + number for number, digit in enumerate(DIGITS, start=1)},
    **{
        f"{ten}十{digit}": 10 * tens + number
        for tens, ten in ((2, "二"), (3, "三"))
        for number, digit in enumerate(("", *DIGITS))
    },
    "两": 2, "兩": 2, "半": 0.5,
}  # fmt: skip
MONTHS = {
    f"{name}月": int(number)
    for word, number in NUMBERS.items()
    if 1 <= number <= 12 and word not in "两兩半"
    for name in (word, f"{int(number)}", f"{int(number):02}")
}
# Not the "五天" of "四十五天", nor the day of a month.
COUNTED = r"(?<![月一二三四五六七八九十百\d.]){n}\s*[个個]?\s*{unit}"
LAST, THIS, NEXT = r"上(?:一)?[个個]?", r"(?:这|這|本)(?:一)?[个個]?", r"下(?:一)?[个個]?"

CHINESE = TimeWords(
    code="zh",
    spaced=False,
    numbers=NUMBERS,
    few=r"几|幾|好几|好幾",
    units=unit_words(
        minute="分钟 分鐘", hour="小时 小時 钟头", day="天 日", week="周 週 星期 礼拜 禮拜",
        month="月", year="年 去年 今年 明年 前年 后年 後年", decade="十年",
    ),
    weekend=r"周末|週末",
    by_week=True,
    weekdays={
        f"{prefix}{day}": place
        for prefix in ("星期", "周", "週", "礼拜", "禮拜")
        for place, days in enumerate(("一", "二", "三", "四", "五", "六", "日天"))
        for day in days
    },
    months=MONTHS,
    seasons={
        "春天": (3, 3), "春季": (3, 3), "夏天": (6, 3), "夏季": (6, 3), "暑假": (7, 2),
        "秋天": (9, 3), "秋季": (9, 3), "冬天": (12, 3), "冬季": (12, 3),
    },
    decades={"六十": 1960, "七十": 1970, "八十": 1980, "九十": 1990},
    days={
        "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "明天": 1,
        "明日": 1, "后天": 2, "後天": 2, "大后天": 3, "大後天": 3,
    },
    nights={
        "昨晚": (-1, 18, 24), "今早": (0, 5, 12), "今晚": (0, 18, 24), "明晚": (1, 18, 24),
        "明早": (1, 5, 12),
    },
    parts={
        "早上": (5, 12), "上午": (8, 12), "中午": (11, 14), "下午": (12, 18), "晚上": (18, 24),
        "夜里": (18, 24),
    },
    holidays={
        "圣诞节": (12, 25, 1), "聖誕節": (12, 25, 1), "平安夜": (12, 24, 1), "元旦": (1, 1, 1),
        "国庆节": (10, 1, 1), "國慶節": (10, 1, 1), "情人节": (2, 14, 1),
    },
    edges_after=(r"初", r"中(?:旬)?(?!国|文|午|学|國|學)", r"底|末"),
    clock=r"\s*(?P<hour>\d{1,2})(?:[:：点點時时](?P<minute>[0-5]\d)?)",
    lead=r"(?!)",
    since=r"(?:自从|自從|自|从|從)",
    behind=r"自从|自從|自",
    until=r"(?:直到|到)",
    since_after=r"(?:以来|以來|起|开始|開始)",
    until_after=r"为止|為止",
    to=r"\s*(?:–|—|-|~|到|至)\s*",
    within=r"\s*的?",
    never_before=r"(?:每(?:个|個|年|周|週|月|天)?|上|大|第[一二三四五1-5]个?|第[一二三四五1-5]個|最[后後]一?[个個]?)\s*",
    never_after=r"(?:版|款)|(?:之|以)?[前后後](?![天年])",
    filler=r"大约|大約|左右|在|的|于|約|约",
    forms=(
        form(rf"{COUNTED}(?:以前|之前|前(?!端|台|面|后|後))", -1),
        form(rf"{COUNTED}(?:以后|以後|之后|之後|后|後)(?!端|台|面)", 1),
        # Not the "前天" of "目前天气".
        form(r"(?<![目以之今如日]){named}"),
        form(r"{night}"),
        form(r"上上(?:一)?[个個]?{target}", -2),
        form(r"下下(?:一)?[个個]?{target}", 2),
        form(rf"{LAST}{{target}}", -1),
        form(rf"{THIS}{{target}}", 0),
        form(rf"{NEXT}{{target}}", 1),
        form(r"去年(?:的)?(?:{month}|{season}|{holiday})", year_step=-1),
        form(r"今年(?:的)?(?:{month}|{season}|{holiday})", year_step=0),
        form(r"明年(?:的)?(?:{month}|{season}|{holiday})", year_step=1),
        form(r"前年(?:的)?(?:{month}|{season}|{holiday})", year_step=-2),
        form(r"去年(?:的)?{month}\s*{day}\s*[日号號]", year_step=-1),
        form(r"今年(?:的)?{month}\s*{day}\s*[日号號]", year_step=0),
        form(r"明年(?:的)?{month}\s*{day}\s*[日号號]", year_step=1),
        form(r"(?P<period>去年)(?:年(?=[底末初]))?", -1),
        form(r"(?P<period>今年)(?:年(?=[底末初]))?", 0),
        form(r"(?P<period>明年)(?:年(?=[底末初]))?", 1),
        form(r"(?P<period>[月年])", 0, needs="edge"),
        form(r"(?P<period>前年)", -2),
        form(r"(?P<period>后年|後年)", 2),
        form(r"{year}\s*年\s*{month}\s*{day}\s*[日号號]"),
        form(r"(?<![\d一二三四五六七八九十]){month}\s*{day}\s*[日号號]"),
        form(r"{year}\s*年(?:的)?\s*(?:{month}|{season}|{holiday})"),
        form(r"{year}\s*年"),
        form(r"(?<![\d一二三四五六七八九十]){month}(?!份?[饼餅])份?"),
        form(r"{holiday}"),
        form(r"(?<!每){weekday}"),
        form(r"(?:上世纪|上世紀|二十世纪)?{decade}年代"),
        form(r"{year}[-/.]{monthnum}[-/.]{day}"),
    ),
)  # fmt: skip
