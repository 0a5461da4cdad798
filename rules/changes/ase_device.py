"""How a device of SAP ASE on a file system is opened: past the cache of the file system, with `sp_deviceattr`.

directio and dsync exclude each other: dsync has to be off before directio can be set, and a restart takes both. A
device with neither of them may lose what it was told to write (Reference Manual: Procedures, sp_deviceattr; System
Administration Guide, "Using the dsync and directio parameters").
"""

from rules.changes.quoting import Unquotable, batches, comment, tsql_string
from rules.finding import Change, Effect, Risk

CAUTIONS = (
    "Both commands before one restart: a server that starts with dsync and directio off may lose writes in a crash.",
    "Static: needs a restart. The master device keeps dsync, and a raw device takes neither.",
)
RISK = Risk("medium", "the server is restarted")


def direct_io(device: str) -> Change:
    """Open a device that has dsync on with directio instead, from the next restart on."""
    key, target = f"ase.device:{comment(device)}:directio", f"device {comment(device)}"
    try:
        name = tsql_string(device)
    except Unquotable:
        said = ("-- By hand: the name of the device cannot be written safely into a script.",)
        return Change(key, target, "dsync", "directio", said, said, Effect.ADVICE, CAUTIONS)
    show = f"sp_helpdevice {name}"
    return Change(
        key=key,
        target=target,
        old="dsync",
        new="directio",
        apply=batches(
            f"-- {comment(device)}: dsync on, directio off now",
            show,
            f'sp_deviceattr {name}, "dsync", "false"',
            f'sp_deviceattr {name}, "directio", "true"',
            "-- must show directio on; where it was refused, set dsync to true again before any restart",
            show,
            "-- restart the server",
        ),
        undo=batches(
            f'sp_deviceattr {name}, "directio", "false"',
            f'sp_deviceattr {name}, "dsync", "true"',
            "-- must show dsync on",
            show,
            "-- restart the server",
        ),
        takes_effect=Effect.RESTART,
        cautions=CAUTIONS,
        risk=RISK,
    )
