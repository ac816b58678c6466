"""The functions behind `import antipodes`.

They accept names, files and objects, and call the function behind the command of the same name. The module `runs`
computes and verifies stores, `results` opens and publishes them, and `searches` answers questions, mostly without a
store.
"""

from importlib.metadata import version

__version__ = version("antipodes")
