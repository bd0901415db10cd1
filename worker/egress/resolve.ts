import { lookup as lookUp, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** All addresses of a name; rejects, or answers none, when there are none. */
export type Lookup = (host: string) => Promise<string[]>;

type Resolution =
  | { outcome: 'resolved'; addresses: string[] }
  | { outcome: 'refused'; reason: 'unresolvable' | 'not_public' };

/**
 * One look-up, judged whole: a single bad address refuses the name, and whoever connects uses the
 * addresses returned here, so that a second answer of the name cannot matter.
 */
export async function resolveAllowed(
  host: string,
  { lookup, allows }: { lookup: Lookup; allows: (address: string) => boolean },
): Promise<Resolution> {
  const addresses = isIP(host) === 0 ? await lookup(host).catch(() => []) : [host];
  if (addresses.length === 0) return { outcome: 'refused', reason: 'unresolvable' };
  if (!addresses.every(allows)) return { outcome: 'refused', reason: 'not_public' };
  return { outcome: 'resolved', addresses };
}

/**
 * Names that sandboxes choose: asked of the name servers without a thread. `dns.lookup` would take
 * one of the four that every file operation of this process shares, for as long as a name server
 * that the sandbox picked likes to be slow.
 */
export function dnsLookup(): Lookup {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** Names that the operator chose: the way the system resolves them, its hosts file included. */
export const systemLookup: Lookup = async (host) =>
  (await lookUp(host, { all: true, verbatim: true })).map((answer) => answer.address);
