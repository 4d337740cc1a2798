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
I cannot fulfill this request.
I can't comply with that.
I refuse to answer.
I'm not sure.
The answer is unknown.
No results found.
This is not mentioned.
This information is not available.
The cost is not specified.
The given context lacks the required information.
NO_ANSWER
None.
I cannot fulfil your request.
I'm not able to comply with this request.
I decline to answer.
I won't respond to that.
Sorry, I am not certain.
No matching documents were found.
No relevant passages were retrieved.
The answer is not known.
The requested information is not provided.
The date of the opening is not mentioned.
The number of deaths is not stated.
These details are not given.
no_answer
NOT_MENTIONED
Die bereitgestellten Dokumente erwähnen das nicht.
Leider kann ich diese Frage nicht beantworten.
In den Dokumenten wird der Preis nicht genannt.
Dazu gibt es in den Quellen keine Angaben.
Les sources fournies ne mentionnent pas le prix.
Il n'y a aucune information à ce sujet dans les documents.
Je ne suis pas en mesure de répondre.
En los documentos no se menciona el precio.
No hay información sobre esto en los documentos.
No puedo contestar.
Os documentos não mencionam o preço.
Não posso responder a esta pergunta.
I documenti non contengono queste informazioni.
Non posso rispondere a questa domanda.
De documenten bevatten geen informatie hierover.
Ik kan deze vraag niet beantwoorden.
Dokumenty nie zawierają tych informacji.
Nie mogę odpowiedzieć na to pytanie.
Документы не содержат этой информации.
В документах нет информации об этом.
Я не могу ответить на этот вопрос.
提供的文档未提及价格。
我无法回答这个问题。
根据所提供的文件，无法确定。
資料には記載がありません。
この質問にはお答えできません。
문서에는 해당 정보가 없습니다.
이 질문에 답변할 수 없습니다.
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
"None."
文件没有签署。
文書に誤りはない。
The court refused to answer.
None of the ships left.
The cost is not specified in the contract [2].
The cost is not specified in the contract.
The cost is not specified [2].
The suspect was not identified.
The drug is not available.
The location was not disclosed.
No results were found in 12 of the trials.
No data are available to the public.
The answer is unknown to the players.
I refuse to pay the fine, she said.
The mayor said: "I'm not sure."
The article is not mentioned by the historian.
The cause is unknown.
No documents were found at the scene.
The city cannot fulfill this request.
The firm did not comply with that order.
Die Dokumente des Rates enthalten keine Angaben zu Kosten.
Der Rat nennt keine Kosten.
Die Dokumente nennen keinen Preis, aber der Bau begann 2021.
Das Gesetz enthält keine Informationen über Strafen.
Ich kann diese Frage nicht beantworten, sagte der Minister.
Der Minister kann diese Frage nicht beantworten.
Le conseil ne mentionne pas cette information.
Les documents du ministère ne contiennent pas cette information.
Le maire ne peut pas répondre à cette question.
Los documentos del juicio no mencionan esto.
El alcalde no puede responder a esta pregunta.
No hay información turística en el pueblo.
A prefeita não consegue responder.
市长无法回答记者的问题。
该法律没有相关规定。
市長は質問に答えることができなかった。
Мэр не может ответить.
Документы суда не содержат этой информации.
De burgemeester kan deze vraag niet beantwoorden.
Burmistrz nie może odpowiedzieć.
Il sindaco non può rispondere.
There are no answers in the archive of the town.
No answer came from the ministry.
This information is not available to the police.
It is not mentioned in the bill.
The price is not stated on the label.
The required documents were not provided by the firm.
Sie kauften keine Dokumente und nannten keine Namen.
Los documentos no fueron firmados.
Die Quellen des Nils waren nicht bekannt.
Texte werden nicht gespeichert.
我们不能提供担保。
政府没有提供信息。
I am not sure that the bridge will hold, the engineer wrote.
The bill is not clear on fines.
""".strip().split("\n")


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_is_told(sentence: str) -> None:
    assert is_refusal(sentence)


@pytest.mark.parametrize("part", ["It is not in no information from ", "die dokumente nicht ", "no ", "文档没有"])
@pytest.mark.parametrize("times", [30, 30_000])
def test_a_long_text_takes_no_longer(part: str, times: int) -> None:
    assert not is_refusal(part * times + ", but it is aber")


@pytest.mark.parametrize("sentence", STATEMENTS)
def test_a_statement_is_no_refusal(sentence: str) -> None:
    assert not is_refusal(sentence)
