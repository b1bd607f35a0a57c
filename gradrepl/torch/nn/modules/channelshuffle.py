"""torch.nn.modules.channelshuffle: the channels of groups interleaved."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.nn.functional as F
from gradrepl.torch.nn.modules.module import Module


class ChannelShuffle(Module):
    __constants__ = ["groups"]

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"
