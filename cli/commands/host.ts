import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { name } from '../parse-options.ts';
import { note, printRecord, printTable } from '../print.ts';

export function hostCommand(world: CliDeps): Command {
  return new Command('host')
    .description('the machines on which sandboxes run')
    .addCommand(list(world))
    .addCommand(setDraining(world, { verb: 'drain', draining: true, what: drainHelp }))
    .addCommand(setDraining(world, { verb: 'undrain', draining: false, what: undrainHelp }));
}

const drainHelp =
  'places nothing new on a host; its runs go on to their end, its sessions move on when they are idle';
const undrainHelp = 'lets a host take sandboxes again';

interface Output {
  json?: true;
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('lists all hosts that were ever seen')
    .option('--json', 'print JSON')
    .action((options: Output) =>
      withStores(async ({ hosts }) => {
        const fields = ['hostId', 'name', 'used', 'capacity', 'draining', 'lastSeen'] as const;
        printTable(await hosts.list(), [...fields], options);
      }),
    );
}

function setDraining(
  { withStores }: CliDeps,
  { verb, draining, what }: { verb: string; draining: boolean; what: string },
): Command {
  return new Command(verb)
    .description(what)
    .argument('<host>', 'its id or its name, from the list', name)
    .option('--json', 'print JSON')
    .action((wanted: string, options: Output) =>
      withStores(async ({ hosts }) => {
        const { hostId } = theHost(await hosts.list(), wanted);
        if (!(await hosts.setDraining(hostId, draining)))
          throw new CliError(`There is no host ${hostId}.`);
        if (options.json) printRecord({ hostId, draining }, options);
        else note(`${hostId} ${draining ? 'takes nothing new' : 'takes sandboxes again'}.`);
      }),
    );
}

/** An id goes before a name: it is what others cannot have. */
function theHost<H extends { hostId: string; name: string }>(hosts: H[], wanted: string): H {
  const byId = hosts.filter(({ hostId }) => hostId === wanted);
  const found = byId.length > 0 ? byId : hosts.filter(({ name: its }) => its === wanted);
  const [host, ...others] = found;
  if (host === undefined) throw new CliError(`There is no host ${wanted}.`);
  if (others.length === 0) return host;
  const ids = found.map(({ hostId }) => hostId).join(', ');
  throw new CliError(`${found.length} hosts are called ${wanted}; give the id of one: ${ids}.`);
}
