from . import cayleypy as cayleypy
from . import gymnasium as gymnasium
from . import parquet as parquet
from . import pddl as pddl
from . import torch as torch
