"""Feature vectors of texts and images.

`texts` and `pictures` need neither a network nor a model; `embedder` takes a sentence model or an endpoint instead.
"""

from tightcut.features.embedding import embedder
from tightcut.features.pictures import PicturePoints, pictures
from tightcut.features.texts import texts
from tightcut.features.words import distinctive_words

__all__ = ["PicturePoints", "distinctive_words", "embedder", "pictures", "texts"]
