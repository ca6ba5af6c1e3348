"""What the same thing is called in each language, so that what was asked for in one is taken back in
another."""

from __future__ import annotations

from collections.abc import Mapping

_WORDS = """English: Englisch, inglés, 英语, 英文, 英語
German: Deutsch, alemán, 德语, 德文, 德語
Spanish: Spanisch, español, castellano, 西班牙语, 西班牙文, 西班牙語
Chinese: Mandarin, Chinesisch, chino, mandarín, 中文, 汉语, 漢語, 普通话, 普通話
French: Französisch, francés, français, 法语, 法文, 法語
Italian: Italienisch, italiano, 意大利语
Portuguese: Portugiesisch, portugués, português, 葡萄牙语
Dutch: Niederländisch, neerlandés
Swedish: Schwedisch, sueco
Norwegian: Norwegisch, noruego
Danish: Dänisch, danés
Polish: Polnisch, polaco
Czech: Tschechisch, checo
Hungarian: Ungarisch, húngaro
Romanian: Rumänisch, rumano
Greek: Griechisch, griego
Turkish: Türkisch, turco
Russian: Russisch, ruso, 俄语, 俄文, 俄語
Ukrainian: Ukrainisch, ucraniano
Arabic: Arabisch, árabe, 阿拉伯语
Hebrew: Hebräisch, hebreo
Japanese: Japanisch, japonés, 日语, 日文, 日語
Korean: Koreanisch, coreano, 韩语, 韩文, 韓語, 韓文
Catalan: Katalanisch, catalán
euros: Euro, 欧元, 歐元, eur
dollars: Dollar, US-Dollar, dólares, 美元, usd
emojis: 表情符号
lists: Listen, listas, 列表
bullet points: Aufzählungen, 项目符号, 項目符號
tables: Tabellen, tablas, 表格
sources: Quellen, fuentes, 来源
examples: Beispiele, ejemplos, 例子
apologies: Entschuldigungen, disculpas
jargon: Fachbegriffe, tecnicismos, 术语, 专业术语"""

CLAIMED: Mapping[str, str] = {
    word.strip().casefold(): name
    for name, _, words in (row.partition(":") for row in _WORDS.splitlines())
    for word in words.split(",")
}
"""By another word for it, case-folded, what a thing is called in claims."""
