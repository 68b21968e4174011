"""A LanceDB client: reads the tables in one folder, and writes tables of several storage versions next to another."""

import datetime
import json
import sys

import lancedb
import pyarrow

tables, written = sys.argv[1:]

database = lancedb.connect(tables)
memories = database.open_table("memory_entries")
blocks = database.open_table("yamo_blocks").to_arrow().to_pylist()
some = memories.to_arrow().to_pylist()
nearest = memories.search(some[-1]["vector"]).limit(1).to_list()

dimensions = len(some[0]["vector"])
schema = pyarrow.schema([
    ("id", pyarrow.string()),
    ("vector", pyarrow.list_(pyarrow.float32(), dimensions)),
    ("content", pyarrow.string()),
    ("metadata", pyarrow.string()),
    ("created_at", pyarrow.timestamp("ms")),
])
for version in ["2.0", "2.1", "2.2", ""]:
    lancedb.connect(
        f"{written}/{version or 'default'}",
        storage_options={"new_table_data_storage_version": version} if version else None,
    ).create_table(
        "memory_entries",
        [
            {
                "id": f"boat_{number}",
                "vector": [1 / dimensions**0.5] * dimensions,
                "content": f"Boat {number} of the client with files of version {version or 'default'}.",
                "metadata": "{}",
                "created_at": datetime.datetime(2026, 1, number),
            }
            for number in (1, 2, 3)
        ],
        schema=schema,
    )

json.dump(
    {
        "memories": [row["content"] for row in some],
        "nearest": [row["content"] for row in nearest],
        "last": some[-1]["content"],
        "chain": [{"hash": row["block_hash"], "prev": row["prev_hash"] or ""} for row in blocks],
    },
    sys.stdout,
)
