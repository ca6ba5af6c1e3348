"""Chinese."""

from __future__ import annotations

from langmemory.formation.rules.retractions.english import COUPLE, JOB, OF_JOB, ROLES
from langmemory.formation.rules.retractions.frame import Ending, Frame, ending

_NOT = r"(?:不再|已经不|现在不|早就不|不|没有|没|從此不|再也不)"
_AUX = r"(?:已经|已經|刚|剛|终于|最近|上周|上个月|昨天|现在|后来|去年|前几天|今天|早就|在|都|也|把|就)*"

ENDINGS: list[Ending] = [
    *ending(
        "lives_in",
        rf"{{S}}?{_AUX}{_NOT}(?:住|居住|住在|生活)?在?{{O}}",
        rf"{{S}}?{_AUX}(?:搬离|搬出|离开|搬走离开|離開)了?{{O}}",
        rf"{{S}}?{_AUX}从{{O}}(?:搬走|搬出|离开)",
        r"{S}?以前住在{O}",
        rf"{{S}}?{_AUX}{_NOT}住那[里儿]",
    ),
    *ending(
        JOB,
        rf"{{S}}?{_AUX}{_NOT}在?{{O}}(?:工作|上班|干|做)?",
        rf"{{S}}?{_AUX}(?:离开|離開|辞去|辞掉|辞了)了?{{O}}",
        rf"{{S}}?{_AUX}从{{O}}(?:辞职|离职|退休)",
        rf"{{S}}?{_AUX}(?:被{{O}})?(?:被)?(?:辞职|离职|辭職|離職|失业|退休|裁员|裁了|解雇|开除|炒了|"
        rf"炒鱿鱼|丢了工作|没工作|不工作|辞了)",
        r"{O}(?:把{S})?(?:裁|开除|解雇|辞退)了?{S}?",
    ),
    *ending(OF_JOB, rf"{{S}}?{_AUX}(?:被)?(?:辞职|离职|失业|裁员|解雇|开除)", unsure=True),
    *ending("works_as", rf"{{S}}?{_AUX}{_NOT}(?:是|做|当){{O}}"),
    *ending(
        "diet religion has_condition",
        rf"{{S}}?{_AUX}{_NOT}(?:是|吃|有|得)?{{O}}",
        r"{O}(?:好了|治好了|没了|消失了)",
        r"{S}?(?:又|重新)?(?:开始)?吃肉了",
    ),
    *ending(
        COUPLE,
        rf"(?:{{S}}[和跟与]{{O}}|{{O}}[和跟与]{{S}}|{{S}}){_AUX}(?:离婚|分手|分居|分开|離婚)了?",
        rf"{{S}}{_AUX}[和跟与]{{O}}{_AUX}(?:离婚|分手|分开|離婚)",
        rf"{{S}}{_AUX}(?:单身|离异|丧偶)",
        r"{O}(?:已经)?不是{P}(?:老公|老婆|男朋友|女朋友|丈夫|妻子)",
        r"{O}(?:甩了|离开了){S}",
    ),
    *ending(f"{COUPLE} {ROLES} lives_with", rf"{{O}}{_AUX}不(?:再)?是{{P}}", r"{O}搬走了"),
    *ending(
        "has_pet owns has_vehicle",
        rf"{{S}}?{_AUX}{{O}}?{_AUX}(?:送人|卖|卖掉|丢|扔|送走|弄丢)了?{{O}}?",
        rf"{{S}}?{_AUX}{_NOT}(?:养|有){{O}}",
        r"{O}(?:丢了|跑了|走丢了|不见了|被偷了|卖了|送人了|卖掉了)",
    ),
    *ending(
        "allergic_to",
        rf"{{S}}?{_AUX}{_NOT}?(?:再)?对{{O}}{_NOT}?过敏",
        rf"{{S}}?{_AUX}{_NOT}對{{O}}過敏",
        r"{O}过敏好了",
        r"{S}?(?:现在|又)?(?:可以|能)吃{O}了",
    ),
    *ending(
        "likes interested_in",
        rf"{{S}}?{_AUX}{_NOT}(?:太|怎么|那么)?(?:喜欢|爱|想|喜歡|感兴趣){{O}}",
        rf"{{S}}?{_AUX}(?:讨厌|腻了|受够了){{O}}",
        r"{S}?对{O}(?:没兴趣|不感兴趣|腻)了?",
    ),
    *ending(
        "likes interested_in", rf"{{S}}?{_AUX}(?:不|戒|戒掉)(?:喝|吃|玩|看|了)?{{O}}", unsure=True
    ),
    *ending(
        "dislikes",
        rf"{{S}}?{_AUX}(?:现在|开始|变得)(?:喜欢|爱)(?:吃|喝|上)?{{O}}",
        rf"{{S}}?{_AUX}不讨厌{{O}}",
    ),
    *ending(
        "has_hobby studies uses takes_medication speaks member_of studies_at",
        rf"{{S}}?{_AUX}{_NOT}(?:会|弹|玩|打|学|用|吃|说|练|做|在|参加|拉|跳)?{{O}}",
        rf"{{S}}?{_AUX}(?:放弃|停止|退出|戒)了?(?:学|弹|打|玩|用|吃)?{{O}}",
    ),
    *ending(
        "plans decided",
        rf"{{O}}{_AUX}(?:取消|泡汤|黄|吹|不去|作罢)了?",
        rf"{{S}}?{_AUX}(?:取消|放弃)了?{{O}}",
        rf"{{S}}?{_AUX}不(?:去|打算|搬|想|飞|搬去|搬到)(?:去|到)?{{O}}",
    ),
    *ending("comes_from born_in born_on age", r"{S}?不(?:是|出生在|来自|在)(?:在)?{O}", never=True),
]

CHINESE = Frame(
    code="zh",
    spaced=False,
    cues=r"不|没|沒|离|離|死|去世|过世|過世|分手|辞|辭|裁|失业|解雇|开除|退休|搬|丢|跑了|卖|送人|取消|"
        r"泡汤|放弃|戒|讨厌|腻|单身|以前|应该是|是说|说错|好了|又|重新|偷|停止|退出|现在|炒|吹",
    skip=r"如果|要是|假如|也许|可能|希望|想要|差点|会不会|还没|沒有想|不仅|不只|不但|打算(?:辞|卖|离)|如何",
    doubt=r"听说|好像|似乎|据说|我觉得|大概",
    passing=r"今天|明天|这周|这几天|暂时|目前|不太舒服|不在家",
    leads=r"(?:(?:对不起|抱歉|不好意思|其实|可惜|很遗憾|遗憾的是|唉|哦|啊|嗯|那个|不过|但是|因为|所以|"
        r"而且|后来|最近|上周|上个月|去年|昨天|前天|前几天|现在|更正|说错了)[,，、：: ]*)*",
    splits=r"[,，、；;：:]\s*",
    me=r"(?:我们|我們|我)(?!的)",
    my=r"(?:我们的|我的|我家的|我家)",
    to_me=r"(?!)x",
    it=r"(?:它|那里|那儿)",
    them=r"(?:它|他|她)",
    articles=r"(?:我们的|我的|我家的|我家|那只|那条|这只|我|§S的|§P|)",
    nouns={"works_at": "工作", "has_pet": "宠物", "married_to": "老公|老婆|丈夫|妻子|婚姻", "partner_of":
    "男朋友|女朋友", "allergic_to": "过敏"},
    plans=((r"搬", "搬家", r"(?!)"), (r"去|飞|旅", "旅行|机票|航班|行程", r"(?!)"), (r"结婚", "婚礼",
    r"(?!)")),
    parts={"unplanned": r"(?!)<verbs>", "aux": _AUX},
    endings=tuple(ENDINGS),
    corrections=(
        r"(?:我)?(?:不是|不在|不叫)(?P<old>[^，,；]+?)[，, ]*(?:而)?是(?:在)?(?P<new>[^，,；]+)",
        r"是(?P<new>[^，,；]+?)[，, ]*(?:而)?不是(?P<old>[^，,；]+)",
        r"我?(?:说错了|想说的是|是说|指的是|意思是|应该是)[，, ]*(?:是|应该是)?(?P<new>[^，,；]+)",
    ),
    denials=r"(?:那|这)(?:不是真的|不对|错了|不再是了)",
    died=r"(?:{O}|{S}|{P}{O}){aux}(?:死|去世|过世|過世|走|离世|没|病死)了",
)  # fmt: skip
