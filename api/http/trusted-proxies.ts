import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { limits } from '../../core/limits.ts';

/**
 * Decides whether `X-Forwarded-For` is trusted from an address, by a list of addresses, networks
 * and host names. Requests never wait for DNS: a lookup starts with the first forwarded request and
 * is repeated later, because a restarted proxy may have another address. A name that is not
 * resolved yet, or cannot be resolved, trusts no address.
 */
export function createTrustedProxies({
  proxies,
  nowMs,
  addressesOf = findAddresses,
}: {
  proxies: readonly string[];
  nowMs: () => number;
  addressesOf?: (name: string) => Promise<string[]>;
}): (address: string) => boolean {
  const networks = networksOf(proxies);
  const names = proxies.filter((proxy) => !isNumeric(proxy));
  let named = new Set<string>();
  let lookedUpAt = Number.NEGATIVE_INFINITY;

  async function lookUp(): Promise<void> {
    lookedUpAt = nowMs();
    const found = await Promise.all(names.map((name) => addressesOf(name).catch(() => [])));
    named = new Set(found.flat().map(canonical));
  }

  return (text) => {
    if (isIP(text) === 0) return false;
    const address = canonical(text);
    if (networks.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')) return true;
    const isOutdated = nowMs() - lookedUpAt > limits.http.proxyNameTtlMs;
    if (names.length > 0 && isOutdated) void lookUp();
    return named.has(address);
  };
}

async function findAddresses(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function networksOf(proxies: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const proxy of proxies.filter(isNumeric)) {
    const [address = '', bits] = proxy.split('/');
    const kind = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) networks.addAddress(address, kind);
    else networks.addSubnet(address, Number(bits), kind);
  }
  return networks;
}

const isNumeric = (proxy: string): boolean => isIP(proxy.split('/')[0] ?? '') !== 0;

/** Converts an IPv4-mapped address to IPv4. Invalid text is returned unchanged. */
const canonical = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
