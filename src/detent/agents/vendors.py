"""The vendor of the model that an agent asks, from its spec. A literal table; the vendor of anything else is unknown."""

import re

OF_BACKEND = {"anthropic": "Anthropic", "claude": "Anthropic", "codex": "OpenAI"}
OF_PROGRAM = {"gemini": "Google", "qwen": "Alibaba"}
OF_MODEL: tuple[tuple[str, str], ...] = (  # the beginnings of model names
    (r"claude", "Anthropic"),
    (r"gpt|chatgpt|codex|o\d", "OpenAI"),
    (r"gemini|gemma", "Google"),
    (r"mistral|ministral|codestral|devstral|magistral", "Mistral"),
    (r"qwen|qwq", "Alibaba"),
    (r"deepseek", "DeepSeek"),
    (r"llama", "Meta"),
    (r"grok", "xAI"),
    (r"glm", "Zhipu"),
    (r"kimi|moonshot", "Moonshot"),
)


def vendor_of(spec: str, model: str = "") -> str:
    """The vendor of the model behind a spec; empty if unknown. `model` is used by agents whose spec names none."""
    backend, _, rest = spec.partition(":")
    if backend in OF_BACKEND:
        return OF_BACKEND[backend]
    if backend == "acp":  # NAME[:MODEL]; some of these programs ask one vendor only
        program, _, asked = rest.partition(":")
        return of_model(asked) if asked else OF_PROGRAM.get(program, "")
    named = (rest.rpartition("@")[0] if "@" in rest else rest) or model
    return of_model(named) if backend == "openai" else ""


def of_model(name: str) -> str:
    """The vendor of a model; its name may have a path in front."""
    last = name.lower().rpartition("/")[2]
    return next((vendor for begins, vendor in OF_MODEL if re.match(begins, last)), "")
