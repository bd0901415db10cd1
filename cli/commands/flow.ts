import { Command } from 'commander';
import { limits } from '../../core/limits.ts';
import { runnerError } from '../../core/runs/validate-runner.ts';
import type { CliDeps, Stores } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { noneAsNull, projectId, uuid } from '../parse-options.ts';
import { printRecord, printTable } from '../print.ts';
import {
  bodyOf,
  checkTogether,
  type FlowOptions,
  saysNothing,
  withFlowOptions,
} from './flow-options.ts';
import { nothingToChange } from './require-change.ts';

export function flowCommand(world: CliDeps): Command {
  return new Command('flow')
    .description('what a run is made from')
    .addCommand(create(world))
    .addCommand(list(world))
    .addCommand(show(world))
    .addCommand(update(world));
}

function create({ withStores, loadValidators: loadRules }: CliDeps): Command {
  const command = new Command('create')
    .description('makes a flow')
    .requiredOption('--project <project>', 'whose flow it is', projectId);
  return withFlowOptions(command).action(async (options: FlowOptions & { project: string }) => {
    const { project } = options;
    checkTogether(options);
    const body = bodyOf(options);
    if (body['name'] === undefined)
      command.error("error: a flow needs a name: by option '--name <text>', or in its file", {
        exitCode: 2,
      });
    const fields = (await loadRules()).newFlow(body);
    await withStores(async ({ projects, flows, hosts }) => {
      if ((await projects.find(project)) === null)
        throw new CliError(`There is no project ${project}.`);
      await checkRunner(hosts, options);
      printRecord(await flows.create({ ...fields, projectId: project }), options);
    });
  });
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('lists the flows of a project')
    .requiredOption('--project <project>', 'whose flows', projectId)
    .option('--json', 'print JSON')
    .action((options: { project: string; json?: true }) =>
      withStores(async ({ flows }) => {
        const all = await everyFlow(flows, options.project);
        printTable(all, ['flowId', 'name', 'model', 'prompt', 'version', 'updatedAt'], options);
      }),
    );
}

type Flows = Stores['flows'];
type Flow = Awaited<ReturnType<Flows['create']>>;

/** Page after page, to the end. */
async function everyFlow(flows: Flows, project: string): Promise<Flow[]> {
  const all: Flow[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const from = after === '' ? {} : { after };
    const page = await flows.listByProject(project, { limit: limits.pageMax, ...from });
    all.push(...page.flows);
    after = page.next;
  }
  return all;
}

function show({ withStores }: CliDeps): Command {
  return new Command('show')
    .description('shows a flow')
    .argument('<flow-id>', 'its id', uuid)
    .option('--json', 'print JSON')
    .action((flowId: string, options: { json?: true }) =>
      withStores(async ({ flows }) => {
        const flow = await flows.find(flowId);
        if (flow === null) throw new CliError(`There is no flow ${flowId}.`);
        printRecord(flow, options);
      }),
    );
}

function update({ withStores, loadValidators: loadRules }: CliDeps): Command {
  const command = new Command('update')
    .description('changes a flow; runs that are on their way keep what they began with')
    .argument('<flow-id>', 'its id', uuid);
  return withFlowOptions(command).action(async (flowId: string, options: FlowOptions) => {
    if (saysNothing(options)) throw nothingToChange('flow update');
    checkTogether(options);
    const { flowPatch } = await loadRules();
    await withStores(async ({ flows, hosts }) => {
      await checkRunner(hosts, options);
      const flow = await flows.change(flowId, (before) =>
        flowPatch(bodyOf(options, before.flow), before),
      );
      if (flow === null) throw new CliError(`There is no flow ${flowId}.`);
      printRecord(flow, options);
    });
  });
}

async function checkRunner(hosts: Stores['hosts'], options: FlowOptions): Promise<void> {
  const { config, runner: option } = options;
  const runner = option === undefined ? config?.['runner'] : noneAsNull(option);
  const fault = typeof runner === 'string' ? runnerError(runner, await hosts.list()) : null;
  if (fault !== null) throw new CliError(`The runner ${fault}.`);
}
