import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { limits } from '../../core/limits.ts';

/**
 * Whether what this address says of where a call comes from (`X-Forwarded-For`) is believed, by a
 * list of addresses, networks and host names. Nobody waits for a name to be looked up: that begins
 * with the first who speaks for somebody else, and again with one who does so later, since a proxy
 * that was started anew may have another address. Until it is known, and where the name leads
 * nowhere, nobody is believed for it.
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
    const isLate = nowMs() - lookedUpAt > limits.proxyNameTtlMs;
    if (names.length > 0 && isLate) void lookUp();
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

/** An IPv4 address as such, whatever the socket that it came by; what nobody could have come by, as it is. */
const canonical = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
