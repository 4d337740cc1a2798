"""Refusals, and statements that look like them."""

import pytest

from longform.text.refusals import is_refusal

REFUSALS = """
The documents do not say when the tunnel will open.
I cannot answer this question based on the provided context.
Not enough information in the context.
The provided sources do not mention the price of the tunnel.
As an AI language model, I have no access to the minutes.
I'm sorry, but the provided documents do not contain an answer.
None of the documents mention the name of the builder.
Unfortunately, the retrieved passages don't address the question of funding.
The answer cannot be determined from the given text.
No relevant information was found in the provided sources.
It is unclear from the documents whether the plan was approved.
Neither document specifies a deadline.
- However, the sources do not discuss the long-term effects [2][3].
The exact date is **not mentioned** in the documents.
Who signed the contract is not specified in any of the sources.
Nothing in the text suggests why the ship turned back.
The context lacks information about the motives of the author.
Based on the information provided, there is no evidence that the plant was closed.
Sorry, I couldn't find anything about this in the files you shared.
The passages do not explain why the vote was postponed, nor do they name the absent members.
Please provide more context so that I can answer the question.
The documents don’t contain enough information to say whether the strike ended.
I don't know.
N/A
""".strip().split("\n")

STATEMENTS = """
The council did not say when the tunnel will open.
The report does not mention a date but puts the price at 3.4 million euros.
The documents do not give a date, but the tunnel opened in May 2021.
While the documents do not give a number, the losses were 40 million dollars.
The tenant, whose name is not mentioned in the documents, moved out in June.
The documents say that the tunnel will not open.
The minister refused to answer questions about the budget.
The witness said: "I don't know who opened the door."
No documents are needed to enter the library.
The text of the law does not allow exceptions.
The study did not find any effect of the drug on sleep.
The bank is unable to provide loans to foreign firms.
The bill does not address climate change.
The source code does not contain any comments.
The provided meals do not contain nuts.
There is not enough evidence that the vaccine causes harm.
The files were not found on the server after the attack.
Not enough information reaches patients before surgery, the study found.
The sources do not give one price: the first says 12 and the second says 15.
If the documents do not mention a price, the seller has to name one.
The documents do not contain the signature of the mayor, which the court called a fatal flaw.
Please provide more documents by Friday, the office asked the applicants.
Unable to answer the charges, the firm went bankrupt.
I cannot recommend this restaurant, because the soup was cold.
""".strip().split("\n")


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_is_told(sentence: str) -> None:
    assert is_refusal(sentence)


def test_a_long_text_takes_no_longer() -> None:
    assert not is_refusal("It is not in no information from " * 30_000)


@pytest.mark.parametrize("sentence", STATEMENTS)
def test_a_statement_is_no_refusal(sentence: str) -> None:
    assert not is_refusal(sentence)
