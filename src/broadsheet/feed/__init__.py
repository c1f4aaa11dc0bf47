"""The daily paper: which papers an edition is chosen from, how they are ranked and laid out, and why each is there.

``window`` says what is new, ``profile`` what a reader follows and mutes, ``desk`` ranks, ``compose`` lays out,
``reasons`` explains, ``archive`` leafs through what was printed. All decisions are functions of data, a clock and a
seed.
"""
