"""English."""

from __future__ import annotations

from langmemory.formation.rules.retractions.frame import Ending, Frame, ending

COUPLE = "married_to engaged_to partner_of"
ROLES = (
    "friend_of colleague_of neighbour_of flatmate_of teacher_of landlord_of has_doctor reports_to"
)
JOB = "works_at workplace"
OF_JOB = "works_as working_hours reports_to colleague_of"

_ADVERBS = (
    r"(?: (?:just|finally|recently|now|actually|also|both|already|officially|eventually|sadly|then|"
    r"really|even|ever|currently|quite|technically|honestly|all|since|only|unfortunately|been|long|"
    r"completely|totally|basically|still|probably|apparently|definitely|at last|simply|suddenly))*"
)
_AUX = rf"(?:{_ADVERBS} (?:have|has|had|did|ended up)|){_ADVERBS}"
_NOT = (
    rf"(?:{_ADVERBS} (?:do|does|did|am|is|are|was|were|have|has|had|can|could|will|'s))*{_ADVERBS} "
    rf"(?:no longer|not|never)(?: (?:any longer|any more|anymore))?{_ADVERBS}"
)
_END = (
    r"(?: (?:yesterday|today|last [a-z]+|on [a-z]+|in (?:the )?[a-z]+(?: \d+)?|in \d+|this [a-z]+|"
    r"(?:a|two|three|four|five|six|some|several|many|a few|a couple of|\d+) [a-z]+ (?:ago|back)|"
    r"(?:some|a long|a short|quite some|a little|a) (?:time|while) (?:ago|back)|"
    r"recently|now|anymore|any more|any longer|again|for good|forever|completely|altogether|too|"
    r"already|after (?:[\w-]+ )?(?:years|months|all)|years ago|these days|since [\w ]+|at all|"
    r"permanently|earlier [\w ]+|early|for \w+ reasons|though|either|and [^§]*|because [^§]*))*\W*$"
)
_WORK = r"(?:work|works|working|worked|employed|with|at|part of|on the team)"
_LOST_JOB = (
    r"(?:(?:was|were|got|been|have been|has been|is|am|being)(?: just)? (?:fired|sacked|laid off|let go|"
    r"dismissed|made redundant|terminated|the sack|the boot|canned|axed|let off)|lost (?:{O}|{P} (?:[a-z]+ )?"
    r"(?:job|position|post|role))|resigned|handed in {P} (?:notice|resignation)|gave (?:in )?{P} notice|"
    r"retired|took early retirement|stopped working|quit (?:(?:{P}|the) (?:day )?job|work)|"
    r"(?:am|is|are|became|'s)(?: [a-z]+)? (?:unemployed|jobless|out of work|out of a job|between jobs|"
    r"retired|on the dole|redundant))"
)
_SPLIT = (
    r"(?:split(?: up)?|broke up|broken up|separated|parted ways|called it quits|called it a day|divorced|"
    r"ended (?:things|it|our relationship|our marriage|the relationship|the marriage)|"
    r"(?:got|gotten|are|am|is|were|was)(?: [a-z]+)? (?:divorced|separated|split up|broken up)|"
    r"are (?:over|done|finished|history|through)|went (?:our|their) separate ways)"
)
_WITHOUT = (
    r"(?:sold|got rid of|gotten rid of|gave(?: away)?|given away|donated|scrapped|traded(?: in)?|swapped|"
    r"lost|returned|threw (?:out|away)|wrecked|crashed|totall?ed|binned|junked|wrote off|"
    r"parted with|exchanged|auctioned(?: off)?|pawned|ditched|let go of|sent back|gave up|given up|"
    r"passed on|dumped|burned|burnt|smashed|destroyed|sold off)"
)
_STOPPED = (
    r"(?:stopped|quit|gave up(?: on)?|given up(?: on)?|dropped|abandoned|ceased|packed in|ditched|"
    r"(?:am|is|are|'m)(?: [a-z]+)? (?:done|through|finished) with|finished with|jacked in|chucked in|"
    r"retired from|left|moved on from|turned {P} back on|cut out|kicked|swore off|sworn off|"
    r"walked away from|bowed out of|dropped out of|called time on|knocked {O} on the head|"
    r"put an end to|got out of|backed away from|weaned {M}self off|renounced)"
)
_CANCELLED = (
    r"(?:cancell?ed|called off|scrapped|pulled out of|backed out of|dropped out of|gave up on|given up on|"
    r"abandoned|dropped|bailed on|bailed out of|turned down|withdrew from|withdrawn from|"
    r"changed {P} minds? about|decided against|ditched|skipped|shelved|binned|nixed|pulled the plug on|"
    r"opted out of|ruled out|broke off|broken off|let go of|had to (?:cancel|call off|scrap|drop|skip|"
    r"abandon|give up(?: on)?|pull out of))"
)
_OFF = (
    r"(?:off(?: the table)?|cancell?ed|called off|scrapped|over|dead|history|not happening|no longer "
    r"happening|not going ahead|not on(?: anymore)?|no longer on|shelved|abandoned|no more|finished|"
    r"not going to happen|no longer going ahead|ruled out|dropped|out of the question|not a thing anymore|"
    r"not taking place|no longer taking place|no longer planned|not planned anymore)"
)
_DEAD = (
    r"(?:died|passed(?: away| on)?|dead|deceased|(?:was|were|got|been|'s been) (?:killed|run over|hit "
    r"by a [a-z]+|"
    r"put (?:down|to sleep)|euthani[sz]ed)|(?:did not|didn't) (?:make it|survive)|no longer with (?:us|{M})|"
    r"no longer alive|crossed the rainbow bridge|lost (?:his|her|its|their|the) (?:life|battle|fight)|"
    r"breathed (?:his|her|its) last)"
)

ENDINGS: list[Ending] = [
    # Where.
    *ending(
        "lives_in",
        r"{S}{not} (?:live|lives|lived|living|reside|resides|residing|based|staying|stay|settled|home)\b"
        r"(?: [\w'-]+){0,3}? {O}",
        r"{S}{not} (?:in|at|near) {O}",
        r"{S}{not} (?:live|lives|living|reside|stay)(?: (?:t?here|anymore|any more))+",
        r"{S}{aux} (?:moved (?:out of|away from|from|on from)|got out of|fled|relocated from|emigrated from|"
        r"said goodbye to|turned {P} back on|given up|gave up|packed up in|sold up in) {O}",
        r"{S}{aux} left {O}(?=.*\b(?:for good|behind|forever|permanently|last|ago|in|since|and)\b)",
        r"{S} (?:am|is|are) (?:done|finished|through) with {O}",
        r"{S} used to (?:live|reside|be based|stay)\b.*{O}",
        r"{O} (?:is|was)(?: (?:no longer|not|never|once))? (?:{P}|the place) .*(?:home|base|live)",
        r"{S}{aux} moved (?:away|out){end}",
        never=False,
    ),
    *ending("lives_in", r"{S}{aux} left {O}", unsure=True),
    *ending(
        "lives_with",
        r"{S}{not} (?:live|lives|living|share|sharing)\b.*\b(?:with|together)\b(?:.*{O})?",
        r"{O}{aux} (?:moved out|moved away|left)\b",
        r"{S}{aux} moved out\b",
        r"(?:{S} and {O}|{O} and {S}|{S}){not} (?:live|living|lives)\b.*together",
    ),
    # Work.
    *ending(
        JOB,
        rf"{{S}}{{not}}(?: [a-z]+){{0,2}}? {_WORK}\b(?: [\w'-]+){{0,3}}? ?{{O}}",
        rf"{{S}}{{not}} {_WORK}(?: there)?{{end}}",
        r"{S}{aux} (?:left|quit|resigned from|retired from|walked out of|walked out on|finished (?:at|with)|"
        r"moved on from|departed(?: from)?|stopped working (?:at|for|with|in)|given up|gave up|"
        r"handed in {P} notice (?:at|with)|quit working (?:at|for)|quit {P} job (?:at|with)|parted ways with|"
        r"lost {P} (?:job|position|place|role) (?:at|with)|ended {P} (?:[a-z]+ )?(?:at|with)|"
        r"(?:was|were|got|been|am) (?:fired|sacked|laid off|let go|dismissed|made redundant)(?: from| "
        r"by| at)?) "
        r"{O}(?! (?:at|around) \d| (?:early|late)\b| for (?:lunch|the day))",
        r"{S}{aux} handed in {P} notice and left {O}",
        r"{S} (?:am|is|are|'m)(?: [a-z]+)? (?:done|finished|through) (?:with|at) {O}",
        r"{O}{aux} (?:fired|sacked|dismissed|laid off|let|dropped|axed|got rid of) {M}\b",
        r"{O}{aux} (?:(?:has )?(?:gone|went) (?:bust|bankrupt|under)|(?:was |has |is )?closed(?: down)?|"
        r"shut down|let {M} go)",
        r"{P} (?:time|days|job|contract|stint|career|employment|role|position|internship)(?: (?:with|at|"
        r"for) {O})"
        r"(?: (?:is|are|was|has|have|been))* (?:over|ended|up|expired|ran out|come to an end|came to an end|"
        r"finished|done|terminated|not renewed|not (?:been )?extended|history)",
        r"{O}(?: (?:is|was|has|been|have|got))* (?:over|ended|gone|expired|ran out|cut|terminated|axed|"
        r"history|"
        r"not renewed|a thing of the past|eliminated)\b",
        r"{S} used to work\b.*{O}",
        r"(?:{S} and {O}|{O} and {S}){aux} (?:parted ways|part ways)",
        rf"{{S}}{{aux}} {_LOST_JOB}{{end}}",
        r"(?:they|the boss|the company|{P} (?:boss|manager|company|employer))(?: have| has)? "
        r"(?:just )?(?:fired|sacked|let|laid|dismissed|dropped) {M}\b",
    ),
    *ending(
        "works_as",
        r"{S}{not}(?: (?:an?|the|work(?:ing)? as(?: an?)?|employed as(?: an?)?|earning .* as))? {O}",
        r"{S}{aux} (?:stopped|quit|gave up|given up|left|retired from|retired as|ceased|resigned as)"
        r"(?: (?:working|work|being|to be))?(?: as)?(?: an?| the| my)? {O}",
        r"{S} used to (?:be|work as)\b.*{O}",
    ),
    *ending(JOB, r"{S}{aux} quit{end}", unsure=True),
    *ending(
        OF_JOB,
        rf"{{S}}{{aux}} {_LOST_JOB}{{end}}",
        r"{S}{aux} (?:left|quit) {O}",
        r"{S}{aux} quit{end}",
        r"{S} (?:do|does) not work(?: anymore| any more| any longer)",
        unsure=True,
    ),
    *ending(
        "working_hours rent charges",
        r"{S}{not} (?:pay|pays|paying|work|works|working|charge|charges|charging) {O}",
        r"(?:{P}|the) (?:rent|rate|fee|hours) (?:is|are) (?:no longer|not) {O}",
    ),
    *ending(
        "reports_to",
        r"{S}{not} (?:report|reports|reporting|answer|work|working)(?: (?:to|for|under|directly))+ {O}",
    ),
    *ending(
        "studies_at",
        r"{S}{aux} (?:dropped out of|quit|left|graduated from|finished(?: at)?|withdrew from|"
        r"(?:was|got|been) (?:expelled|kicked out) (?:from|of)|flunked out of|completed) {O}",
        r"{S}{aux} (?:dropped out|graduated|finished {P} (?:degree|studies)|flunked out|quit {P} studies|"
        r"(?:was|got|been) expelled){end}",
        r"{S}{not} (?:at|study|studying|attend|attending|enrolled|go|going|a student)\b(?:.*{O}|{end})",
    ),
    *ending(
        "studies",
        rf"{{S}}{{aux}} {_STOPPED}(?: (?:studying|learning|taking|doing|with))* {{O}}",
        r"{S}{not} (?:study|studying|learn|learning|taking|take|doing|do|studies)(?: to play)? {O}",
        r"{S}{aux} (?:switched|changed) from {O}",
        r"{S}{aux} (?:finished|completed) {O}",
    ),
    *ending(
        "uses",
        r"{S}{aux} (?:stopped using|quit(?: using)?|ditched|dropped|abandoned|(?:moved|switched|migrated)"
        r"(?: away| over| on)? from|got rid of|uninstalled|deleted|cancell?ed|left|gave up(?: on)?|given up"
        r"(?: on)?|replaced|dumped|swapped|got off|unsubscribed from|retired|phased out) {O}",
        r"{S} (?:am|are)(?: [a-z]+)? (?:done|through|finished) with {O}",
        r"{S}{not} (?:use|uses|using|on|touch|work with|working with|used) {O}",
    ),
    # People.
    *ending(
        COUPLE,
        rf"(?:{{S}} and {{O}}|{{O}} and {{S}}|{{S}}){{aux}} {_SPLIT}(?: (?:with|from|up with) {{O}}|{{end}})",
        r"(?:{S} and {O}|{O} and {S}|{S}){not} (?:together|married|engaged|a couple|dating|an item|in love|"
        r"seeing (?:each other|{O})|with {O}|in a relationship)(?: (?:to|with) {O}|{end})",
        r"{S}{aux} (?:left|dumped|divorced|broke(?:n)? up with|split (?:up )?(?:with|from)|separated from|"
        r"ended (?:it|things) with|finished with|walked out on|called it off with) {O}",
        r"{O}{aux} (?:left|dumped|divorced|broke(?:n)? up with|split (?:up )?(?:with|from)|walked out on|"
        r"ended (?:it|things) with|finished with) {M}",
        r"it (?:is|was) (?:all |finally )?over (?:between|with)\b.*{O}",
        r"(?:the|{P}) (?:divorce|separation) (?:is|was|came|went|has|got)\b",
        r"{S} (?:am|became)(?: [a-z]+)? (?:single|divorced|a divorc[eé]e?|separated|an? widow(?:er)?|widowed|"
        r"unattached)\b",
        r"{O}{aux} (?:is|was|became)(?: [a-z]+)? {P} (?:ex|former|late)\b",
        r"{P} (?:ex|former|late)(?:[ -](?:husband|wife|boyfriend|girlfriend|partner|fianc\w+))?,? {O}",
        r"(?:{P}|the) (?:marriage|relationship|engagement)(?: (?:with|to) {O})? (?:is|was|has|has been)"
        r"(?: [a-z]+)? (?:over|ended|off|broken|finished|called off|annulled|dissolved|on the rocks)",
    ),
    *ending(
        "engaged_to",
        r"{S}{aux} (?:called|broke|broken|cancell?ed) (?:off )?(?:the|{P}|{O}) ?(?:engagement|wedding)?\b",
        r"(?:the|{P}) (?:engagement|wedding) (?:is|was|has been|got) (?:off|called off|cancell?ed|broken)",
        r"(?:{S} and {O}|{O} and {S}|{S}){aux} (?:got|are|tied) (?:now )?(?:married|the knot)\b",
    ),
    *ending(
        f"{COUPLE} {ROLES} lives_with",
        r"{O}{aux}(?: (?:is|was))? (?:no longer|not)(?: really| actually)? {P} (?!favou?rite|kind)[a-z-]+",
        r"{O}{aux} (?:stopped|ceased|quit) being {P} [a-z]+",
        r"{O} used to be {P} [a-z]+",
        r"{O} (?:is|was)(?: now)? {P} (?:ex|former)\b",
        r"{P} (?:ex|former)[ -][a-z]+,? {O}",
        r"{S}{not} have {O} as (?:an? |{P} )?[a-z]+",
    ),
    *ending(
        f"{ROLES}",
        r"(?:{S} and {O}|{O} and {S}|{S}){not} (?:friends|colleagues|neighbou?rs|flatmates|roommates|"
        r"housemates|in touch|speaking|on speaking terms)(?: (?:with|to) {O}|{end})",
        r"{S}{aux} (?:fell out|fallen out|lost touch|cut (?:all )?(?:ties|contact)|parted ways|"
        r"ended {P} friendship|broke off contact) with {O}",
        r"(?:{S} and {O}|{O} and {S}|{S}){not} (?:share|sharing|live|living)\b.*(?:flat|apartment|house|"
        r"place|room|together)",
        r"(?:{P}|the) friendship with {O} (?:is|has) (?:over|ended)",
        r"{S}{not} (?:work|works|working|live|living) (?:with|next to|for) {O}",
        r"{S}{aux} (?:fired|sacked|left|dropped) {O}",
    ),
    *ending("flatmate_of neighbour_of", r"{O}{aux} (?:moved (?:out|away|on|to)|left|emigrated)\b"),
    *ending(
        "has_doctor reports_to landlord_of teacher_of colleague_of",
        r"{O}{aux} (?:retired|quit|left|resigned|(?:was|got|been) (?:fired|sacked|laid off|let go|replaced)|"
        r"sold (?:the|{P}) (?:house|flat|building|practice)|closed (?:his|her|their|the) practice)\b",
        r"{S}{aux} (?:changed|switched|moved to a new|found a new|found another|got a new|have a new|got "
        r"another)(?: [a-z]+)? {O}",
        r"{S}{not} (?:go|going|see|seeing|a patient of)(?: to)? {O}",
        unsure=True,
    ),
    # Animals and things.
    *ending(
        "has_pet",
        r"{S}{aux} (?:gave(?: away| up)?|given(?: away| up)?|rehomed|re-homed|sold|lost|returned|surrendered|"
        r"had to (?:give(?: away| up)?|sell|rehome|re-home|return|surrender)|found a new home for|"
        r"buried|got rid of|"
        r"said goodbye to|had to say goodbye to) {O}",
        r"{O}{aux} (?:ran (?:away|off)|disappeared|went missing|got lost|escaped|(?:was|got) stolen|"
        r"flew away|"
        r"belongs to (?!{M})|lives (?:with|at) (?!{M})|(?:has|have|found|got) (?:a new|another) (?:home|"
        r"family|owner)|went to live|"
        r"(?:is|lives) (?:now )?(?:with|at) (?!{M}))",
        r"{S}{aux} (?:gave|given|had to give) {O} (?:away|up|back|to)\b",
        r"{S}{not} (?:have|has|own|owns|keep|got|keeping)(?: (?:a|an|any|the|{P}))?(?: [a-z]+)? ?{O}",
        r"{S} (?:have|has) no {O}",
        r"{O}{aux} (?:is|was|are) (?:not|no longer) {P} [a-z]+",
        r"{S} used to have {O}",
        r"{O}{aux} (?:is|are) (?:gone|dead|no more)\b",
    ),
    *ending(
        "owns has_vehicle has_phone",
        rf"{{S}}{{aux}} (?:{_WITHOUT}|had to (?:sell|scrap|give up|give away|return)) {{O}}",
        r"{S}{aux} (?:traded|gave|given|threw) {O} (?:in|away|out|up)\b",
        r"{O}{aux} (?:is|was|are|were|got|has been|have been|had|were)(?: [a-z]+)? (?:sold|stolen|"
        r"scrapped|gone|"
        r"totall?ed|written off|wrecked|repossessed|towed and scrapped|destroyed|lost|traded in|a write-off|"
        r"given away|donated|dead|history)\b",
        r"{O}{aux} (?:broke down for good|died|burned down|burnt down|sank|belongs to (?!{M}))\b",
        r"(?:someone|somebody|they|thieves) stole {O}",
        r"{S}{aux} had {O} (?:stolen|scrapped|towed|crushed|repossessed|taken away|destroyed)",
        r"{S} used to (?:have|own|drive) {O}",
        r"{S}{not} (?:have|has|own|owns|drive|drives|driving|got|possess|ride|riding)"
        r"(?: (?:a|an|any|the|{P}))?(?: [a-z]+)? ?{O}",
        r"{S} (?:have|has) no {O}(?: (?:anymore|any more|now))",
    ),
    # Taste.
    *ending(
        "likes interested_in",
        r"{S}{not} (?:like|likes|love|loves|enjoy|enjoys|enjoying|care for|fancy|into|(?:a |much of a "
        r")?(?:big )?fan "
        r"of|keen on|fond of|adore|interested in|crazy about|mad about|passionate about|want|prefer|"
        r"hooked on|"
        r"excited about|liked|loved|enjoyed)(?: [a-z]+ing)? {O}",
        r"{S}{aux} (?:(?:went|gone|am|is|are|got)(?: [a-z]+)? (?:off|over)|lost (?:all )?(?:interest in|"
        r"{P} (?:love|taste|"
        r"passion|appetite) (?:for|of))|(?:am|is|are|got|grew|grown|'m)(?: [a-z]+)? (?:sick|tired|fed "
        r"up|bored|done|"
        r"over|weary|through|finished)(?: (?:of|with))?|"
        r"fell out of love with|fallen out of love with|grew out of|grown out of|outgrew|outgrown|"
        r"(?:have )?had enough of|stopped (?:liking|loving|enjoying|caring for)|come to (?:hate|dislike|"
        r"detest)|started (?:hating|to hate|to dislike|disliking)|turned against|never (?:liked|loved|"
        r"enjoyed|"
        r"cared for)) {O}",
        r"{S} (?:now )?(?:can not|can't|cannot) (?:stand|bear|stomach|abide|look at)(?: [a-z]+ing)? {O}"
        r"(?=.*\b(?:now|anymore|any more|these days|any longer)\b)",
        r"{S}(?: (?:now|really|actually|absolutely))* (?:hate|hates|dislike|dislikes|detest|loathe|"
        r"despise) {O}",
        r"{S} used to (?:like|love|enjoy|be into|be a fan of|adore) {O}",
        r"{O}{aux}(?: (?:is|are))? (?:not|no longer)(?: really)? (?:{P} (?:thing|cup of tea|jam|bag|"
        r"favou?rite)|for {M}|"
        r"something {S}|as (?:fun|good))",
        r"{O} (?:do|does) nothing for {M}",
        r"{S} could not care less (?:about|for) {O}",
        r"{O} (?:do|does) not (?:interest|excite|appeal to|do it for|do anything for|taste good to) {M}",
        r"{O} (?:no longer) (?:interests?|excites?|appeals? to|does it for) {M}",
    ),
    *ending(
        "likes interested_in",
        rf"{{S}}{{aux}} {_STOPPED}(?: [a-z]+ing)? {{O}}",
        r"{S}{not} (?:drink|eat|do|go|watch|read|listen to|play|touch|buy|have|use|wear)(?: to)? {O}",
        r"{S} (?:can not|can't|cannot) (?:stand|bear|stomach|abide) {O}",
        r"{O} (?:bores?|annoys?|disgusts?) {M}",
        unsure=True,
    ),
    *ending(
        "dislikes",
        r"{S}{not} (?:hate|hates|dislike|dislikes|mind|detest|loathe|despise|bothered by)(?: [a-z]+ing)? {O}",
        r"{S}{aux} (?:come to (?:love|like|enjoy|appreciate)|came (?:round|around) to|come (?:round|"
        r"around) to|"
        r"warmed (?:up )?to|got to like|learn(?:ed|t) to (?:love|like|enjoy)|started (?:liking|loving|"
        r"to like|"
        r"to love|to enjoy|enjoying)|grown to (?:love|like)|grew to (?:love|like)|fell in love with|"
        r"fallen in love with|acquired a taste for|developed a taste for|changed {P} mind about|got over {P} "
        r"(?:dislike|hatred) of|stopped (?:hating|disliking)|used to (?:hate|dislike|detest)) {O}",
        r"{S}(?: (?:now|actually|really|kind of|quite|even|do|have|have started to|am|is|are))* "
        r"(?:like|likes|love|loves|enjoy|enjoys|adore|adores|into|a fan of|fine with|ok with|okay with) {O}",
        r"{O} (?:is|are)(?: [a-z]+)? (?:fine|okay|ok|great|good|delicious|not (?:that|so) bad)"
        r"(?=.*\b(?:now|after all|these days)\b)",
    ),
    *ending(
        "favourite",
        r"{O}{aux} (?:is|are|was) (?:not|no longer)(?: really)? {P} favou?rite",
        r"{P} favou?rite [a-z ]+ (?:is|are) (?:not|no longer) {O}",
        r"{S} (?:have|has) a new favou?rite",
    ),
    *ending(
        "has_hobby member_of",
        rf"{{S}}{{aux}} (?:{_STOPPED}|cancell?ed|finished|ended|sold {{O}} and quit)(?: (?:playing|"
        rf"doing|going|"
        r"practi[sc]ing|taking|singing|to|in|with|my|for|dancing|training|attending))* {O}",
        r"{S}{not} (?:play|plays|playing|do|does|doing|go|goes|going|practi[sc]e|practi[sc]ing|take|"
        r"takes|taking|"
        r"sing|sings|singing|attend|attending|dance|dancing|train|in|part of|a member of|with|into)"
        r"(?: (?:to|in|with|for|any|much))* ?{O}",
        r"{S} used to (?:play|do|sing|go|take|be in|practi[sc]e)\b.*{O}",
        r"{S} sold {O}",
        r"{S}{not} {O}(?: anymore| any more| any longer)",
    ),
    *ending(
        "has_hobby member_of",
        r"{S}(?: have| has)? not (?:played|done|been|touched|practi[sc]ed|gone|taken|sung)\b.*{O}.*"
        r"\b(?:in|for) (?:\w+ )?(?:years|ages|months|a year|decades)",
        unsure=True,
    ),
    # Body.
    *ending(
        "diet religion marital_status",
        r"{S}{not}(?: (?:be|been|being|strictly|an?|eating|eat|on a|entirely))* {O}",
        r"{S}{aux} (?:stopped|quit|gave up|given up|ended|dropped|ditched|abandoned)"
        r"(?: (?:being|eating|going|living|my|the|an?))* {O}",
        r"{S} used to be (?:an? )?{O}",
        r"{S}{aux} (?:am |is |are )?(?:eat|eats|eating|started eating|started to eat|went back to(?: "
        r"eating)?|"
        r"gone back to(?: eating)?|back to(?: eating)?|back on|can eat|ate)(?: [a-z]+)? (?:meat|fish|"
        r"dairy|eggs|"
        r"animal products|"
        r"everything|cheese|chicken|beef|pork|steaks?|burgers?|bacon|gluten|bread)(?=.*\b(?:again|now|these "
        r"days)\b|{end})",
    ),
    *ending(
        "does_not_eat",
        r"{S}{aux} (?:can |am |is |are |do |does )?(?:eat|eats|eating|drink|drinks|drinking|have|having|"
        r"tolerate)"
        r"(?: [a-z]+)? {O}(?=.*\b(?:again|now|these days|after all|anyway)\b)",
        r"{S}{aux} (?:started|begun|began|gone back to|went back to|resumed|back to|am back to|am back "
        r"on|back on)"
        r"(?: (?:eating|drinking|having|to eat|to drink))? {O}",
        r"{O} (?:is|are)(?: [a-z]+)? (?:ok|okay|fine|allowed|back on)\b(?=.*\b(?:again|now)\b)",
        r"{S}{not} (?:avoid|avoiding|off) {O}",
        r"{S} used to avoid {O}",
    ),
    *ending(
        "allergic_to",
        r"{S}{not}(?: [a-z]+)? (?:allergic|intolerant)(?: (?:to|of) {O}|{end})",
        r"{S}{not} (?:have|has|suffer from|react to|got) {O}",
        r"{S}{aux} (?:outgrew|outgrown|grew out of|grown out of|got rid of|lost|cured|got over|gotten "
        r"over|beat|"
        r"(?:am|was|been) (?:cured|rid|free) of|overcame|overcome|tested negative for) {O}",
        r"{O}{aux}(?: (?:is|was|has|have|been|turned out to be))*(?: [a-z]+)? (?:gone|cured|over|went away|"
        r"disappeared|vanished|a misdiagnosis|misdiagnosed|wrong|a mistake|a false alarm|passed|history|"
        r"cleared up|no longer an issue|not an issue anymore|not real|outgrown)\b",
        r"{S} (?:can|could|am able to)(?: [a-z]+)? (?:eat|have|drink|touch|pet|tolerate|be around|handle) {O}"
        r"(?=.*\b(?:again|now|these days|after all)\b)",
        r"{O} (?:is|are)(?: [a-z]+)? (?:fine|ok|okay|no problem|safe)\b(?=.*\b(?:now|again|after all)\b)",
        r"{O} (?:do|does) not (?:bother|affect|trouble) {M}(?: anymore| any more)?",
        r"{S} used to be allergic to {O}",
    ),
    *ending(
        "has_condition",
        r"{S}{not} (?:have|has|suffer|suffers|suffering|got|living|diagnosed)(?: (?:from|with|any|an?))* {O}",
        r"{S}{not}(?: (?:an?|really))* {O}",
        r"{S}{aux} (?:got rid of|beat|recovered from|(?:am|was|been|is)(?: [a-z]+)? (?:cured|free|rid|"
        r"healed) of|"
        r"got over|gotten over|overcame|overcome|outgrew|outgrown|grew out of|grown out of|survived|"
        r"conquered) {O}",
        r"{O}{aux}(?: (?:is|was|has|have|been|turned out to be))*(?: [a-z]+)? (?:gone|cured|over|went away|"
        r"disappeared|a misdiagnosis|misdiagnosed|in remission|healed|cleared up|history|a mistake|a "
        r"false alarm)\b",
        r"{S} used to (?:have|suffer from) {O}",
    ),
    *ending(
        "takes_medication",
        r"{S}{aux} (?:(?:came|am|are|is|went|got|gone|come|'m)(?: [a-z]+)? off|stopped(?: taking| with)?|"
        r"quit(?: taking)?|"
        r"weaned (?:myself )?off|tapered off|dropped|finished|discontinued|ditched|switched (?:off|from)|"
        r"gave up|been taken off|(?:am|are)(?: [a-z]+)? (?:done|finished) with|used to take) {O}",
        r"{S}{not} (?:take|takes|taking|on|need|needs|use|using|have to take|prescribed) {O}",
        r"(?:the|{P}|they)(?: [a-z]+)? (?:took|has taken|have taken) {M} off {O}",
    ),
    # Who somebody is.
    *ending(
        "speaks",
        r"{S}{not}(?: [a-z]+)? (?:speak|speaks|know|understand|remember)(?: (?:a word of|any|much))? {O}",
        r"{S}{aux} (?:forgot|forgotten|lost|unlearned)(?: (?:all|most of))?(?: {P})? ?{O}",
    ),
    *ending(
        "nickname named",
        r"(?:{S} )?(?:please )?(?:do not|stop|no longer|never)(?: (?:please|ever))? call(?:ing)? {M} {O}",
        r"(?:nobody|no one|people no longer|they no longer|hardly anyone)(?: [a-z]+)? calls? {M} {O}",
        r"{S}{not} (?:called|named|go by|goes by|use|using|known as|{O}) ?{O}?",
        r"{P} name is (?:not|no longer) {O}",
        r"{S} used to be called {O}",
    ),
    *ending(
        "comes_from born_in born_on age nationality parent_of sibling_of graduated_from visited",
        r"{S}{not}(?: (?:really|originally|actually))* (?:from|born (?:in|on)|born|grow up in|graduate from|"
        r"been to|visited?|come from|have|a citizen of)? ?{O}",
        r"{P} (?:birthday|name) (?:is|was) not (?:on )?{O}",
        r"{O} (?:is|was) not {P} [a-z]+",
        never=True,
    ),
    # Whatever it is: nobody says so of what goes on.
    *ending(
        "*",
        r"{O}(?: (?:days|phase|years|chapter|era|career|time|journey|story|habit))? (?:is|are|was|were|"
        r"has|have|had|'s)"
        r"(?: (?:been|all|now|finally|long|well|truly|officially|a|so))* (?:over|gone|behind {M}|"
        r"history|finished|done|no more|"
        r"in the past|a thing of the past|thing of the past|out of {P} life|cut|ended|come to an end|no "
        r"longer\b.*|ancient history)\b",
        r"{O}(?: (?:is|are|was|were|has|have|do|does|will))+ not\b.*\b(?:anymore|any longer|for {M})\b",
        r"{O}{aux} (?:ended|came to an end|stopped|ceased|finished)\b",
        r"{S}{aux} put {O} (?:aside|away|behind {M}|to rest|on the shelf|down)",
        r"{S}{aux} (?:turned {P} back on|said goodbye to|waved goodbye to|closed the (?:chapter|book) "
        r"on|had enough of) {O}",
        r"{S}{aux} left {O} (?:behind|for good)\b",
        rf"{{S}}{{aux}} {_STOPPED}(?: [a-z]+ing)?(?: (?:at|in|with|for|as|on))? {{O}}",
        r"{S}{not}\b.*{O}.*\b(?:anymore|any longer)\b",
        r"{S}\b.* no longer\b.*{O}",
        r"{P} [\w ]+ (?:is|are|was|were) (?:no longer|not)\b.*{O}",
        r"(?:the|{P}) [a-z]+ (?:with|at|in|of|to) {O} (?:is|was|has|are) (?:over|gone|ended|finished|done)",
        unsure=True,
    ),
    # Plans.
    *ending(
        "plans decided has_goal",
        rf"{{O}}{{adverbs}} (?:is|are|was|were|has been|have been|got|'s)(?: [a-z]+)? {_OFF}",
        r"{O}{adverbs} (?:fell through|will not happen|did not happen|is not going to happen|has fallen "
        r"through|"
        r"came to nothing|did not work out|got cancell?ed|was cancell?ed)",
        rf"{{S}}{{aux}} {_CANCELLED}(?: (?:going|doing|having|the idea of|{{P}} plans? (?:to|for)|"
        rf"plans? (?:to|for)))* "
        r"{O}",
        r"(?:they|the [a-z]+|he|she|it|{P} [a-z]+)(?: (?:have|has|had|just|had to|to))* "
        r"(?:cancell?(?:ed)?|call(?:ed)? off|scrap(?:ped)?|call(?:ed)? {O} off) {O}",
        r"{S}{adverbs} (?:am|is|are) (?:no longer|not){adverbs} (?:going (?:to|on|for)|doing|having|"
        r"attending|"
        r"taking|planning|planning on|making) (?:[a-z]+ )?{O}",
        r"{S}{adverbs} (?:will not|won't)(?: be)? (?:[a-z]+ )?(?:[a-z]+ )?{O}",
        r"{S}{adverbs} (?:called|broke) {O} off",
        r"there (?:will|is|are) (?:not|no longer|no)(?: going to)?(?: be)? ?{O}",
        r"no {O}(?: for {M})?(?: after all| then| this year)?{end}",
        r"{S}{adverbs} (?:do|does|did|can) not (?:want|plan|need|have|intend|go|get|make|do)(?: (?:to|"
        r"on|for))?"
        r"(?: [a-z]+)? {O}",
        r"{S}{aux} decided (?:to (?:keep|stay|skip|cancel|drop|call off|not do|scrap)|not to(?: "
        r"[a-z]+)?|against) {O}",
        r"{S}{aux} (?:changed|change) {P} minds? (?:about|on|regarding) {O}",
    ),
    *ending(
        "plans decided has_goal",
        r"{O}{adverbs} (?:is|was|has been|got|had to be) (?:postponed|delayed|pushed back|put off|on "
        r"hold|put on hold)",
        r"{S}{adverbs} (?:am|are) (?:staying|remaining) (?:here|put|at home|where)",
        unsure=True,
    ),
]

ENGLISH = Frame(
    code="en",
    cues=r"\w",
    spelled_out=(
        (r"\bcan(?:no|')t\b", "can not"), (r"\bwon't\b", "will not"), (r"\bshan't\b", "shall not"),
        (r"n't\b", " not"), (r"'m\b", " am"), (r"'re\b", " are"), (r"'ve\b", " have"), (r"'ll\b", " will"),
        (r"\b(it|he|she|that|there|what|who|here)'s\b(?= (?:been|got|gone|left|died|passed|moved|quit|"
         r"stopped|lost|sold))", r"\1 has"),
        (r"\b(it|he|she|that|there|what|who|here)'s\b", r"\1 is"),
        (r"(?<=\w)'s\b(?= (?:dead|gone|off|over|not|no longer|been|cancel|now|sold|died))", " is"),
        (r"\bany ?more\b", "anymore"), (r"\b(?:gonna)\b", "going to"),
        (r"\bdont\b", "do not"), (r"\bim\b", "I am"), (r"\bi\b", "I"),
    ),
    skip=(
        r"\b(?:if|unless|would|could(?! not care)|might|wish|wishes|hope|hoping|imagine|suppose|maybe|"
        r"perhaps|almost|nearly|"
        r"whether|in case|what if|dreamt?|dreamed|pretend|may be|afraid of|worried|should(?! have said)|"
        r"about to|"
        r"want to|wants to|wanted to|considering|thinking (?:of|about)|thought (?:of|about)|"
        r"(?:am|is|are) going to (?:quit|stop|leave|sell|move|give|cancel|break|drop|retire|resign|divorce)|"
        r"will (?:quit|stop|leave|sell|move|give|cancel|break|drop|retire|resign|divorce)|"
        r"going to (?:quit|leave|sell|cancel)|planning to|plan to|trying to|tried to|refuse|never "
        r"(?:stop|quit|"
        r"give up|gave up|stopped)|not (?:yet|only|just|over yet)|joking|kidding|in the (?:movie|film|"
        r"book|game|story|show)|"
        r"character)\b"
    ),
    doubt=(
        r"\b(?:i think|i guess|i believe|i suppose|apparently|probably|seems?|seemingly|says?|said|told|"
        r"heard|rumou?r\w*|"
        r"allegedly|supposedly|not sure|sort of|kind of|possibly|i feel|reckon|i fear|more or less|basically|"
        r"technically)\b"
    ),
    passing=(
        r"\b(?:today|tonight|this (?:week|weekend|morning|afternoon|evening|month|time)|tomorrow|right "
        r"now|at the "
        r"moment|for now|for a (?:while|bit|week|month|few \w+)|until|till|temporarily|on holiday|on "
        r"vacation|"
        r"yet|enough|much|often|every|always|before|alone|without|except|only)\b"
    ),
    leads=(
        r"(?:(?:and|but|so|well|oh|no|nope|sorry|wait|actually|sadly|unfortunately|luckily|by the way|"
        r"btw|also|"
        r"anyway|"
        r"update|news|bad news|good news|big news|fyi|turns out(?: that)?|it turns out(?: that)?|it "
        r"turned out(?: "
        r"that)?|in fact|"
        r"honestly|finally|to be honest|guess what|then|now|just|since then|these days|nowadays|as of "
        r"\w+|recently|lately|"
        r"yesterday|today|last \w+|this (?:week|month|year|morning|spring|summer|autumn|winter)|in \w+|"
        r"on \w+|"
        r"a (?:week|month|year|while) ago|\w+ (?:weeks|months|years|days) ago|correction|oops|my "
        r"mistake|hey|hi|"
        r"hello|look|listen|you know|(?:the|my|our) (?:doctors?|tests?|results?|vet|allergist)(?: "
        r"results?)? (?:says?|said|showed|shows|confirmed|found|proved)(?: that)?|"
        r"i (?:think|guess|believe)(?: that)?|"
        r"apparently|probably|it seems(?: that)?|because|although|though|that|remember that|after all|"
        r"alas|ugh|"
        r"i regret to say(?: that)?|i am afraid(?: that)?|i have to say|i must say|to my surprise|eventually|"
        r"in the end|happy to say|as for \w+|after \w+ years|after all these years|"
        r"unfortunately enough|fun fact|for the record|just so you know)\b[\s,:–—-]*)*"
    ),
    splits=(
        r"\s*[;:–—]\s+|\s*,\s+(?=(?:I|we|he|she|they|it|that|my|our|the|and|but|so|because|which|they're)\b)|"
        r"\s+(?:and|but|so|because|since|although|though|while|as)\s+(?=(?:I|we|he|she|they|it|my|our|"
        r"the|now|that)\b)|"
        r"\s+but\s+|\s+and\s+(?=(?:then |now |just )?(?:left|quit|sold|moved|gave|stopped|lost|walked|"
        r"broke|split|retired|"
        r"resigned|cancell?ed|dropped|deleted|went off|got rid)\b)"
    ),
    me=r"\b(?:I|[Ww]e)\b",
    my=r"\b(?:[Mm]y|[Oo]ur)\b",
    to_me=r"\b(?:[Mm]e|us|myself)\b",
    others={"he": (r"\bhe\b", r"\bhis\b", r"\bhim\b"), "she": (r"\bshe\b", r"\bher\b", r"\bher\b"),
            "they": (r"\bthey\b", r"\btheir\b", r"\bthem\b")},
    it=r"\b(?:it|that|this|them|there|those|these)\b",
    them=r"\b(?:him|her|them|he|she)\b",
    both=(r"(?:§M|me) and §O", r"§O and (?:§M|me)"),
    articles=(
        r"(?:my|our|the|this|that|his|her|their|an?|any|some|all|all of|all my|§P|no)(?: (?:old|new|"
        r"little|big|"
        r"dear|beloved|poor|lovely|whole|planned|upcoming|sweet|own|second-hand|used|blue|red|black|"
        r"white|current|"
        r"former|day|part-time|full-time))*"
    ),
    between=r"(?:,|to|with|at|in|for|of|from|called|named|about|on)",
    nouns={
        "works_at": "job|position|gig|role|post|employer|company",
        "workplace": "job|position|gig|role|post|employer",
        "works_as": "job|profession|career|position|role",
        "studies_at": "university|uni|college|school|degree|course|studies|programme|program",
        "studies": "course|classes|class|lessons|studies|degree|major",
        "married_to": "marriage|husband|wife|spouse|partner",
        "engaged_to": "engagement|fiancé|fiancée|fiance|fiancee|wedding",
        "partner_of": "relationship|boyfriend|girlfriend|partner",
        "friend_of": "friend|mate|buddy|friendship",
        "flatmate_of": "flatmate|roommate|housemate", "neighbour_of": "neighbour|neighbor",
        "colleague_of": "colleague|coworker|co-worker", "reports_to": "boss|manager|supervisor",
        "teacher_of": "teacher|tutor|instructor|guitar teacher|piano teacher",
        "landlord_of": "landlord|landlady", "has_doctor": "doctors|doctor|gp|physician",
        "lives_with": "flatmate|roommate|housemate",
        "has_pet": "pets|pet", "has_hobby": "lessons|classes|class|training|hobby",
        "takes_medication": "medication|meds|pills|tablets|medicine|antidepressants",
        "allergic_to": "allergy|allergies|intolerance", "has_condition": "condition|illness|disease",
        "diet": "diet", "uses": "account|app|subscription|tool",
        "rent": "rent", "charges": "rate",
    },
    plans=(
        (r"\bmove\b", "move|relocation|moving", r"(?:moving|relocating|going to (?:move|relocate)|going)"),
        (r"\b(?:travel|fly|visit|trip)\b", "trip|flight|journey|holiday|vacation|visit|tour|travel "
            "plans|tickets?",
         r"(?:flying|going|travell?ing|driving|visiting|heading|going to (?:fly|travel|visit|see|go))"),
        (r"\bmarr(?:y|ied)\b", "wedding|marriage|ceremony|engagement", r"(?:getting married|marrying|"
            r"going to get married|get married)"),
        (r"\bretire\b", "retirement|retiring|retire", r"(?:retiring|going to retire)"),
        (r"\bmarathon|race|run\b", "race|run|marathon", r"(?:running|doing|going to (?:run|do)|taking "
            r"part in)"),
        (r"\binterview\b", "interview|job interview", r"(?:having|going to|doing)"),
        (r"\b(?:appointment|check-?up|scan|surgery|operation|exam)\b", "appointment|surgery|operation|"
            "exam|scan",
         r"(?:having|going to|doing|taking)"),
        (r"\bbaby\b", "pregnancy|baby", r"(?:having|expecting)"),
    ),
    parts={
        "not": _NOT, "aux": _AUX, "end": _END, "adverbs": _ADVERBS,
        "unplanned": rf"§S{_ADVERBS}(?: (?:have|has))?{_ADVERBS} (?:(?:am|is|are|will)(?: no longer|"
        rf"{_ADVERBS} not)|decided (?:not to|against)|"
        rf"{_ADVERBS} decided not to){_ADVERBS} (?:be )?<verbs>",
        "elided": (
            r"(?:not|no longer|never|stopped|quit|got (?:fired|divorced|rid|laid|sacked)|lost|left|sold|"
            r"gave|broke|split|moved|"
            r"came off|cancell?ed|divorced|single|dropped|ditched|do not|can not|had to|was|have|do|"
            r"went off|retired|"
            r"resigned|switched|outgrew|called off|decided|changed|used to|hate)"
        ),
    },
    endings=tuple(ENDINGS),
    corrections=(
        r"[\w' ]+? not (?:(?:live|work|called|named|from|in|at|for|on|an?|the) )*(?P<old>[^,;]+?),? "
        r"(?:but|it is)(?: (?:actually|really|in|at|on|from|for|called|named))* "
        r"(?P<new>(?-i:[A-Z0-9])\S*(?: (?-i:[A-Z0-9])\S*)*)",
        r"(?:I|we) got [\w' ]+ wrong,? (?:it is|it was|that is)(?: actually)? (?:on |in )?(?P<new>[^,;]+)",
        r"(?:it|that|this) (?:is|was|should be|should have been)(?: actually| really)? (?:on |in |at "
        r")?(?P<new>[^,;]+?)"
        r"(?: (?:where|that) [^,]+)?,? (?:and )?not (?:in |on |at |from |with |for |to |an? |the "
        r")?(?P<old>[^,;]+)",
        r"(?:no |sorry |actually )*not (?:in |on |at |from |an? )?(?P<old>[^,;]+?)(?:,| but| -| –|, but|"
        r", it is|: )+ ?"
        r"(?:it is |in |on |at |an? )?(?P<new>[^,;]+)",
        r"(?:it|that) (?:is|was) not (?:in |on |at |an? )?(?P<old>[^,;]+?)(?:,| but|;)+ ?(?:it is |but "
        r")?(?:in |on |at |an? )?"
        r"(?P<new>[^,;]+)",
        r"(?:I|we) (?:said|wrote|told you|mentioned) (?P<old>[^,;]+?),? but (?:it is|it was|I meant|I "
        r"should have said|"
        r"I mean|that should be|meant)(?: actually| really)? (?P<new>[^,;]+)",
        r"(?:I|we) (?:meant|mean|intended|should have said)(?: to (?:say|write))? (?P<new>[^,;]+?)"
        r"(?:,? (?:and )?(?:not|instead of|rather than) (?P<old>[^,;]+))?",
        r"(?:{S}|I|we)(?: [\w']+){1,3}? (?:in |at |as |to |from |on |an? |the )?(?P<new>[^,;]+?),? "
        r"(?:and )?not(?: just)? "
        r"(?:in |at |as |to |from |on |for |with |an? |the )?(?P<old>[^,;]+)",
        r"[\w' ]+? (?:is|are|lives in|works at|works for|is called) (?:in |at |on )?(?P<new>[^,;]+?),? "
        r"(?:and )?not "
        r"(?:in |at |as |to |from |on |an? |the )?(?P<old>[^,;]+)",
        r"(?P<new>[^,;]+?),? (?:and )?not (?:in |on |at |an? |the )?(?P<old>[^,;]+)",
    ),
    again=r"(?:(?:no|oh|wait|oops|um|er|argh)[ ,.–—-]+)*(?:sorry|oops|correction|i mean|make that|or "
        r"rather|scratch that|my mistake|wait)[ ,:.–—-]+(?:i mean |make that |it is "
        r")?(?P<new>(?-i:[A-Z0-9])\S*(?: \S+){0,2})",
    instead="I meant",
    denials=(
        r"(?:that|it|this)(?: is| was)? (?:not (?:true|right|correct|so|the case)(?: anymore)?|no "
        r"longer (?:true|so|the case|"
        r"right)|wrong|incorrect|false|a lie|a mistake|over|in the past|history|outdated)"
    ),
    died=(
        rf"(?:{{O}}|{{S}}){{aux}}(?: (?:is|was|are|were|has|have|had))*(?: [a-z]+)? {_DEAD}"
        r"|{S}(?: [a-z]+){0,2} (?:lost|buried) {O}{end}"
        r"|{S}(?: [a-z]+){0,2} (?:had to put|put|had to have|had) {O} (?:put )?(?:down|to sleep)"
        r"|{S} had to (?:put down|put to sleep) {O}"
        r"|{S} (?:am|became)(?: [a-z]+)? (?:an? widow(?:er)?|widowed)"
    ),
    forms=("s", "es", "ing", "e", "er", "ers", "ed", "ism"),
)  # fmt: skip
