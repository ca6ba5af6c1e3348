"""One fact in two wordings under the same claim, as a model tells it twice."""

from __future__ import annotations

SAME = (
    # claim, one wording, another
    ("Lena > lives_in > Kiel", "Lena lives in Kiel", "Lena resides in Kiel"),
    ("Lena > lives_in > Kiel", "Lena lives in Kiel", "Kiel is Lena's home"),
    (
        "Lena > lives_in > Kiel",
        "Lena lives in Kiel",
        "Lena is currently living in the city of Kiel",
    ),
    ("Lena > lives_in > Kiel", "Lena lives in Kiel", "Lena is based in Kiel these days"),
    ("Lena > works_at > Initech", "Lena works at Initech", "Lena is employed by Initech"),
    ("Lena > works_at > Initech", "Lena works at Initech", "Lena has a job at Initech"),
    (
        "Lena > works_at > Initech",
        "Lena works at Initech",
        "Lena's employer is the company Initech",
    ),
    ("Lena > works_as > =nurse", "Lena works as a nurse", "Lena is a nurse by profession"),
    ("Lena > works_as > =nurse", "Lena works as a nurse", "Lena earns her living as a nurse"),
    ("Lena > has_pet > Rex", "Lena has a dog called Rex", "Lena's dog is called Rex"),
    ("Lena > has_pet > Rex", "Lena has a dog called Rex", "Rex is Lena's dog"),
    ("Lena > has_pet > Rex", "Lena has a dog called Rex", "Lena is the owner of the dog Rex"),
    ("Lena > has_pet > Rex", "Lena has a dog named Rex", "The name of Lena's dog is Rex"),
    ("Lena > allergic_to > =nuts", "Lena is allergic to nuts", "Lena has a nut allergy"),
    (
        "Lena > allergic_to > =nuts",
        "Lena is allergic to nuts",
        "Lena suffers from an allergy to nuts",
    ),
    (
        "Lena > allergic_to > =nuts",
        "Lena is allergic to nuts",
        "Lena cannot eat nuts because of an allergy",
    ),
    ("Lena > likes > =jazz", "Lena likes jazz", "Lena enjoys listening to jazz"),
    ("Lena > likes > =jazz", "Lena likes jazz", "Lena is a fan of jazz music"),
    ("Lena > likes > =jazz", "Lena likes jazz", "Lena loves jazz"),
    ("Lena > married_to > Tom", "Lena is married to Tom", "Lena's husband is Tom"),
    ("Lena > married_to > Tom", "Lena is married to Tom", "Tom is Lena's spouse"),
    ("Lena > speaks > =Danish", "Lena speaks Danish", "Lena can speak the Danish language"),
    ("Lena > born_on > =3 March", "Lena's birthday is on 3 March", "Lena was born on 3 March"),
    (
        "Lena > born_on > =3 March",
        "Lena's birthday is on 3 March",
        "Lena celebrates her birthday on 3 March",
    ),
    ("Lena > has_hobby > =chess", "Lena plays chess", "Playing chess is one of Lena's hobbies"),
    ("Lena > has_hobby > =chess", "Lena plays chess", "Lena's hobby is chess"),
    ("Lena > diet > =vegan", "Lena is vegan", "Lena follows a vegan diet"),
    ("Lena > diet > =vegan", "Lena is vegan", "Lena eats only vegan food"),
    ("Lena > owns > Beetle", "Lena owns a Beetle", "Lena has a Beetle"),
    ("Lena > has_vehicle > Golf", "Lena drives a Golf", "Lena's car is a Golf"),
    ("Lena > friend_of > Ida", "Lena is friends with Ida", "Ida is a good friend of Lena's"),
    ("Lena > reports_to > Petra", "Lena reports to Petra", "Petra is Lena's boss at work"),
    ("Lena > sibling_of > Katrin", "Katrin is Lena's sister", "Lena has a sister named Katrin"),
    ("Lena > parent_of > Ben", "Ben is Lena's son", "Lena has a son, Ben"),
    (
        "Lena > subscribes_to > Netflix",
        "Lena subscribes to Netflix",
        "Lena has a Netflix subscription",
    ),
    ("Lena > drinks > =coffee", "Lena drinks coffee every day", "Lena drinks coffee daily"),
)
"""They are one row, or whether they are is asked."""

MORE = (
    ("Lena > has_pet > Rex", "Lena has a dog called Rex", "Lena's dog Rex is afraid of thunder"),
    (
        "Lena > works_at > Initech",
        "Lena works at Initech",
        "Lena works at Initech from home on Fridays",
    ),
    ("Lena > lives_in > Kiel", "Lena lives in Kiel", "Lena lives in Kiel with Tom and two cats"),
    (
        "Lena > likes > =jazz",
        "Lena likes jazz",
        "Lena likes jazz because her grandfather played the trumpet",
    ),
    (
        "Lena > allergic_to > =nuts",
        "Lena is allergic to nuts",
        "Lena is so allergic to nuts that she carries an EpiPen",
    ),
)
"""The second says more, which must not get lost."""
