// Which hosts may come in: `add <name>` writes a bundle for one to its output, `remove <name>` shuts it
// out, `list` names them. What was cut off halfway is repeated: `remove` always, `add` after a `remove`.

import { readHostsConfig } from '../../config/hosts-config.ts';
import { allow, deny, hostNames, pathsIn } from './allowlist.ts';
import { createBundle } from './bundle.ts';
import { type IngressTargets, reloadIngress } from './ingress.ts';

export async function runHostsCommand(args: string[], stores: IngressTargets): Promise<number> {
  const [verb = '', name = '', ...more] = args;
  const places = pathsIn(stores.secrets);
  if (verb === 'list' && name === '') return list(hostNames(places));
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name) || more.length > 0) return refuse(usage);
  const isKnown = hostNames(places).includes(name);
  if (verb === 'add') {
    return isKnown ? refuse(`${name} is on the list: remove it first`) : add(name, stores);
  }
  if (verb === 'remove') return remove({ name, isKnown }, stores);
  return refuse(usage);
}

function list(names: string[]): number {
  for (const each of names) process.stdout.write(`${each}\n`);
  return 0;
}

async function add(name: string, stores: IngressTargets): Promise<number> {
  if (process.stdout.isTTY) return refuse('a bundle is no text: expected `run -T … > <file>`');
  const places = pathsIn(stores.secrets);
  const bundle = await createBundle(name, { secrets: stores.secrets, ...readHostsConfig() });
  try {
    allow(places, name, bundle.certificate);
    const failures = await reloadIngress(stores);
    if (failures.length > 0) {
      deny(places, name);
      return fail(failures, `${name} was not added: say it again.`);
    }
    process.stdout.write(bundle.archive);
  } finally {
    bundle.dispose();
  }
  note(
    `${name} may come in. Whoever has this file can do all that a worker can: send it as a secret.`,
  );
  return 0;
}

/** Of a host that is not on the list, too: the entrances may not have heard that it was taken off. */
async function remove(
  { name, isKnown }: { name: string; isKnown: boolean },
  stores: IngressTargets,
): Promise<number> {
  deny(pathsIn(stores.secrets), name);
  const failures = await reloadIngress(stores, name);
  if (failures.length > 0) {
    return fail(failures, `${name} is off the list: say it again, or restart what was not told.`);
  }
  if (!isKnown) note(`${name} was not on the list; the entrances were told once more.`);
  note(`${name} is shut out, and what it held open is closed.`);
  return 0;
}

const usage =
  'expected add <name>, remove <name> or list; a name is small letters, digits and dashes';

function refuse(why: string): number {
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
