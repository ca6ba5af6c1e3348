"""Standing requests: how a person wants to be answered from now on, told the assistant in talk.

`reader` takes a turn apart, `request` says what there is to know of a language, each language is a
module of data, and `things` knows what they have different words for. Only what is in these lists
is ever taken up, so that no words of a conversation become orders of another sort; what is asked
for once ("answer this one in German") is left alone.
"""
