"""Chinese, simplified and traditional. Names have no capitals, so fewer rules are safe."""

from __future__ import annotations

from langmemory.formation.rules.grammar import Grammar, rule
from langmemory.languages.language import word_set

KIN = {
    word: role
    for role, words in {
        "mother": "妈妈 媽媽 母亲 母親 老妈 老媽 妈 媽", "father": "爸爸 父亲 父親 老爸 爸",
        "sister": "姐姐 妹妹 姐 妹", "brother": "哥哥 弟弟 哥 弟",
        "wife": "妻子 老婆 太太", "husband": "丈夫 老公 先生", "girlfriend": "女朋友",
        "boyfriend": "男朋友", "daughter": "女儿 女兒", "son": "儿子 兒子",
        "grandmother": "奶奶 外婆 姥姥", "grandfather": "爷爷 爺爺 外公 姥爷", "friend": "朋友",
        "colleague": "同事", "boss": "老板 老闆", "flatmate": "室友", "landlord": "房东 房東",
        "mother in law": "婆婆 岳母 丈母娘", "father in law": "公公 岳父 老丈人",
        "sister in law": "嫂子 弟妹",
        "son in law": "女婿", "daughter in law": "儿媳 兒媳 儿媳妇 兒媳婦",
        "stepmother": "继母 繼母 后妈 後媽", "stepfather": "继父 繼父 后爸 後爸", "grandson": "孙子 孫子",
        "granddaughter": "孙女 孫女",
    }.items()
    for word in words.split()
}  # fmt: skip
PETS = (
    "狗", "小狗", "狗狗", "猫", "小猫", "猫咪", "貓", "小貓", "貓咪", "兔子", "仓鼠", "倉鼠", "乌龟", "烏龜",
)  # fmt: skip
JOBS = (
    "(?:(?:小学|小學|中学|中學|高中|大学|大學|幼儿园|幼兒園|数学|數學|英语|英語|语文|語文|音乐|音樂|美术|美術|体育|體育)*"
    "(?:老师|老師|教师|教師))|医生|醫生|护士|護士|工程师|工程師|律师|律師|厨师|廚師|司机|司機|会计|會計|程序员|程式設計師|设计师|設計師|产品经理|產品經理|記者|记者|学生|學生|"
    "教授|研究员|警察|翻译|作家|画家|音乐家|演员|建筑师|销售员|[\u4e00-\u9fff]{0,3}(?:经理|經理|总监|總監)"
)
NOW = r"(?:(?:\s|{time})|现在|現在|目前|一直|已经|已經|也|还|還|都|很|非常|特别|最|真的)*"
END = r"(?=(?:\s|{time})*(?:$|[，。！；、,.!;]|和|跟|因为|所以|但是|了))"

CHINESE = Grammar(
    code="zh",
    spaced=False,
    frames=(
        r"假设|假設|想象一下|想像一下|扮演|角色|主角|帮我(?:写|寫|翻译|改)|幫我(?:寫|翻譯|改)|请翻译|請翻譯|写一(?:段|篇|个)"
    ),
    plays=r"角色扮演|我的角色|来玩角色|來玩角色",
    plays_no_more=r"说正经的|說正經的|游戏结束|遊戲結束|不玩了|回到现实|回到現實|换个话题|換個話題",
    void=(
        r"如果|要是|假如|就好了|的话|的話|开玩笑|開玩笑|哈哈|电影|電影|小说|小說|故事|，(?:不|不对|不是|哦不)，|"
        r"(?:真好|太好了|太棒了|好极了)[，,！!]\s*(?:我|又)最|没搬成|没去成"
    ),
    withdraws=r"^(?:开玩笑|開玩笑|骗你的|騙你的|逗你的)|没搬成|没去成|取消了",
    unclear=(
        r"希望|也许|也許|可能|大概|好像|应该|應該|梦|夢|说|說|告诉|告訴|问我|觉得|覺得|以为|以為|想象|吗|嗎|呢|"
        r"差点|差點|本来|本來|听说|聽說|该不该|該不該|据说|據說"
    ),
    but=r"但是|但|可是|不过|不過",
    anew=r"但是|但|可是|不过|不過|而且|并且",
    asks=(
        r"[，,；;](?!\s*(?:对吗|對嗎|是吗|是嗎|对吧|對吧|是吧|对不对|對不對|是不是|真的吗|真的嗎)[?？]*$)[^，,；;]*$"
    ),
    openers=(
        r"(?:你好|您好|嗨|对了|對了|其实|其實|另外|还有|還有|那么|嗯|哦|啊|好的|但是|可是|所以|而且|因为|顺便说一下|早上好|晚上好)"
        r"[\s，,。！!：:]*"
    ),
    takes_back=r"(?:不对|不對|不是|抱歉|更正|我说错了)[\s，,。！!：:]*",
    no=r"不是",
    announces=r"以后|以後|今后|今後|从现在起|從現在起|消息|介绍|介紹|自己|情况|情況|背景|知道|回答|总之|總之|过敏|過敏|家里|家裡|家人",
    breaks=r"\s*[，,；;：:]\s*(?!(?:它|分别)?(?:叫|名叫))|(?:而且|但是|并且)(?=我)",
    carried=(
        r"(?:现在|現在|目前)?(?:就)?(?:住在|在)|(?:已经|已經)?搬到|(?:也|还|還|很|不|最)*(?:喜欢|喜歡)|"
        r"(?:讨厌|討厭)|是"
    ),
    i=r"(?:我|本人)(?![们們的家])(?!{kin})",
    we=r"(?:我们|我們|咱们)(?!的)|我家(?=[养養有])|{my}{adjectives}(?:{kin})?[和跟]我(?![的们們])|我[和跟](?:{my}?(?:{kin}))(?!的)",
    he=r"他(?![们們的])",
    she=r"她(?![们們的])",
    either=r"(?=(?:今年|刚满|剛滿|已经|已經|(?:\s|{time}))*(?:{number}|[1-9]\d?)[岁歲])",
    my=r"(?:我的?|我们的?|我們的?)",
    kin=KIN,
    kin_adjectives=r"(?:最好的)?",
    pets=PETS,
    numbers={
        f"{'' if tens == 1 else digit}十{one}": 10 * tens + ones
        for tens, digit in enumerate("一二三四五六七八九", start=1)
        for ones, one in enumerate(("", *"一二三四五六七八九"))
    }
    | {digit: number for number, digit in enumerate("一二三四五六七八九", start=1)},
    user="用户",
    genitive=("{s}的", "{s}的", "用户的"),
    we_text="{s}等人",
    whose="{g}{kin}",
    kin_text="{o}是{whose}。",
    pet_text="{s}养的{kin}叫{o}。",
    resumed=r"^[，,]?(?:她|他)?",
    time_lead=r"^在",
    leaning=r"[我你他她它这那]",
    relative=r"{my}{adjectives}(?P<kin>{kin})(?![妹弟兄])(?P<name>)",
    kin_name=r"{my}{adjectives}(?P<kin>{kin})(?:叫|名叫|的名字是|的名字叫)(?P<name>{Name}){end}",
    mention=r"{my}{adjectives}(?P<kin>{kin})(?![妹弟兄])(?:叫(?P<name>{Name}){end})?",
    pet_mention=r"(?:我|我们|我們|我家)[^，。！？,]{0,8}?(?P<pet>{pet})",
    others=(
        r"(?:[一有]?[个個位名][男女新老]?|他的?|她的?|那[个個位]|这[个個位]|這[个個位]|你的?|别人的?|[们們]的)"
        r"(?:{kin}|{jobs}|{folk})|(?<!我)(?<!我的)(?:{folk})"
    ),
    its_name=r"(?:[它他她])?(?:的名字)?(?:是|叫)(?P<name>{Name}){end}(?P<name2>)",
    pet_name=(
        r"(?:{my}|我们?家的?|我們家的?)(?:的)?(?P<kin>{pet})(?:叫|名叫|的名字是|的名字叫)(?P<name>{Name}){end}(?P<name2>)"
        r"(?P<kin2>)"
    ),
    died="死|去世|过世|過世",
    not_names=word_set("什么 什麼 谁 誰 我 你 他 她"),
    not_places=word_set("家 家里 家裡 这里 這裡 那里 那裡 外面 学校 公司 附近 一起 宿舍 酒店 图书馆 "
        "圖書館 教室 医院 醫院 房间 房間 咖啡馆 咖啡館 咖啡店 网吧 路上 床上"),
    not_things=r"(?:你|他|她|它|这|這|那|我|什么|什麼|的|一个|一個)",
    and_=r"和|跟|、|以及",
    placeholders={
        "food": (
            r"肉|猪肉|豬肉|牛肉|羊肉|鱼|魚|海鲜|海鮮|奶|牛奶|乳制品|面筋|糖|鸡蛋|雞蛋|坚果|堅果|花生|香菜|葱|蒜|辣|酒|咖啡"
        ),
        "condition": (
            r"高血压|高血壓|糖尿病|哮喘|气喘|氣喘|关节炎|關節炎|癫痫|癲癇|偏头痛|偏頭痛|抑郁症|憂鬱症|乳糖不耐受?|"
            r"鼻炎|湿疹|濕疹|痛风|痛風|甲亢|甲减"
        ),
        "folk": (
            r"邻居|鄰居|室友|房东|房東|客户|客戶|孩子|小孩|男生|女生|男人|女人|老人|闺蜜|閨蜜|主管|亲戚|親戚"
        ),
        "now": NOW, "end": END, "jobs": JOBS, "gap": r"(?:\s|{time})*",
        "Word": r"[\u4e00-\u9fffA-Za-z0-9·]{1,12}?",
        # Not "叫得很大声", "叫了一晚上", "叫我回家", "叫外卖".
        "Name": (
            r"(?![得了着過过我你您他她它咱不没沒很这這那大]|一(?:晚|下|声|聲|个|個|会|會|直)|外卖|外賣|车|車|"
            r"人|滴滴|出租|救命|快递|快遞|保安|警察|服务|服務|醒|做|什么|什麼)[\u4e00-\u9fffA-Za-z·]{1,8}?"
        ),
        # Not "住在北京的朋友".
        "Place": (
            r"(?![一二三四五六七八九十\d]+[楼樓层層号號])(?:(?!的|附近|旁边|旁邊|里面|裡面|那[边邊]|这[边邊]|這邊)"
            r"[\u4e00-\u9fffA-Za-z·]){2,8}?"
        ),
        "thing": r"[\u4e00-\u9fffA-Za-z]{1,8}?",
        "things": r"[\u4e00-\u9fffA-Za-z]{1,8}?(?:[、和跟][\u4e00-\u9fffA-Za-z]{1,8}?){0,3}",
    },
    rules=(
        rule(
            r"我(?:的名字(?:是|叫)|叫|名叫)<Name>{end}",
            "{s}的名字是{o}。", "named", entity=False, whole=True, importance=0.8,
        ),
        rule(r"的?生日是\s*<time>", "{s}的生日是{o}。", "born_on", entity=False, importance=0.8),
        rule(
            r"我的生日是\s*<time>",
            "{s}的生日是{o}。", "born_on", entity=False, whole=True, importance=0.8,
        ),
        rule(r"[\s]*<time>\s*出生", "{s}的生日是{o}。", "born_on", entity=False, importance=0.8),
        rule(
            r"{gap}(?:(?:今年|已经|已經|刚满|剛滿|刚刚|刚|剛|满|滿|都){gap})*(?P<object>[1-9]\d?|{number})[岁歲](?=了?{end})",
            "{s}{o}岁。", "age", entity=False,
        ),
        rule(
            r"{gap}(?=不再|已经?不|[^，。；]*了)已?经?不再?住在<Place>了?{end}",
            "{s}不再住在{o}。", "lives_in", ends=True, times="any", prefer="past", importance=0.7,
        ),
        rule(
            r"{gap}(?:以前|之前|曾经|曾經|原来|原來)住在<Place>{end}",
            "{s}以前住在{o}。", "lives_in", ends=True, importance=0.6,
        ),
        rule(r"{gap}{now}住在<Place>{end}", "{s}住在{o}。", "lives_in", importance=0.8),
        rule(
            r"{gap}{now}搬(?:家)?(?:到|去)了?<Place>(?:了)?{end}",
            "{s}住在{o}。", "lives_in", times="any", prefer="past", importance=0.8,
        ),
        rule(
            r"{gap}(?:要|打算|准备|計劃|计划)搬(?:到|去)<Place>{end}",
            "{s}打算搬到{o}。", "plans_to", kind="plan", entity=False, times="any", importance=0.8,
            claimed="搬到{o}",
        ),
        rule(
            r"{gap}(?:是)?出生[在于](?![一这這那])(?!.{0,3}[天季代])<Place>(?:的)?{end}",
            "{s}出生在{o}。", "born_in", importance=0.6,
        ),
        rule(r"{gap}[来來]自<Place>{end}", "{s}来自{o}。", "comes_from", importance=0.6),
        rule(r"{gap}在<Place>[长長]大{end}", "{s}来自{o}。", "comes_from", importance=0.6),
        rule(
            r"{gap}(?=不再|已经?不|[^，。；]*了)已?经?不再?在<Place>(?:工作|上班)了?",
            "{s}不再在{o}工作。", "works_at", ends=True, times="any", prefer="past", importance=0.7,
        ),
        rule(
            r"{gap}(?:刚|剛|已经|已經)?从<Place>(?:辞职|離職|离职|辭職)了?{end}",
            "{s}不再在{o}工作。", "works_at", ends=True, times="any", prefer="past", importance=0.7,
        ),
        rule(r"{gap}{now}在<Place>(?:工作|上班)", "{s}在{o}工作。", "works_at", importance=0.7),
        rule(
            r"{gap}{now}是(?:一名|一个|一位|一個)?<jobs>{end}",
            "{s}是{o}。", "works_as", entity=False, importance=0.6,
        ),
        rule(
            r"{gap}{now}在<Place>(?:做|当|當|担任|擔任)(?P<other>{jobs}){end}",
            "{s}在{o}做{other}。", "works_at", importance=0.7,
        ),
        rule(
            r"{gap}{now}在<Place>(?:学习|學習|读书|讀書|上大学|上大學)",
            "{s}在{o}学习。", "studies_at", importance=0.6,
        ),
        rule(
            r"{gap}[对對]<thing>(?<![不没沒有会會])[过過]敏",
            "{s}对{o}过敏。", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"{gap}(?P<object>芒果|花生|海鲜|海鮮|虾|蝦|螃蟹|牛奶|鸡蛋|雞蛋|坚果|堅果|花粉|尘螨|塵蟎|青霉素|猫毛|貓毛|狗毛|酒精|"
            r"小麦|小麥|大豆|桃子|菠萝|鳳梨)[过過]敏",
            "{s}对{o}过敏。", "allergic_to", entity=False, importance=0.9,
        ),
        rule(
            r"(?:我的?)?(?:职位|職位|职业|職業)是<jobs>{end}",
            "{s}是{o}。", "works_as", entity=False, whole=True, importance=0.6,
        ),
        rule(
            r"{gap}{now}(?:从不|從不|不)(?:能)?(?:吃|喝)(?P<object>(?:{food})(?:[、和跟](?:{food})){0,3}){end}",
            "{s}不吃（喝）{o}。", "does_not_eat", entity=False, importance=0.8,
        ),
        rule(
            r"{gap}{now}(?:是)?(?P<object>吃素|素食者|素食主义者)",
            "{s}吃素。", "diet", entity=False, importance=0.8,
        ),
        rule(
            r"{gap}{now}(?:不喜欢|不喜歡|讨厌|討厭)<things>{end}",
            "{s}不喜欢{o}。", "dislikes", kind="preference", entity=False,
        ),
        rule(
            r"{gap}{now}(?:喜欢|喜歡|[爱愛][吃喝听聽看]|热爱|熱愛)<things>{end}",
            "{s}喜欢{o}。", "likes", kind="preference", entity=False,
        ),
        rule(
            r"的?最喜[欢歡]的(?P<other>[\u4e00-\u9fff]{1,4}?)是<thing>{end}",
            "{s}最喜欢的{other}是{o}。", "favourite_{other}", kind="preference", entity=False,
        ),
        rule(
            r"{gap}[会會](?:弹|彈|拉|吹|打)(?P<object>钢琴|鋼琴|吉他|小提琴|大提琴|二胡|古筝|古箏|笛子|尤克里里|鼓)",
            "{s}会{o}。", "has_hobby", entity=False,
        ),
        rule(
            r"有[两兩二三四2-4][个個](?:孩子|小孩|儿子|兒子|女儿|女兒)[，,]?(?:分别)?(?:叫)"
            r"(?P<object>{Name}[和跟]{Name}){end}",
            "{s}的孩子叫{o}。", "parent_of", importance=0.7,
        ),
        rule(r"(?:[养養]了?|有)一[只隻条條](?P<pet>{pet})[，,]?(?:它)?(?:叫|名叫)<Name>{end}", "", "pet"),
        rule(
            r"(?:我|我们|我們|我家)?{gap}(?:[养養]了?|有|领养了|領養了|收养了)(?P<object>[一两兩二三四][只隻条條](?:小|大|老)?(?:{pet})){end}",
            "{s}养了{o}。", "has_pet", entity=False, times="any", prefer="past",
        ),
        rule(
            r"{gap}{now}(?:有|得了|患有|患了|查出了?|确诊了?|確診了?)(?P<object>{condition}){end}",
            "{s}有{o}。", "has_condition", entity=False, importance=0.8,
        ),
        rule(
            r"{gap}[决決]定(?:了)?(?!不(?:了|下|好|出)|好|权|性|论)"
            r"(?P<object>[\u4e00-\u9fffA-Za-z0-9 ]{2,40}){end}",
            "{s}决定{o}。", "decided", kind="decision", entity=False, times="any", importance=0.7,
        ),
        rule(
            r"{gap}(?:要|会|會|打算|计划|計劃)(?:飞|飛|坐飞机|坐飛機)?去<Place>(?:旅行|旅游|旅遊|出差)?{end}",
            "{s}打算去{o}。", "plans_to", kind="plan", entity=False, times="must", importance=0.6,
            claimed="去{o}",
        ),
        rule(
            r"{gap}去了<Place>(?:旅行|旅游|旅遊|出差)?{end}",
            "{s}去了{o}。", "visited", kind="event", times="must",
        ),
    ),
)  # fmt: skip
