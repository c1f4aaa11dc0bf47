"""What Zotero's fields are called in its CSV export, whose headings ``columns`` reads; for its database and its RDF."""

from __future__ import annotations

AUTHORS = frozenset(
    (
        *("author", "artist", "cartographer", "director", "interviewee", "inventor", "performer", "podcaster"),
        *("presenter", "programmer", "sponsor"),
    )
)
"""What the main creator is called, by type of item."""
LEFT_OUT = ("attachment", "note", "annotation")
"""Types of items that are parts of others."""
SAME_AS = {
    **dict.fromkeys(("caseName", "subject", "nameOfAct"), "title"),
    **dict.fromkeys(
        (
            *("bookTitle", "proceedingsTitle", "blogTitle", "websiteTitle", "encyclopediaTitle", "dictionaryTitle"),
            *("forumTitle", "programTitle", "reporter", "code"),
        ),
        "publicationTitle",
    ),
    **dict.fromkeys(("dateDecided", "dateEnacted", "issueDate"), "date"),
    **dict.fromkeys(("archiveID", "reportNumber", "patentNumber", "billNumber", "docketNumber"), "number"),
    **dict.fromkeys(("repository", "company", "studio", "label", "distributor", "network"), "publisher"),
    **dict.fromkeys(("thesisType", "reportType", "genre", "manuscriptType", "presentationType", "websiteType"), "type"),
    "university": "institution",
    "versionNumber": "version",
}
"""Fields of some types of items, and the field of others that means the same."""
COLUMNS = {
    **{"key": "Key", "itemType": "Item Type", "author": "Author", "editor": "Editor", "translator": "Translator"},
    **{"title": "Title", "publicationTitle": "Publication Title", "abstractNote": "Abstract Note", "date": "Date"},
    **{"year": "Publication Year", "dateAdded": "Date Added", "accessDate": "Access Date", "DOI": "DOI", "url": "Url"},
    **{"ISBN": "ISBN", "ISSN": "ISSN", "volume": "Volume", "issue": "Issue", "pages": "Pages", "number": "Number"},
    **{"numPages": "Num Pages", "numberOfVolumes": "Number Of Volumes", "journalAbbreviation": "Journal Abbreviation"},
    **{"shortTitle": "Short Title", "series": "Series", "publisher": "Publisher", "place": "Place", "type": "Type"},
    **{"language": "Language", "edition": "Edition", "version": "Version", "conferenceName": "Conference Name"},
    **{"institution": "Institution", "archiveLocation": "Archive Location", "extra": "Extra"},
    **{"manual": "Manual Tags", "automatic": "Automatic Tags", "collections": "Collections"},
    **{"citationKey": "Citation Key"},
}
"""Fields, tags and collections by their headings; those that the CSV export lacks are named in the same way."""


class Item:
    """An item: texts by field, each as often as it occurs."""

    def __init__(self, key: str) -> None:
        """An item without fields."""
        self.key = key
        self._texts: dict[str, list[str]] = {}
        self.add("key", key)

    def add(self, name: str, value: object) -> None:
        """Add a text of a field."""
        if value not in (None, ""):
            self._texts.setdefault(SAME_AS.get(name, name), []).append(str(value))

    def texts(self, name: str) -> list[str]:
        """The texts of a field."""
        return self._texts.get(name, [])

    def put(self, name: str, *texts: str) -> None:
        """Put these in the place of a field's texts."""
        self._texts[name] = [text for text in texts if text]

    @property
    def cells(self) -> list[str]:
        """The row under ``COLUMNS``."""
        return ["; ".join(self.texts(name)) for name in COLUMNS]


def listed(text: str) -> str:
    """A text that may stand with others in one cell, divided by semicolons."""
    return text.replace(";", ",")


def name_of(family: str | None, given: str | None) -> str:
    """A creator as the CSV export writes it."""
    return listed(", ".join(part for part in (family, given) if part))
