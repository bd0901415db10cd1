import { lookup as lookUp, Resolver } from 'node:dns/promises';
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
export function dnsLookup(): Lookup {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** For names from the operator: resolves as the system does, including its hosts file. */
export const systemLookup: Lookup = async (host) =>
  (await lookUp(host, { all: true, verbatim: true })).map((answer) => answer.address);
