// Which hosts may come in: `add <name>` writes a bundle for one to its output, `remove <name>` shuts it
// out, `list` names them. Run by docker compose, see first.yml.

import { readHostsConfig } from '../../config/hosts-config.ts';
import { makeBundle } from './bundle.ts';
import { tellEntrances } from './entrances.ts';
import { hostNames, placesBelow, putOnList, takeOffList } from './host-list.ts';

const secrets = '/secrets';
const places = placesBelow(secrets);
const [verb = '', name = '', ...more] = process.argv.slice(2);

process.exitCode = await obey();

async function obey(): Promise<number> {
  if (verb === 'list' && name === '') return list();
  const known = hostNames(places).includes(name);
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name) || more.length > 0) return refuse(usage);
  if (verb === 'add') return known ? refuse(`${name} is on the list: remove it first`) : add();
  if (verb === 'remove') return known ? remove() : refuse(`${name} is not on the list`);
  return refuse(usage);
}

function list(): number {
  for (const each of hostNames(places)) process.stdout.write(`${each}\n`);
  return 0;
}

async function add(): Promise<number> {
  if (process.stdout.isTTY) return refuse('a bundle is no text: expected `run -T … > <file>`');
  const bundle = await makeBundle(name, { secrets, ...readHostsConfig() });
  try {
    putOnList(places, name, bundle.certificate);
    await tellEntrances({ secrets });
    process.stdout.write(bundle.archive);
  } finally {
    bundle.forget();
  }
  note(
    `${name} may come in. Whoever has this file can do all that a worker can: send it as a secret.`,
  );
  return 0;
}

async function remove(): Promise<number> {
  takeOffList(places, name);
  await tellEntrances({ secrets, shutOut: name });
  note(`${name} is shut out; what it still asks of Temporal is answered for a minute at the most.`);
  return 0;
}

const usage =
  'expected add <name>, remove <name> or list; a name is small letters, digits and dashes';

function refuse(why: string): number {
  note(why);
  return 2;
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
