"""Questions that the next turn answers in a word or two: "Where do you live?" – "In Bonn."

`reader` makes of question and answer the sentence that the answer stands for, which is then read like
any other; `question` says what there is to know of a language, and each language is a module of data.
The answer alone is the evidence: what somebody is asked is true of nobody, an assistant's words least
of all, and who takes back the answer takes back the fact.
"""
