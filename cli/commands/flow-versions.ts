import { Command } from 'commander';
import { changeStatus, type FileChange } from '../../core/files/file-change.ts';
import { differencesOf, restoredFields } from '../../core/flows/flow-version.ts';
import type { CliDeps, Stores } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { versionNumber } from '../parse-options.ts';
import { note, printRecord, printTable } from '../print.ts';

/** `flowrun flow versions`, `flowrun flow diff` and `flowrun flow revert`. */
export const versionCommands = (deps: CliDeps): Command[] => [list(deps), diff(deps), revert(deps)];

function list({ withStores, parseReference }: CliDeps): Command {
  return new Command('versions')
    .description('list the latest versions of a flow')
    .argument('<flow-id>', 'its ID', parseReference)
    .option('--json', 'print JSON')
    .action((flowId: string, options: { json?: true }) =>
      withStores(async ({ flows, flowVersions }) => {
        if ((await flows.find(flowId)) === null) throw noFlow(flowId);
        const fields = ['version', 'changedAt', 'changedBy', 'changedFields', 'filesKept'] as const;
        printTable(await flowVersions.list(flowId), [...fields], options);
      }),
    );
}

function diff({ withStores, parseReference }: CliDeps): Command {
  return new Command('diff')
    .description('show the fields and files in which two versions of a flow differ')
    .argument('<flow-id>', 'its ID', parseReference)
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
        printDifferences({
          fields: differencesOf(before, after),
          files: await flowVersions.compareFiles(flowId, [from, to]),
          changedSecrets: await flowVersions.changedSecrets(flowId, [from, to]),
          ...options,
        });
      }),
    );
}

interface Differences {
  fields: ReturnType<typeof differencesOf>;
  files: Awaited<ReturnType<Stores['flowVersions']['compareFiles']>>;
  changedSecrets: string[];
  json?: true;
}

function printDifferences({ fields, files, changedSecrets, json }: Differences): void {
  const fileChanges = files?.changes.map(fileRow) ?? null;
  if (json === true) return printRecord({ fields, fileChanges, changedSecrets }, { json });
  printTable(fields, ['field', 'before', 'after'], {});
  if (fileChanges === null) note('The files of one of the versions are no longer kept.');
  else if (fileChanges.length > 0)
    printTable(fileChanges, ['path', 'status', 'sizeBefore', 'sizeAfter'], {});
  if (files !== null && files.count > files.changes.length)
    note(`${files.count} files differ. The first ${files.changes.length} are listed.`);
  if (changedSecrets.length > 0) note(`Secrets with other values: ${changedSecrets.join(', ')}.`);
}

const fileRow = (change: FileChange) => ({
  path: change.path,
  status: changeStatus(change),
  sizeBefore: change.before?.size ?? null,
  sizeAfter: change.after?.size ?? null,
});

function revert({ withStores, loadValidators, parseReference }: CliDeps): Command {
  return new Command('revert')
    .description('make the fields and files of a version current again; secrets stay as they are')
    .argument('<flow-id>', 'its ID', parseReference)
    .argument('<version>', 'the number of the version', versionNumber)
    .option('--fields-only', 'keep the current files')
    .option('--json', 'print JSON')
    .action(async (flowId: string, wanted: number, options: RevertOptions) => {
      const { flowBudget } = await loadValidators();
      await withStores(async ({ flowVersions, change, checkRunner, modelPrices }) => {
        const { definition } = await findVersion(flowVersions, flowId, wanted);
        await checkRunner(definition.runner);
        const fields = restoredFields(definition);
        const result = await change((on) =>
          on.restoreVersion(flowId, {
            version: wanted,
            restoresFiles: options.fieldsOnly !== true,
            decide(before) {
              flowBudget(modelPrices, fields, before.flow);
              return fields;
            },
          }),
        );
        if (result.outcome === 'missing') throw noVersion(wanted);
        if (result.outcome === 'files_not_kept') throw filesNotKept(wanted);
        printRecord(result.flow, options);
      });
    });
}

interface RevertOptions {
  fieldsOnly?: true;
  json?: true;
}

async function findVersion(versions: Stores['flowVersions'], flowId: string, wanted: number) {
  const found = await versions.find(flowId, wanted);
  if (found === null) throw noVersion(wanted);
  return found;
}

const noVersion = (wanted: number) =>
  new CliError(`The flow has no version ${wanted}, or it is no longer kept.`);
const filesNotKept = (wanted: number) =>
  new CliError(
    `The files of version ${wanted} are no longer kept. --fields-only restores its fields.`,
  );
const noFlow = (flowId: string) => new CliError(`No such flow: ${flowId}.`);
