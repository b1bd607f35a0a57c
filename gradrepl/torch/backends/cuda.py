"""torch.backends.cuda: there is none."""

__name__ = __name__.removeprefix("gradrepl.")


class _Matmul:
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built():
    return False


def flash_sdp_enabled():
    return True


def math_sdp_enabled():
    return True
