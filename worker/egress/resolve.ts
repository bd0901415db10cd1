import { lookup as lookUp, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Returns all addresses of a name. Without any it rejects or returns none. */
export type Lookup = (host: string) => Promise<string[]>;

type Resolution =
  | { outcome: 'resolved'; addresses: string[] }
  | { outcome: 'denied'; reason: 'unresolvable' | 'not_public' };

/**
 * Resolves a name once. A single disallowed address denies the name. The caller connects to the
 * returned addresses, so a second DNS answer has no effect.
 */
export async function resolveAllowed(
  host: string,
  { lookup, allows }: { lookup: Lookup; allows: (address: string) => boolean },
): Promise<Resolution> {
  const addresses = isIP(host) === 0 ? await lookup(host).catch(() => []) : [host];
  if (addresses.length === 0) return { outcome: 'denied', reason: 'unresolvable' };
  if (!addresses.every(allows)) return { outcome: 'denied', reason: 'not_public' };
  return { outcome: 'resolved', addresses };
}

/**
 * For names from sandboxes: queries the name servers directly. `dns.lookup` would occupy one of the
 * four threads that all file operations share, and a sandbox could choose a slow name server.
 */
export function dnsLookup(timeoutMs = 2_000): Lookup {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/**
 * For names from clients. The system resolves two names at a time, so a slow name server would
 * delay all others. The operator may add names to the hosts file. The system resolves only names
 * without a dot, because no client controls a name server for them.
 */
export function clientLookup(): Lookup {
  const query = dnsLookup(5_000);
  return async (host) => {
    if (!host.includes('.')) return systemLookup(host);
    const listed = addressesIn(await readFile('/etc/hosts', 'utf8').catch(() => ''), host);
    return listed.length > 0 ? listed : query(host);
  };
}

function addressesIn(hostsFile: string, host: string): string[] {
  return hostsFile.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) !== 0 && names.includes(host) ? [address] : [];
  });
}

/** For names from the operator: resolves as the system does, including its hosts file. */
export const systemLookup: Lookup = async (host) =>
  (await lookUp(host, { all: true, verbatim: true })).map((answer) => answer.address);
