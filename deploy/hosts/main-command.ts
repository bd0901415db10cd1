// Manages the hosts that may join: `add <name>` writes a bundle for a host to standard output,
// `remove <name>` revokes its access, `list` prints the names. An interrupted `remove` can be
// repeated, an interrupted `add` after a `remove`.

import { readHostsConfig } from '../../config/hosts-config.ts';
import { allow, deny, hostNames, pathsIn } from './allowlist.ts';
import { createBundle } from './bundle.ts';
import { type IngressTargets, reloadIngress } from './ingress.ts';

export async function runHostsCommand(args: string[], stores: IngressTargets): Promise<number> {
  const [verb = '', name = '', ...more] = args;
  const paths = pathsIn(stores.secrets);
  if (verb === 'list' && name === '') return list(hostNames(paths));
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name) || more.length > 0) return usageError(usage);
  const isKnown = hostNames(paths).includes(name);
  if (verb === 'add') {
    return isKnown
      ? usageError(`${name} is already on the allowlist: remove it first`)
      : add(name, stores);
  }
  if (verb === 'remove') return remove({ name, isKnown }, stores);
  return usageError(usage);
}

function list(names: string[]): number {
  for (const each of names) process.stdout.write(`${each}\n`);
  return 0;
}

async function add(name: string, stores: IngressTargets): Promise<number> {
  if (process.stdout.isTTY)
    return usageError('the bundle is binary: redirect it to a file with `run -T … > <file>`');
  const paths = pathsIn(stores.secrets);
  const bundle = await createBundle(name, { secrets: stores.secrets, ...readHostsConfig() });
  try {
    allow(paths, name, bundle.certificate);
    const failures = await reloadIngress(stores);
    if (failures.length > 0) {
      deny(paths, name);
      return fail(failures, `${name} was not added. Run the command again.`);
    }
    process.stdout.write(bundle.archive);
  } finally {
    bundle.dispose();
  }
  note(`${name} was added. The bundle gives full access as a worker: transfer it as a secret.`);
  return 0;
}

/** Also for a host that is not on the list: an earlier removal may not have reached the ingress. */
async function remove(
  { name, isKnown }: { name: string; isKnown: boolean },
  stores: IngressTargets,
): Promise<number> {
  deny(pathsIn(stores.secrets), name);
  const failures = await reloadIngress(stores, name);
  if (failures.length > 0) {
    return fail(
      failures,
      `${name} is off the allowlist. Run the command again, or restart what was not reloaded.`,
    );
  }
  if (!isKnown) note(`${name} was not on the allowlist; the ingress was reloaded anyway.`);
  note(`${name} was removed, and its connections are closed.`);
  return 0;
}

const usage =
  'usage: add <name>, remove <name> or list; a name has lower-case letters, digits and dashes';

function usageError(why: string): number {
  note(why);
  return 2;
}

function fail(failures: string[], then: string): number {
  for (const each of failures) note(each);
  note(then);
  return 1;
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
