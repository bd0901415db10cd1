import { Command } from 'commander';
import { limits } from '../../core/limits.ts';
import { CliError } from '../explain.ts';
import { printRecord, printTable } from '../print.ts';
import type { Stores, World } from '../stores.ts';
import { name, projectId, uuid } from '../values.ts';
import { type FlowOptions, fieldsOf, withFlowOptions } from './flow-options.ts';

export function flowCommand(world: World): Command {
  return new Command('flow')
    .description('what a run is made from')
    .addCommand(create(world))
    .addCommand(list(world))
    .addCommand(show(world))
    .addCommand(update(world));
}

function create({ withStores }: World): Command {
  const command = new Command('create')
    .description('makes a flow')
    .requiredOption('--project <project>', 'whose flow it is', projectId)
    .requiredOption('--name <text>', 'what people call it', name);
  return withFlowOptions(command).action(
    (options: FlowOptions & { project: string; name: string }) =>
      withStores(async ({ projects, flows }) => {
        const { project } = options;
        if ((await projects.find(project)) === null)
          throw new CliError(`There is no project ${project}.`);
        const flow = { ...fieldsOf(options), projectId: project, name: options.name };
        printRecord(await flows.create(flow), options);
      }),
  );
}

function list({ withStores }: World): Command {
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

function show({ withStores }: World): Command {
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

function update({ withStores }: World): Command {
  const command = new Command('update')
    .description('changes a flow; runs that are on their way keep what they began with')
    .argument('<flow-id>', 'its id', uuid)
    .option('--name <text>', 'what people call it', name);
  return withFlowOptions(command).action(
    (flowId: string, options: FlowOptions & { name?: string }) =>
      withStores(async ({ flows }) => {
        const before = await flows.find(flowId);
        if (before === null) throw new CliError(`There is no flow ${flowId}.`);
        const renamed = options.name === undefined ? {} : { name: options.name };
        const flow = await flows.update(flowId, { ...fieldsOf(options, before), ...renamed });
        printRecord(flow ?? before, options);
      }),
  );
}
