import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { name } from '../parse-options.ts';
import { note, printRecord, printTable } from '../print.ts';

export function hostCommand(deps: CliDeps): Command {
  return new Command('host')
    .description('manage the machines that run sandboxes')
    .addCommand(list(deps))
    .addCommand(setDraining(deps, { verb: 'drain', draining: true, description: drainHelp }))
    .addCommand(setDraining(deps, { verb: 'undrain', draining: false, description: undrainHelp }));
}

const drainHelp =
  'start nothing new on a host; its runs continue to their end, its sessions move when they are idle';
const undrainHelp = 'let a host start sandboxes again';

interface Output {
  json?: true;
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('list all hosts')
    .option('--json', 'print JSON')
    .action((options: Output) =>
      withStores(async ({ hosts }) => {
        const fields = [
          ...(['hostId', 'name', 'used', 'capacity', 'draining'] as const),
          ...(['model', 'offersModel', 'lastSeen', 'stoppedAt'] as const),
        ];
        printTable(await hosts.list(), [...fields], options);
      }),
    );
}

function setDraining(
  { withStores }: CliDeps,
  { verb, draining, description }: { verb: string; draining: boolean; description: string },
): Command {
  return new Command(verb)
    .description(description)
    .argument('<host>', 'its ID or name, see `flowrun host list`', name)
    .option('--json', 'print JSON')
    .action((idOrName: string, options: Output) =>
      withStores(async ({ hosts, change }) => {
        const { hostId } = findHost(await hosts.list(), idOrName);
        if (!(await change((on) => on.setDraining(hostId, draining))))
          throw new CliError(`No such host: ${hostId}.`);
        if (options.json) printRecord({ hostId, draining }, options);
        else note(`${hostId} ${draining ? 'is draining' : 'accepts sandboxes again'}.`);
      }),
    );
}

/** IDs win over names, because they are unique. */
function findHost<H extends { hostId: string; name: string }>(hosts: H[], idOrName: string): H {
  const byId = hosts.filter(({ hostId }) => hostId === idOrName);
  const found = byId.length > 0 ? byId : hosts.filter(({ name: its }) => its === idOrName);
  const [host, ...others] = found;
  if (host === undefined) throw new CliError(`No such host: ${idOrName}.`);
  if (others.length === 0) return host;
  const ids = found.map(({ hostId }) => hostId).join(', ');
  throw new CliError(`${found.length} hosts are named ${idOrName}; use an ID: ${ids}.`);
}
