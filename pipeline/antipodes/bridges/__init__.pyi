from . import gymnasium as gymnasium
from . import parquet as parquet
