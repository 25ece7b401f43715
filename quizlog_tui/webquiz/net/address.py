"""Decides which addresses a task may reach: its own site and configured ones; names files safely.

Private, link-local and other special addresses are refused unless the configuration names the host.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ...text import is_whole, suspect

_SPECIAL = tuple(
    ipaddress.ip_network(net)
    for net in (
        "192.0.0.0/24", "192.88.99.0/24",  # protocols' own, relays
        "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48",  # IPv4 in other forms
        "2001::/32", "2002::/16",  # IPv4 in tunnels
        "fec0::/10",  # once private
    )
)  # fmt: skip
"""Special addresses that some Python versions take for public."""
_NUMBER = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)$")
"""The end of a host name that browsers read as an IPv4 address."""
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class BadAddressError(ValueError):
    """A URL cannot be visited; the text says why."""


@dataclass(frozen=True, order=True)
class Site:
    """The host and port of a URL."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def visible(text: str) -> str:
    """A text without what shows nothing, which is no part of an address in it."""
    return suspect().sub(lambda found: found[0] if found[0] in "\t\r" else "", text)


def site_of(url: str) -> Site:
    """The site of a URL.

    Raises:
        BadAddressError: It is not an http or https URL, or contains a user.
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
    """Scheme, host and port of a URL, in a browser's notation of an origin."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def is_special(address: str) -> bool:
    """Whether an IP address does not belong to the public network."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return not ip.is_global or ip.is_multicast or any(ip in net for net in _SPECIAL)


def _plain_host(host: str) -> str:
    """A host in lower case.

    Raises:
        BadAddressError: It is an address in a notation that programs interpret differently.
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
    """The sites that a task may reach."""

    sites: frozenset[Site]
    """The allowed hosts with ports."""
    private_hosts: frozenset[str] = field(default_factory=frozenset)
    """Hosts that may have a private address."""
    home: str = ""
    """The URL of the task's first page."""

    def site(self, site: Site) -> bool:
        """Whether a site may be visited at all."""
        return any(_is_at(site, one) for one in self.sites)

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of the sites: that of the first page, then the others."""
        home = site_of(self.home)
        others = (site for site in sorted(self.sites) if site != home)
        schemes = ((site, "https" if site.port == 443 else "http") for site in others)
        return (origin_of(self.home), *(f"{scheme}://{site}" for site, scheme in schemes))

    def is_home(self, url: str) -> bool:
        """Whether a URL is on the task's own site, the only one to which answers are sent."""
        try:
            return _is_at(site_of(url), site_of(self.home))
        except BadAddressError:
            return False

    def address(self, host: str, address: str) -> bool:
        """Whether a host may be visited at this IP address."""
        return host in self.private_hosts or not is_special(address)


def _is_at(site: Site, known: Site) -> bool:
    """Whether a site is a known one, or the HTTPS version of one, at the usual ports.

    The owner of port 80 of a host also owns port 443, which is safer. The other direction would
    lose security, and other ports may belong to other programs.
    """
    return site == known or (site == Site(known.host, 443) and known.port == 80)


def allowed_for(url: str, more: Iterable[str] = (), private_hosts: Iterable[str] = ()) -> Allowed:
    """The sites that the task of a URL may reach: its own, and those of `more`.

    Raises:
        BadAddressError: One of them cannot be visited.
    """
    sites = frozenset(site_of(one) for one in (url, *more))
    return Allowed(sites, frozenset(host.lower() for host in private_hosts), url)


_MOST = 80


def safe_name(suggested: str) -> str:
    """A plain file name made from an untrusted one; never a path, never hidden."""
    last = re.split(r"[/\\]", suggested)[-1]
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", last).lstrip(".")[-_MOST:]
    return name or "file"


def name_of(url: str) -> str:
    """The file name a URL suggests."""
    return safe_name(unquote(urlsplit(url).path.rstrip("/")))


def free_name(folder: Path, suggested: str, taken: Container[str] = ()) -> str:
    """A safe name, such as `data-2.csv`, that is neither used in the folder nor in `taken`."""
    name = safe_name(suggested)
    stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
    count = 1
    while name in taken or (folder / name).exists():
        count += 1
        name = f"{stem}-{count}{dot}{ending}"
    return name
