"""What a model thinks aloud is separated from its answer, in the notations of many models."""

from time import process_time

import pytest

from citations.text.thoughts import (
    is_about_task,
    is_planned,
    is_thinking,
    thinks_aloud,
    visible_lines,
    without_thoughts,
)

ANSWER = "The kettle clicks off at 96 degrees [1]."
THOUGHT = "The user asks about kettles. Passage 2 says: tea is green [2].\nOne sentence will do."


@pytest.mark.parametrize(
    "notation",
    [
        "{}\n</think>\n{}",
        '<think lang="en">{}</think>{}',
        "<THINKING>\n{}\n</THINKING>\n{}",
        "< reasoning >{}</ reasoning >{}",
        "<thought>{}</thought>{}",
        "<seed:think>{}</seed:think>{}",
        "<think>{}</thinking>{}",
        "<|think|>{}<|/think|>{}",
        "&lt;think&gt;{}&lt;/think&gt;{}",
        "[THINK]{}[/THINK]{}",
        "◁think▷{}◁/think▷{}",
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}",
        "<|channel|>commentary to=f<|message|>{}<|end|><|start|>assistant<|channel|>final "
        "<|constrain|>json<|message|>{}<|return|>",
        "analysis{}assistantfinal{}",
        "<|channel>thought\n{}<channel|>{}",
        "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
        "<|begin_of_thought|>{}<|end_of_thought|>\n<|begin_of_solution|>{}<|end_of_solution|>",
        "<|inner_prefix|>{}<|inner_suffix|>{}",
        "<unused94>thought\n{}<unused95>{}",
        "<scratchpad>{}</scratchpad>\n\n{}",
        "<reflection>\n{}\n</reflection>\n{}",
        "<inner_monologue>{}</inner_monologue>{}",
        "<my-notes>{}</my-notes>\n{}",
        "<think>{}</think><answer>{}</answer>",
        "{}\n<final_answer>{}</final_answer>",
        "Here is my thought process: {}\n\nHere is my response: {}",
        "**Reasoning:** {}\n\n**Final answer:** {}",
        "Thinking...\n{}\n...done thinking.\n\n{}",
        "```thinking\n{}\n```\n{}",
        "~~~reasoning\n{}\n~~~\n{}",
        "### Reasoning\n{}\n\n### Answer\n{}",
        "=== THINKING ===\n{}\n=== FINAL ANSWER ===\n{}",
        "【思考】{}【/思考】{}",
        "<!-- thinking: {} -->{}",
        "<｜begin▁of▁thinking｜>{}<｜end▁of▁thinking｜>{}",
        "<réflexion>{}</réflexion>\n{}",
        '<details type="reasoning" done="true"><summary>Thought</summary>{}</details>{}',
        "<think><analysis>{}</analysis>Well.</think>{}",
        "(thinking: {} (Or two.)) {}",
        "*Thinking: {}*\n\n{}",
        "[Reasoning: {}]\n{}",
        "{{thinking}}{}{{/thinking}}{}",
        "> Thinking:\n> tea is green [2].\n\n{1}",
        '```json\n{{"reasoning": "tea is green [2]",\n "final_answer": "{1}"}}\n```',
        '{{"thought": ["tea is green"], "context": "{1}", "sure": 0.9}}',
        '{{"thought": "tea is green"}}\n{1}',
    ],
)
def test_a_thought_is_no_answer_in_any_notation(notation: str) -> None:
    assert without_thoughts(notation.format(THOUGHT, ANSWER)).strip() == ANSWER


def test_marks_around_an_answer_are_no_part_of_it() -> None:
    for marked in (
        f"<|begin_of_box|>{ANSWER}<|end_of_box|>",
        f"<start_of_turn>model\n{ANSWER}<eos>",
    ):
        assert without_thoughts(marked).strip() == ANSWER


def test_an_empty_thought_takes_nothing_with_it() -> None:
    assert without_thoughts(f"<think>\n\n</think>\n\n{ANSWER}").strip() == ANSWER
    assert without_thoughts(f"<think/>{ANSWER}") == ANSWER


def test_thoughts_without_an_end_leave_nothing() -> None:
    assert without_thoughts(f"<think>\n{THOUGHT}\n{ANSWER}").strip() == ""
    assert without_thoughts(f"{ANSWER}\n<think>{THOUGHT}").strip() == ANSWER
    assert without_thoughts(f"(thinking: {THOUGHT}") == ""


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        "The <output> element holds the result [1].",
        "A <plan> has steps, </plan> ends it [2].",
        "The assistant final exam is hard [1].",
        "Reasoning\nis what the talk is about [1].",
        "Analysis shows it [1]. See [2] and a < b, c > d.",
        "<em>Tea</em> is green.",
        "(Thinking fast is hard.) The book says so [1].",
        '{"answer": "Tea is green.", "quotes": ["green"]}',
    ],
)
def test_an_answer_that_speaks_of_such_words_is_whole(text: str) -> None:
    assert without_thoughts(text) == text


def test_lines_are_freed_of_thoughts_as_they_come() -> None:
    lines = ["a<think>b", "c", "</think>d", "e"]
    assert list(visible_lines(lines)) == ["a", "", "d", "e"]


def test_the_beginning_of_an_answer_may_still_be_a_thought() -> None:
    assert all(map(is_thinking, ["", "<", "<thi", "<think>a", "[THINK]a b", "<think>a</think>"]))
    assert not any(
        map(
            is_thinking,
            [
                "A",
                "[1] says that it is so, and [2]",
                "<think>a</think>b",
                "<b>bold</b> and on it goes, yes",
            ],
        )
    )


def test_thinking_aloud_is_recognised_by_how_it_begins() -> None:
    assert thinks_aloud("Okay, so the user wants a fact.")
    assert thinks_aloud("Hmm, let me look. Passage 1 …")
    assert thinks_aloud("We need to answer in one sentence.")
    assert not thinks_aloud(ANSWER)
    assert not thinks_aloud("Okay, the kettle clicks off.")


def test_sentences_about_the_task_are_told_from_those_about_its_subject() -> None:
    for sentence in ("Passage 2 says: no.", "That does not answer the question.", THOUGHT):
        assert is_about_task(sentence)
    assert is_planned("I should cite the first.")
    for sentence in (ANSWER, "The user clicks on Save.", "Questions of the users are answered."):
        assert not is_about_task(sentence)
        assert not is_planned(sentence)


@pytest.mark.parametrize(
    "bad",
    ["<think>", "</think>", "<", "<a>", "<think ", "[", "```think\n", "Thought:\n", "\n", "<!--"]
    + ["(thought:", '{"thought":', "> ", "```\n"],
)
def test_the_worst_answers_are_read_in_linear_time(bad: str) -> None:
    started = process_time()
    without_thoughts(bad * (400_000 // len(bad)))
    assert process_time() - started < 5


def test_a_comment_that_is_no_thought_is_part_of_the_answer() -> None:
    answer = "HTML's comments begin with <!-- and end with -->. Browsers skip them [1]."
    assert without_thoughts(answer) == answer
