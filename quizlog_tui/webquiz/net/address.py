"""Which addresses a task may reach: its own site and what the configuration names. Pure.

Private, link-local and other special addresses are refused unless their host is named.
"""

from __future__ import annotations

import ipaddress
import posixpath
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from ...text import is_whole

_SPECIAL = tuple(
    ipaddress.ip_network(net)
    for net in (
        "192.0.0.0/24", "192.88.99.0/24",  # protocols' own, relays
        "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48",  # IPv4 in other forms
        "2001::/32", "2002::/16",  # IPv4 in tunnels
        "fec0::/10",  # once private
    )
)  # fmt: skip
"""What Python's own table, which differs from version to version, takes for public."""
_NUMBER = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)$")
"""How a host ends that browsers read as an IPv4 address."""
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class BadAddressError(ValueError):
    """A URL is not one that can be visited; the text says why."""


@dataclass(frozen=True, order=True)
class Site:
    """Where a URL points to: host and port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def site_of(url: str) -> Site:
    """The site of a URL.

    Raises:
        BadAddressError: It is no http or https URL, or carries a user.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadAddressError(f"no URL: {error}") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise BadAddressError("must start with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise BadAddressError("must not carry a user or a password")
    if not is_whole(url):
        raise BadAddressError("must not hold half a surrogate pair")
    return Site(_plain_host(parts.hostname), port or _PORTS[parts.scheme])


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, as browsers write an origin."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def same_place(url: str, other: str) -> bool:
    """Whether two URLs lead to one path of a host, however it is written and at whichever port."""

    def plain(url: str) -> tuple[str, str]:
        path = unquote(urlsplit(url).path).casefold() or "/"
        return site_of(url).host, posixpath.normpath(path).replace("//", "/")

    return plain(url) == plain(other)


def is_special(address: str) -> bool:
    """Whether an IP address is not one of the public network."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return not ip.is_global or ip.is_multicast or any(ip in net for net in _SPECIAL)


def _plain_host(host: str) -> str:
    """A host in lower case.

    Raises:
        BadAddressError: It is an address in a form that browsers and resolvers read in their ways.
    """
    plain = unicodedata.normalize("NFKC", host).lower().rstrip(".")
    if "%" in plain or (_NUMBER.search(plain) and not _is_address(plain)):
        raise BadAddressError("must name its host, or its address in full")
    return plain


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


@dataclass(frozen=True)
class Allowed:
    """What a task may reach."""

    sites: frozenset[Site]
    """Hosts and ports."""
    private_hosts: frozenset[str] = field(default_factory=frozenset)
    """Hosts that may have a private address."""
    home: str = ""
    """The URL of the task's first page."""

    def site(self, site: Site) -> bool:
        """Whether a site may be visited at all."""
        return any(_is_at(site, one) for one in self.sites)

    @property
    def origins(self) -> tuple[str, ...]:
        """The sites as browsers write origins: that of the first page, then the others."""
        home = site_of(self.home)
        others = (site for site in sorted(self.sites) if site != home)
        schemes = ((site, "https" if site.port == 443 else "http") for site in others)
        return (origin_of(self.home), *(f"{scheme}://{site}" for site, scheme in schemes))

    def is_home(self, url: str) -> bool:
        """Whether a URL is on the task's own site: the only one that is sent answers."""
        try:
            return _is_at(site_of(url), site_of(self.home))
        except BadAddressError:
            return False

    def address(self, host: str, address: str) -> bool:
        """Whether a host may be visited at this IP address."""
        return host in self.private_hosts or not is_special(address)


def _is_at(site: Site, known: Site) -> bool:
    """Whether a site is a known one, or that with the encryption it lacked, at the usual ports.

    Who answers for a host at port 80 chooses what is at 443, and the way there is safer. The
    other direction would give up what was asked for; at other ports two programs may be strangers.
    """
    return site == known or (site == Site(known.host, 443) and known.port == 80)


def allowed_for(url: str, more: Iterable[str] = (), private_hosts: Iterable[str] = ()) -> Allowed:
    """What the task of a URL may reach.

    Args:
        url: The task's first page.
        more: URLs of further sites.
        private_hosts: Hosts that may have a private address.

    Raises:
        BadAddressError: One of them is no URL to visit.
    """
    sites = frozenset(site_of(one) for one in (url, *more))
    return Allowed(sites, frozenset(host.lower() for host in private_hosts), url)
