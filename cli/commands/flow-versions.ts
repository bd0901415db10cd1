import { Command } from 'commander';
import { differencesOf, restoredFields } from '../../core/flows/flow-version.ts';
import type { CliDeps, Stores } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { uuid, versionNumber } from '../parse-options.ts';
import { note, printRecord, printTable } from '../print.ts';
import { checkRunner } from './check-runner.ts';

/** `flowrun flow versions`, `flowrun flow diff` and `flowrun flow revert`. */
export const versionCommands = (deps: CliDeps): Command[] => [list(deps), diff(deps), revert(deps)];

function list({ withStores }: CliDeps): Command {
  return new Command('versions')
    .description('list the latest versions of a flow')
    .argument('<flow-id>', 'its ID', uuid)
    .option('--json', 'print JSON')
    .action((flowId: string, options: { json?: true }) =>
      withStores(async ({ flows, flowVersions }) => {
        if ((await flows.find(flowId)) === null) throw noFlow(flowId);
        const fields = ['version', 'changedAt', 'changedBy', 'changedFields'] as const;
        printTable(await flowVersions.list(flowId), [...fields], options);
      }),
    );
}

function diff({ withStores }: CliDeps): Command {
  return new Command('diff')
    .description('show the fields in which two versions of a flow differ')
    .argument('<flow-id>', 'its ID', uuid)
    .argument('<version>', 'the number of the version', versionNumber)
    .option(
      '--from <version>',
      'compare with this version (default: the one before)',
      versionNumber,
    )
    .option('--json', 'print JSON')
    .action((flowId: string, to: number, options: { from?: number; json?: true }) =>
      withStores(async ({ flowVersions }) => {
        const { from = to - 1 } = options;
        const before = await findVersion(flowVersions, flowId, from);
        const after = await findVersion(flowVersions, flowId, to);
        printTable(differencesOf(before, after), ['field', 'before', 'after'], options);
        const secrets = await flowVersions.changedSecrets(flowId, [from, to]);
        if (secrets.length > 0) note(`Secrets with other values: ${secrets.join(', ')}.`);
      }),
    );
}

function revert({ withStores, loadValidators }: CliDeps): Command {
  return new Command('revert')
    .description('make the fields of a version current again; files and secrets stay as they are')
    .argument('<flow-id>', 'its ID', uuid)
    .argument('<version>', 'the number of the version', versionNumber)
    .option('--json', 'print JSON')
    .action(async (flowId: string, wanted: number, options: { json?: true }) => {
      const { flowBudget } = await loadValidators();
      await withStores(async ({ flowVersions, change, hosts, modelPrices }) => {
        const { definition } = await findVersion(flowVersions, flowId, wanted);
        await checkRunner(hosts, definition.runner);
        const fields = restoredFields(definition);
        const flow = await change((on) =>
          on.changeFlow(flowId, (before) => {
            flowBudget(modelPrices, fields, before.flow);
            return fields;
          }),
        );
        if (flow === null) throw noFlow(flowId);
        printRecord(flow, options);
      });
    });
}

async function findVersion(versions: Stores['flowVersions'], flowId: string, wanted: number) {
  const found = await versions.find(flowId, wanted);
  if (found === null) throw new CliError(`The flow has no version ${wanted}, or no longer.`);
  return found;
}

const noFlow = (flowId: string) => new CliError(`No such flow: ${flowId}.`);
