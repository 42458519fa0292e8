"""dlt: pyarrow reads the CSV, dlt merges it by key, with CSV files for its COPY. It makes its own table, in the schema
"dl"; what it knows of earlier runs is in the folder that DLT_PIPELINES names."""

import os

import dlt
import pyarrow.csv
from common import arguments, arrow_types

_, url, path = arguments()


@dlt.resource(name="narrow", primary_key="id", write_disposition={"disposition": "merge", "strategy": "upsert"})
def narrow():
    yield pyarrow.csv.read_csv(path, convert_options=arrow_types())


pipeline = dlt.pipeline(
    pipeline_name="bench", destination=dlt.destinations.postgres(url), dataset_name="dl",
    pipelines_dir=os.environ["DLT_PIPELINES"])
pipeline.run(narrow(), loader_file_format="csv")
