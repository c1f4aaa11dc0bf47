"""The one way to the network: a polite client that tries again and stays out of private networks."""

from broadsheet.net.client import Client
from broadsheet.net.values import Response, Validators

__all__ = ["Client", "Response", "Validators"]
