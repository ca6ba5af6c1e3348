"""Cases of retractions, one a row: the statement, the retraction, and which of several facts ends.

The phrasings were written before the rules that read them. Rows with an even number were looked at while
the rules were made, those with an odd number only counted.
"""

from __future__ import annotations

ENGLISH = """
# home
I live in Bonn. | I don't live in Bonn.
I live in Bonn. | I don't live in Bonn any more.
I live in Bonn. | I've left Bonn for good.
I live in Bonn. | I moved out of Bonn in the summer.
I live in Bonn. | We moved to Lisbon last week.
I live in Bonn. | It's Ulm, not Bonn.
I live in Bonn. | Sorry, I meant Ulm.
I live in Bonn. | Actually, it's Ulm where I live, not Bonn.
I live in Bonn. | I used to live in Bonn, but that was years ago.
I live in Bonn. | Bonn is no longer my home.
I live in Bonn. | I never lived in Bonn.
I live in Bonn. | I'm not living in Bonn these days.
I live in Bonn. | I'm not in Bonn anymore, we relocated to Graz.
I live in Bonn. | We've relocated to Graz.
I live in Bonn. | I said Bonn, but I should have said Ulm.
I live in Bonn. | Correction: I live in Ulm.
I live in Bonn. | That's wrong, I don't live there.
I live in Bonn. | I moved away last month.
I live with Clara. | Clara moved out last week.
I live with Clara. | I don't live with Clara anymore.
I live with Clara. | Clara and I no longer live together.
I come from Genoa. | I'm from Turin, not Genoa.
I come from Genoa. | I'm not from Genoa, I'm from Turin.
I was born in Kiel. | No, I was born in Ulm, not in Kiel.
# who
My birthday is on 3 March. | My birthday is on 3 May, not 3 March.
My birthday is on 3 March. | Sorry, I meant 3 May.
I'm 34 years old. | I turned 35 yesterday.
I'm 34 years old. | I'm 35, not 34.
You can call me Leni. | Don't call me Leni anymore.
You can call me Leni. | Nobody calls me Leni any more.
I speak German and Spanish. | I don't speak Spanish, actually. | Spanish
I speak German and Spanish. | I've forgotten all my Spanish, I can't speak it anymore. | Spanish
I'm vegan. | I'm not vegan anymore.
I'm vegan. | I eat meat again.
I'm vegan. | I stopped being vegan in May.
I'm vegan. | I gave up being vegan.
I'm vegetarian. | I'm no longer a vegetarian.
I'm vegetarian. | I'm a vegan now, not just a vegetarian.
I don't eat pork. | I eat pork again.
I don't eat pork. | I started eating pork again.
I don't drink alcohol. | I drink alcohol again these days.
# work
I work at Initech. | I quit my job.
I work at Initech. | I got fired yesterday.
I work at Initech. | I've been laid off.
I work at Initech. | I was made redundant last month.
I work at Initech. | I handed in my notice and left Initech.
I work at Initech. | I left Initech in May.
I work at Initech. | I don't work at Initech.
I work at Initech. | I don't work there any longer.
I work at Initech. | I'm no longer with Initech.
I work at Initech. | I'm not at Initech anymore.
I work at Initech. | I retired last week.
I work at Initech. | I resigned on Monday.
I work at Initech. | I lost my job.
I work at Initech. | Initech let me go.
I work at Initech. | My time at Initech is over.
I work at Initech. | I've stopped working at Initech.
I work at Initech. | I meant Initrode, not Initech.
I work at Initech. | My contract with Initech ended in April.
I work at Initech. | I'm done with Initech.
I work at Initech. | I started a new job at Hooli.
I work at Initech. | I'm unemployed now.
I work as a nurse. | I'm no longer a nurse.
I work as a nurse. | I'm not a nurse anymore.
I work as a nurse. | I stopped working as a nurse.
I work as a nurse. | I gave up nursing.
I work as a nurse. | I'm a midwife, not a nurse.
I work as a nurse. | I don't work as a nurse.
I work as a nurse. | I quit my job last Friday.
I work at a bakery. | I don't work at the bakery anymore.
I work at a bakery. | I left the bakery.
I work at a bakery. | The bakery fired me.
I work four days a week. | I work five days a week now.
I work four days a week. | I no longer work four days a week.
My rent is 900 euros a month. | My rent is 950 euros a month now.
My rent is 900 euros a month. | The rent isn't 900 euros any more.
I charge 60 euros an hour. | I charge 80 euros an hour now.
I charge 60 euros an hour. | I don't charge 60 euros an hour anymore.
I report to Gesine. | I no longer report to Gesine.
I report to Gesine. | Gesine isn't my boss anymore.
I report to Gesine. | I don't report to Gesine now.
My boss Gesine is nice. | Gesine is no longer my boss.
I study physics at Leiden University. | I dropped out of university.
I study physics at Leiden University. | I dropped out of Leiden University.
I study physics at Leiden University. | I graduated from Leiden University last week.
I study physics at Leiden University. | I'm no longer at Leiden University.
I study physics at Leiden University. | I quit my studies.
I'm learning Spanish. | I stopped learning Spanish.
I'm learning Spanish. | I gave up on Spanish.
I'm learning Spanish. | I'm not learning Spanish anymore.
I'm studying biology. | I'm not studying biology anymore, I switched to law.
I'm studying biology. | I dropped biology.
I use Notion for my notes. | I stopped using Notion.
I use Notion for my notes. | I don't use Notion anymore.
I use Notion for my notes. | I ditched Notion.
I use Notion for my notes. | I switched from Notion to Obsidian.
I use Notion for my notes. | I deleted my Notion account.
# people
I'm married to Tom. | Tom and I got divorced.
I'm married to Tom. | We got divorced last year.
I'm married to Tom. | Tom and I separated.
I'm married to Tom. | I'm not married to Tom anymore.
I'm married to Tom. | I'm divorced.
I'm married to Tom. | My husband and I split up.
I'm married to Tom. | I left Tom.
I'm married to Tom. | Tom left me.
I'm married to Tom. | Tom died in January.
I'm married to Tom. | I'm a widow now.
I'm married to Tom. | Tom is my ex-husband now.
I'm engaged to Tom. | We called off the engagement.
I'm engaged to Tom. | Tom and I are no longer engaged.
I'm engaged to Tom. | The engagement is off.
I'm engaged to Tom. | Tom and I got married on Saturday.
I'm engaged to Tom. | I broke off the engagement.
Tom is my boyfriend. | Tom and I broke up.
Tom is my boyfriend. | I broke up with Tom.
Tom is my boyfriend. | Tom dumped me.
Tom is my boyfriend. | I dumped him.
Tom is my boyfriend. | We're not together anymore.
Tom is my boyfriend. | It's over between Tom and me.
Tom is my boyfriend. | Tom isn't my boyfriend anymore.
Tom is my boyfriend. | Tom is not my boyfriend, he's my brother.
Tom is my boyfriend. | I'm single again.
Tom is my boyfriend. | My ex, Tom, is still texting me.
My girlfriend Ann works at Lidl. | Ann and I split up last month. | girlfriend
My girlfriend Ann works at Lidl. | She quit Lidl last week. | works at
My girlfriend Ann works at Lidl. | Ann doesn't work at Lidl anymore. | works at
My girlfriend Ann works at Lidl. | Ann lost her job. | works at
My sister Mia lives in Bremen. | Mia moved to Oslo last month. | lives in
My sister Mia lives in Bremen. | Mia doesn't live in Bremen anymore. | lives in
My sister Mia lives in Bremen. | My sister left Bremen. | lives in
My sister Mia lives in Bremen. | Mia passed away. | lives in
My sister Mia lives in Bremen. | Mia lives in Halle, not Bremen. | lives in
My friend Paul plays chess. | Paul and I are no longer friends. | friend
My friend Paul plays chess. | Paul isn't my friend anymore. | friend
My friend Paul plays chess. | Paul gave up chess. | chess
My flatmate Kim works at Aldi. | Kim moved out. | flatmate
My flatmate Kim works at Aldi. | Kim is no longer my flatmate. | flatmate
My neighbour Otto is a plumber. | Otto moved away. | neighbour
My neighbour Otto is a plumber. | Otto is not my neighbour anymore. | neighbour
My doctor is Dr. Weber. | I changed doctors, it's Dr. Lang now.
My doctor is Dr. Weber. | Dr. Weber is no longer my doctor.
My doctor is Dr. Weber. | Dr. Weber retired.
My guitar teacher Nora is great. | Nora is no longer my guitar teacher.
My landlord Mr Kunz is strict. | Mr Kunz isn't my landlord anymore.
# animals
We have a dog named Rex. | My dog Rex died.
We have a dog named Rex. | Rex died last Friday.
We have a dog named Rex. | We had to put Rex down.
We have a dog named Rex. | Rex passed away in his sleep.
We have a dog named Rex. | We gave Rex away.
We have a dog named Rex. | Our dog died.
We have a dog named Rex. | We no longer have Rex.
We have a dog named Rex. | We don't have a dog anymore.
We have a dog named Rex. | Rex ran away and never came back.
We have a dog named Rex. | We lost Rex last week.
We have a dog named Rex. | Rex was put to sleep on Tuesday.
We have a dog named Rex. | We rehomed Rex with a nice family.
We have a dog named Rex. | His name is Max, not Rex.
We have a dog named Rex. | Rex isn't our dog, he belongs to my uncle.
I have a cat called Luna. | Luna got run over.
I have a cat called Luna. | Luna lives with my ex now.
I have a cat called Luna. | The cat is dead.
We have two rabbits. | We don't have rabbits anymore.
We have two rabbits. | The rabbits died.
I have a horse. | I sold my horse.
I have a horse. | I don't have a horse anymore.
# body
I'm allergic to nuts. | I'm not allergic to nuts anymore.
I'm allergic to nuts. | I'm not allergic to nuts.
I'm allergic to nuts. | My nut allergy is gone.
I'm allergic to nuts. | I outgrew my nut allergy.
I'm allergic to nuts. | I'm allergic to eggs, not nuts.
I'm allergic to nuts. | I can eat nuts again.
I'm allergic to nuts. | Turns out I'm not allergic to nuts after all.
I'm allergic to nuts. | The doctor says I'm no longer allergic to nuts.
I'm allergic to cats. | The cat allergy was a misdiagnosis.
I have asthma. | I don't have asthma anymore.
I have asthma. | My asthma is gone.
I have asthma. | It turned out I don't have asthma.
I have asthma. | I no longer suffer from asthma.
I have asthma. | I got rid of my asthma.
I take 20 mg of sertraline. | I came off sertraline.
I take 20 mg of sertraline. | I stopped taking sertraline.
I take 20 mg of sertraline. | I'm off sertraline now.
I take 20 mg of sertraline. | I don't take sertraline any more.
I take 20 mg of sertraline. | I take 50 mg of sertraline now.
# taste
I love hiking. | I don't like hiking anymore.
I love hiking. | I went off hiking.
I love hiking. | I can't stand hiking now.
I love hiking. | I no longer enjoy hiking.
I love hiking. | I hate hiking these days.
I love hiking. | Hiking isn't my thing anymore.
I love hiking. | I'm over hiking.
I love hiking. | I've lost interest in hiking.
I love hiking. | I'm sick of hiking.
I love hiking. | I never liked hiking.
I like coffee. | I'm not into coffee any more.
I like coffee. | I stopped drinking coffee.
I like coffee. | I gave up coffee.
I can't stand olives. | I like olives now.
I can't stand olives. | I don't mind olives anymore.
I can't stand olives. | I don't hate olives anymore.
I can't stand olives. | I've come to love olives.
My favourite colour is green. | My favourite colour is blue now.
My favourite colour is green. | Green is no longer my favourite colour.
My favourite colour is green. | It's blue, not green.
I play the cello. | I don't play the cello anymore.
I play the cello. | I stopped playing the cello.
I play the cello. | I gave up the cello.
I play the cello. | I sold my cello and quit.
I play tennis. | I quit tennis.
I play tennis. | I no longer play tennis.
I play tennis. | I haven't played tennis in years.
I do yoga. | I stopped doing yoga.
I do yoga. | I dropped yoga.
I take piano lessons. | I stopped taking piano lessons.
I take piano lessons. | I cancelled my piano lessons.
I sing in a choir. | I left the choir.
I sing in a choir. | I don't sing in the choir anymore.
# things
I bought a car. | I sold the car.
I bought a car. | I sold it.
I bought a car. | I don't have a car anymore.
I bought a car. | My car got stolen.
I bought a car. | I gave my car to my brother.
I bought a car. | I crashed my car, it's a write-off.
I own a boat. | I got rid of the boat.
I own a boat. | I no longer own a boat.
I own a boat. | The boat is sold.
I drive a Golf. | I traded in the Golf.
I drive a Golf. | I don't drive the Golf anymore.
# plans
We're moving to Oslo next spring. | The move is off.
We're moving to Oslo next spring. | We're not moving to Oslo after all.
We're moving to Oslo next spring. | We decided against moving to Oslo.
We're moving to Oslo next spring. | The move to Oslo fell through.
We're moving to Oslo next spring. | We're staying here, no Oslo for us.
We're moving to Oslo next spring. | We've cancelled the move.
I'm flying to Rome on 3 June. | I cancelled my flight to Rome.
I'm flying to Rome on 3 June. | I'm not flying to Rome.
I'm flying to Rome on 3 June. | The trip to Rome is cancelled.
I'm flying to Rome on 3 June. | The Rome trip is off.
I'm flying to Rome on 3 June. | I'm not going to Rome after all.
I'm flying to Rome on 3 June. | My trip got cancelled.
We're getting married on 12 June. | The wedding is off.
We're getting married on 12 June. | We called off the wedding.
We're getting married on 12 June. | We're not getting married after all.
We're getting married on 12 June. | The wedding has been called off.
We're getting married on 12 June. | We decided not to get married.
I have a job interview on 16 June. | The interview was cancelled.
I have a job interview on 16 June. | They cancelled my interview.
I have a job interview on 16 June. | I cancelled the job interview.
I have a job interview on 16 June. | The interview isn't happening.
I'm going to run a marathon in May. | I'm not going to run the marathon.
I'm going to run a marathon in May. | I pulled out of the marathon.
I'm going to run a marathon in May. | No marathon for me after all.
I'm retiring in July. | I'm not retiring after all.
I'm retiring in July. | I changed my mind about retiring.
We decided to sell the old Volvo. | We're not selling the Volvo after all.
We decided to sell the old Volvo. | We decided to keep the Volvo.
We decided to sell the old Volvo. | We changed our minds about the Volvo.
I'm visiting Prague in June. | I won't be visiting Prague.
I'm visiting Prague in June. | Prague is off.
"""

OTHERS = """
Ich wohne in Bonn. | Ich wohne nicht mehr in Bonn.
Ich wohne in Bonn. | Ich wohne nicht in Bonn.
Ich wohne in Bonn. | Ich bin aus Bonn weggezogen.
Ich wohne in Bonn. | Nicht Bonn, sondern Ulm.
Ich wohne in Bonn. | Entschuldigung, ich meinte Ulm.
Ich arbeite bei Bosch. | Ich habe bei Bosch gekündigt.
Ich arbeite bei Bosch. | Ich arbeite nicht mehr bei Bosch.
Ich arbeite bei Bosch. | Mir wurde gekündigt.
Ich arbeite bei Bosch. | Ich habe meinen Job verloren.
Wir haben einen Hund namens Rex. | Rex ist gestorben.
Wir haben einen Hund namens Rex. | Unser Hund ist tot.
Wir haben einen Hund namens Rex. | Wir mussten Rex einschläfern lassen.
Ich bin mit Tom verheiratet. | Tom und ich haben uns scheiden lassen.
Ich bin mit Tom verheiratet. | Tom und ich haben uns getrennt.
Ich bin mit Tom verheiratet. | Ich bin geschieden.
Ich bin gegen Nüsse allergisch. | Ich bin nicht mehr allergisch gegen Nüsse.
Ich bin gegen Nüsse allergisch. | Ich bin nicht gegen Nüsse allergisch.
Ich mag Wandern. | Ich mag Wandern nicht mehr.
Ich mag Kaffee. | Ich trinke keinen Kaffee mehr.
Ich bin Vegetarierin. | Ich bin keine Vegetarierin mehr.
Ich fliege am 3. Juni nach Oslo. | Der Flug nach Oslo ist abgesagt.
Ich fliege am 3. Juni nach Oslo. | Ich fliege doch nicht nach Oslo.
Ich spiele Klavier. | Ich spiele nicht mehr Klavier.
Ich spiele Klavier. | Ich habe mit dem Klavier aufgehört.
Vivo en Sevilla. | Ya no vivo en Sevilla.
Vivo en Sevilla. | No vivo en Sevilla.
Vivo en Sevilla. | No es Sevilla, es Cádiz.
Vivo en Sevilla. | Perdón, quería decir Cádiz.
Trabajo en Iberia. | Ya no trabajo en Iberia.
Trabajo en Iberia. | Dejé mi trabajo.
Trabajo en Iberia. | Me despidieron.
Tenemos un perro que se llama Rex. | Rex murió ayer.
Tenemos un perro que se llama Rex. | Mi perro murió.
Estoy casada con Tom. | Tom y yo nos divorciamos.
Estoy casada con Tom. | Nos separamos.
Soy alérgica a las nueces. | Ya no soy alérgica a las nueces.
Soy alérgica a las nueces. | No soy alérgica a las nueces.
Soy vegetariana. | Ya no soy vegetariana.
Me gusta el café. | Ya no me gusta el café.
Me gusta el café. | Dejé el café.
El 3 de junio viajo a Oslo. | El viaje a Oslo se canceló.
El 3 de junio viajo a Oslo. | Al final no viajo a Oslo.
我住在北京。 | 我不住在北京了。
我住在北京。 | 我已经搬离北京了。
我住在北京。 | 不是北京，是上海。
我在谷歌工作。 | 我不在谷歌工作了。
我在谷歌工作。 | 我辞职了。
我在谷歌工作。 | 我被裁员了。
我养了一只猫叫咪咪。 | 咪咪死了。
我养了一只猫叫咪咪。 | 我的猫去世了。
我对花生过敏。 | 我不再对花生过敏了。
我对花生过敏。 | 我对花生不过敏。
我喜欢咖啡。 | 我不喜欢咖啡了。
我会弹吉他。 | 我不弹吉他了。
"""


def rows(text: str) -> list[tuple[str, str, str]]:
    """Return cases with several facts: the statements, the retraction, and words of the one fact that
    ends."""
    lines = (line.split("|") for line in text.splitlines() if "|" in line)
    return [(*(part.strip() for part in (*one, "")[:3]),) for one in lines]  # type: ignore[misc]


RETRACTIONS = [*rows(ENGLISH), *rows(OTHERS)]
