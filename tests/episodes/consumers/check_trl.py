"""Run with TRL installed: its data preparation takes the rows; nothing is trained."""

import sys
from pathlib import Path

from datasets import load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer
from trl.data_utils import extract_prompt, is_conversational, maybe_apply_chat_template

from quizlog_tui.episodes import rewards

folder, cache = Path(sys.argv[1]), sys.argv[2]
alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
vocab = {token: index for index, token in enumerate(["<pad>", "<eos>", *alphabet])}
inner = Tokenizer(models.BPE(vocab=vocab, merges=[]))
inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
inner.decoder = decoders.ByteLevel()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>")
tokenizer.chat_template = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}{% generation %}"
    "[{{ m['role'] }}]{{ m['content'] }}<eos>{% endgeneration %}"
    "{% else %}[{{ m['role'] }}]{{ m['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{% endif %}"
)
small = LlamaConfig(
    vocab_size=len(vocab),
    hidden_size=8,
    intermediate_size=8,
    num_hidden_layers=1,
    num_attention_heads=1,
    num_key_value_heads=1,
)


def rows(form):
    return load_dataset(
        "json", data_files=str(folder / f"{form}.jsonl"), split="train", cache_dir=cache
    )


for form, options in (
    ("messages", {}),
    ("messages", {"assistant_only_loss": True}),
    ("prompt-completion", {}),
    ("turns", {}),
):
    data = rows(form)
    assert is_conversational(data[0])
    config = SFTConfig(
        output_dir=cache, report_to=[], max_length=None, use_cpu=True, bf16=False, **options
    )
    trainer = SFTTrainer(
        model=LlamaForCausalLM(small), args=config, train_dataset=data, processing_class=tokenizer
    )
    ready = trainer.train_dataset
    assert len(ready) == len(data) and all(len(row["input_ids"]) > 10 for row in ready)
    print("prepared", form, options, ready.column_names)

for row in rows("preference"):
    assert set(extract_prompt(row)) >= {"prompt", "chosen", "rejected"}
    assert maybe_apply_chat_template(row, tokenizer)["chosen"]
data = rows("rl")
columns = {name: data[name] for name in data.column_names if name != "prompt"}
right = [
    [{"role": "assistant", "content": f"Answer: {text}"}]
    for text in columns["expected_answer_json"]
]
found = rewards.final_answer(
    prompts=data["prompt"], completions=right, completion_ids=[], **columns
)
assert set(found) == {1.0}, found
assert set(rewards.steps(prompts=data["prompt"], completions=right, **columns)) == {0.0}
print("rewarded", len(data))
