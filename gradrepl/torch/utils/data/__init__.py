"""torch.utils.data: datasets, samplers, and loading them in batches."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.utils.data._collate import default_collate, default_convert
from gradrepl.torch.utils.data.dataloader import DataLoader, _DatasetKind, get_worker_info
from gradrepl.torch.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from gradrepl.torch.utils.data.distributed import DistributedSampler
from gradrepl.torch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = """BatchSampler ChainDataset ConcatDataset DataLoader Dataset DistributedSampler IterableDataset RandomSampler Sampler
    SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset WeightedRandomSampler default_collate default_convert
    get_worker_info random_split""".split()
