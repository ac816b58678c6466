"""The functions behind `import antipodes`.

They take what a person has at hand, a name, a file or an object, and call the function behind the command of the same
name: `runs` computes and checks stores, `results` opens and publishes them, `searches` answers without one.
"""

from importlib.metadata import version

__version__ = version("antipodes")
