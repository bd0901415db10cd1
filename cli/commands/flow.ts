import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { listFlows } from '../list-flows.ts';
import { noneAsNull, projectId } from '../parse-options.ts';
import { printRecord, printTable } from '../print.ts';
import {
  checkConsistency,
  type FlowOptions,
  isEmptyUpdate,
  requestBody,
  withFlowOptions,
} from './flow-options.ts';
import { versionCommands } from './flow-versions.ts';
import { nothingToUpdate } from './require-change.ts';

export function flowCommand(deps: CliDeps): Command {
  const command = new Command('flow')
    .description('manage flows, the configuration of runs')
    .addCommand(create(deps))
    .addCommand(list(deps))
    .addCommand(show(deps))
    .addCommand(update(deps))
    .addCommand(setArchived(deps, { verb: 'archive', isArchived: true, description: archiveHelp }))
    .addCommand(
      setArchived(deps, { verb: 'restore', isArchived: false, description: restoreHelp }),
    );
  for (const each of versionCommands(deps)) command.addCommand(each);
  return command;
}

function create({ withStores, loadValidators }: CliDeps): Command {
  const command = new Command('create')
    .description('create a flow')
    .requiredOption('--project <project>', 'the project of the flow', projectId);
  return withFlowOptions(command).action(async (options: FlowOptions & { project: string }) => {
    const { project } = options;
    checkConsistency(options);
    const body = requestBody(options);
    if (body['name'] === undefined)
      command.error("error: a flow needs a name: pass '--name <text>' or set it in the file", {
        exitCode: 2,
      });
    const { newFlow, flowBudget } = await loadValidators();
    const fields = newFlow(body);
    await withStores(async ({ projects, change, checkRunner, modelPrices }) => {
      flowBudget(modelPrices, fields);
      if ((await projects.find(project)) === null)
        throw new CliError(`No such project: ${project}.`);
      await checkRunner(runnerOf(options));
      const flow = { ...fields, projectId: project };
      printRecord(await change((on) => on.createFlow(flow)), options);
    });
  });
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('list the flows of a project')
    .requiredOption('--project <project>', 'the project', projectId)
    .option('--archived', 'list the archived flows instead of those in use')
    .option('--json', 'print JSON')
    .action((options: { project: string; archived?: true; json?: true }) =>
      withStores(async ({ flows }) => {
        const all = await listFlows(flows, options.project, options.archived);
        printTable(all, ['flowId', 'name', 'model', 'prompt', 'version', 'updatedAt'], options);
      }),
    );
}

function show({ withStores, parseReference }: CliDeps): Command {
  return new Command('show')
    .description('show a flow')
    .argument('<flow-id>', 'its ID', parseReference)
    .option('--json', 'print JSON')
    .action((flowId: string, options: { json?: true }) =>
      withStores(async ({ flows }) => {
        const flow = await flows.find(flowId);
        if (flow === null) throw new CliError(`No such flow: ${flowId}.`);
        printRecord(flow, options);
      }),
    );
}

function update({ withStores, loadValidators, parseReference }: CliDeps): Command {
  const command = new Command('update')
    .description('change a flow; active runs keep their configuration')
    .argument('<flow-id>', 'its ID', parseReference);
  return withFlowOptions(command).action(async (flowId: string, options: FlowOptions) => {
    if (isEmptyUpdate(options)) throw nothingToUpdate('flow update');
    checkConsistency(options);
    const { flowPatch, flowBudget } = await loadValidators();
    await withStores(async ({ change, checkRunner, modelPrices }) => {
      await checkRunner(runnerOf(options));
      const flow = await change((on) =>
        on.changeFlow(flowId, (before) => {
          const fields = flowPatch(requestBody(options, before.flow), before);
          flowBudget(modelPrices, fields, before.flow);
          return fields;
        }),
      );
      if (flow === null) throw new CliError(`No such flow: ${flowId}.`);
      printRecord(flow, options);
    });
  });
}

const archiveHelp =
  'stop a flow from starting runs; active runs continue, and all runs stay readable';
const restoreHelp = 'restore an archived flow, with its schedule';

function setArchived(
  { withStores, parseReference }: CliDeps,
  { verb, isArchived, description }: { verb: string; isArchived: boolean; description: string },
): Command {
  return new Command(verb)
    .description(description)
    .argument('<flow-id>', 'its ID', parseReference)
    .option('--json', 'print JSON')
    .action((flowId: string, options: { json?: true }) =>
      withStores(async ({ flows, change }) => {
        const flow = await flows.find(flowId);
        if (flow === null) throw new CliError(`No such flow: ${flowId}.`);
        await change((on) => on.setArchived(flow, isArchived));
        printRecord((await flows.find(flowId)) ?? flow, options);
      }),
    );
}

const runnerOf = ({ config, runner }: FlowOptions): unknown =>
  runner === undefined ? config?.['runner'] : noneAsNull(runner);
