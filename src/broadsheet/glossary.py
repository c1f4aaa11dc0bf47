"""Chinese field terms to English, so that a Chinese question finds English papers by words too.

The terms lie in ``data/glossary.tsv``: one a line, ``Chinese<TAB>English; other English``; a line that begins with
``#`` is a heading. Traditional characters are read as simplified ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from broadsheet.errors import InputError

# Traditional and simplified character in turn, for the characters in the terms.
_PAIRS = (
    "並并乾干佈布佔占併并侷局係系俬私倉仓個个倫伦側侧偵侦偽伪備备傢家傳传價价優优儲储兒儿內内別别則则剋克創创劃划"
    "劑剂動动務务勞劳勢势勵励匯汇區区協协厤历參参員员唸念問问啟启喚唤單单噁恶嚮向圍围圖图埰采執执報报場场塊块壓压"
    "壽寿學学孿孪寀采實实審审寫写寬宽專专對对導导層层嶺岭師师帶带幹干幾几庫库廣广張张強强彆别彈弹彔录彙汇後后徑径"
    "復复徵征恆恒惡恶態态慣惯憶忆應应懞蒙戰战戲戏戶户捲卷採采換换損损撲扑擇择擊击據据擠挤擬拟擴扩擾扰敗败數数斂敛"
    "斷断於于昇升時时曆历曏向會会朮术條条業业極极榦干構构樂乐標标樣样樸朴樹树機机檔档檢检檯台欄栏權权歷历歸归殘残"
    "氣气氾泛汎泛汙污決决沖冲泝溯洩泄減减測测湧涌準准滿满漢汉潑泼潛潜潰溃濛蒙濟济濺溅濾滤災灾為为無无熱热爾尔狀状"
    "獄狱獎奖獻献現现環环畫画異异療疗癥症發发監监眾众睏困矇蒙確确碼码礎础礙碍禦御種种稱称積积穎颖穩稳窺窥竊窃箇个"
    "節节範范篩筛簽签籌筹籤签糾纠約约紅红紋纹納纳級级細细終终組组結结絕绝絡络統统經经綜综綠绿維维網网綴缀綵彩緊紧"
    "緒绪線线緣缘編编緩缓練练緻致縮缩繫系繭茧繼继續续纍累羅罗義义習习聞闻聯联聲声脅胁脈脉脣唇脩修腦脑腫肿膚肤臉脸"
    "臨临臺台與与興兴萬万葉叶葯药蒐搜蔘参薈荟薦荐藥药蘊蕴處处虛虚號号蟲虫術术衕同衛卫衝冲補补裝装裡里製制複复覈核"
    "見见規规視视覺觉觀观觸触計计訊讯訓训記记訪访設设診诊註注証证詐诈評评詞词詢询試试話话誌志認认語语誤误說说課课"
    "調调諂谄談谈論论諷讽謠谣證证識识譜谱譟噪譯译議议護护讀读變变貝贝負负貫贯責责資资賣卖質质賴赖趨趋跡迹蹟迹蹤踪"
    "躍跃車车軌轨軛轭軟软較较載载輔辅輕轻輛辆輪轮輯辑輸输輻辐輿舆轉转農农迴回連连進进遊游運运過过達达遙遥遞递適适"
    "遲迟遷迁選选遺遗邊边邏逻鄰邻醣糖醫医釋释針针釣钓銳锐銷销錄录錨锚錯错錶表鍵键鍼针鏇旋鏈链鏡镜長长門门開开間间"
    "閤合閱阅闆板關关陞升陣阵隊队階阶隨随險险隱隐雙双雜杂離离難难雲云電电霧雾靈灵靜静韻韵響响頁页預预頓顿領领頭头"
    "頸颈頻频題题類类顯显風风颱台餘余餬糊餾馏饋馈馬马駕驾駛驶驅驱驗验體体髮发鬱郁魚鱼魯鲁鳥鸟麵面點点齊齐齣出"
)
_SIMPLIFIED = str.maketrans(_PAIRS[::2], _PAIRS[1::2])
# A letter or digit of a script that is written with spaces.
_LETTER = r"[^\W_\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
_NEUTRAL = re.compile(rf"{_LETTER}(?:{_LETTER}|[_.+#/-])*")


@dataclass(frozen=True, slots=True)
class Gloss:
    """A term found in ``text[start:end]`` and its English, the most usual first."""

    zh: str
    english: tuple[str, ...]
    start: int
    end: int


def parse_glossary(text: str, where: str) -> dict[str, tuple[str, ...]]:
    """Terms of a glossary; raises InputError naming file and line for a line that is no term or a term met twice."""
    terms: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        zh, _, english = line.partition("\t")
        meanings = tuple(part.strip() for part in english.split(";"))
        if not zh or zh != zh.strip() or not all(meanings):
            raise InputError(f"{where}:{number}: write a Chinese term, a tab, and English terms set apart by “;”")
        if zh in terms:
            raise InputError(f"{where}:{number}: {zh} is there already; keep one line for a term")
        terms[zh] = meanings
    return terms


@cache
def glossary() -> dict[str, tuple[str, ...]]:
    """All terms, simplified and in lower case, with their English."""
    name = "glossary.tsv"
    return parse_glossary((files("broadsheet") / "data" / name).read_text(encoding="utf-8"), name)


@cache
def _lengths() -> dict[str, tuple[int, ...]]:
    """First character of terms → lengths of the terms that begin with it, longest first."""
    lengths: dict[str, set[int]] = {}
    for zh in glossary():
        lengths.setdefault(zh[0], set()).add(len(zh))
    return {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}


def _cuts_word(text: str, start: int, end: int) -> bool:
    """Whether a term with Latin letters at its edge would begin or end inside a Latin word."""

    def inside(at: int) -> bool:
        return 0 < at < len(text) and bool(_NEUTRAL.match(text[at - 1]) and _NEUTRAL.match(text[at]))

    return inside(start) or inside(end)


def gloss(text: str) -> list[Gloss]:
    """The terms in a text, left to right and without overlap.

    Of all ways to lay terms on the text it takes the one that covers most characters, then the one with the fewest
    terms, then the one whose terms differ most in length, so that the longest term is kept whole (dynamic programming
    from the right, linear in the text). Greedy longest match loses what follows a term that ends too late.
    """
    terms, lengths = glossary(), _lengths()
    lower = map(str.lower, text.translate(_SIMPLIFIED))
    plain = "".join(character[0] for character in lower)  # some become two characters; positions must stay
    best: list[tuple[int, int, int]] = [(0, 0, 0)] * (len(plain) + 1)
    taken = [0] * len(plain)
    for start in range(len(plain) - 1, -1, -1):
        best[start] = best[start + 1]
        for length in lengths.get(plain[start], ()):
            end = start + length
            if end <= len(plain) and plain[start:end] in terms and not _cuts_word(plain, start, end):
                covered, count, squares = best[end]
                option = (covered + length, count - 1, squares + length * length)
                if option > best[start]:
                    best[start], taken[start] = option, length
    found, at = [], 0
    while at < len(plain):
        if taken[at]:
            zh = plain[at : at + taken[at]]
            found.append(Gloss(zh, terms[zh], at, at + taken[at]))
        at += taken[at] or 1
    return found


def english_of(text: str) -> str:
    """The English of all terms in order, with Latin words and numbers (``GPU``, ``v2``, ``C++``) as they stand."""
    found = gloss(text)
    pieces = [(term.start, english) for term in found for english in term.english]
    covered = {at for term in found for at in range(term.start, term.end)}
    for match in _NEUTRAL.finditer(text):
        if match.start() not in covered:
            pieces.append((match.start(), match[0].rstrip("./-")))
    return " ".join(dict.fromkeys(piece for _, piece in sorted(pieces, key=lambda piece: piece[0])))
