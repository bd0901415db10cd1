import { Command } from 'commander';
import { describeTemporal, isSameTemporal } from '../../core/temporal/temporal-identity.ts';
import type { CliDeps, TemporalIdentities } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { note, printRecord } from '../print.ts';

export function temporalCommand(deps: CliDeps): Command {
  return new Command('temporal')
    .description('manage which Temporal the database belongs to')
    .addCommand(adopt(deps));
}

interface Options {
  confirm?: true;
  json?: true;
}

function adopt({ withTemporal }: CliDeps): Command {
  return new Command('adopt')
    .description(
      'bind this database to the Temporal at TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, after Temporal was replaced or has lost data',
    )
    .option('--confirm', 'adopt it; without this option, only report what would happen')
    .option('--json', 'print JSON')
    .action((options: Options) =>
      withTemporal(async (identities) => {
        const found = await identities.read();
        if (!options.confirm) throw new CliError(await warning(identities, found));
        await identities.adopt(found);
        if (options.json) printRecord(found, options);
        else note(`The database belongs to ${describeTemporal(found)}. Start the service.`);
      }),
    );
}

async function warning(
  { find, countActiveWorkflows }: TemporalIdentities,
  found: Awaited<ReturnType<TemporalIdentities['read']>>,
): Promise<string> {
  const known = await find();
  const owner = known === null ? 'no Temporal yet' : describeTemporal(known);
  const isSame = known !== null && isSameTemporal(known, found);
  return (
    `The database belongs to ${owner}. ` +
    (isSame
      ? 'This is the configured one. '
      : `The configured one is ${describeTemporal(found)}. `) +
    `Of ${await countActiveWorkflows()} active runs and sessions, those without a workflow there ` +
    'will end with max_reconnects_exceeded. Repeat the command with --confirm to accept that.'
  );
}
