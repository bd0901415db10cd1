import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { readVariables } from '../../../config/cli/operator-config.ts';
import type { FlowPlan } from '../../flow-files/plan.ts';
import type { FolderPlan } from '../../flow-files/plan-folder.ts';
import { CliError, UsageError } from '../../format-error.ts';
import { note, write } from '../../print.ts';
import { exitCodes } from '../exit-codes.ts';
import { flowService, projectOption } from '../operators/operator-connection.ts';

interface ApplyOptions {
  project?: string;
  yes?: true;
  prune?: true;
  check?: true;
  json?: true;
}

export function applyCommand(): Command {
  return new Command('apply')
    .description('make the flows of a project match a folder')
    .argument('<folder>', 'folder with a Markdown file for each flow')
    .addOption(projectOption())
    .option('--yes', 'apply the changes without a question')
    .option('--prune', 'archive the flows that the folder does not have')
    .option('--check', 'only show the changes; exit code 3 if there are any')
    .option('--json', 'print the changes as JSON')
    .addHelpText('after', help)
    .action(apply);
}

const help = `
The front matter of a file has the fields of the flow, and its body the instructions. The folder
"files" beside it has the files of the flow. Values of secrets come from environment variables.
It needs an operator token: flowrun login <url> --token, or FLOWRUN_TOKEN.`;

async function apply(folder: string, options: ApplyOptions): Promise<void> {
  const { readFlowFolder } = await import('../../flow-files/read-folder.ts');
  const { planFolder } = await import('../../flow-files/plan-folder.ts');
  const { flows, problems } = readFlowFolder(folder);
  await rejectProblems(problems);
  if (flows.length === 0) throw new CliError(`${folder} has no flows.`);
  const service = await flowService(options.project);
  const plan = await planFolder(service, flows, {
    prune: options.prune === true,
    environment: readVariables(),
  });
  await rejectProblems(plan.problems);
  await show(plan, options);
  if (plan.steps.length === 0) return;
  if (options.check === true)
    throw new CliError('The service differs from the folder.', { exitCode: exitCodes.drift });
  if (options.yes !== true) await confirm();
  for (const { plan: step, files } of plan.steps) {
    await service.apply(step, files);
    note(`${pastOf[step.action]} ${JSON.stringify(step.name)}`);
  }
}

async function rejectProblems(problems: FolderPlan['problems']): Promise<void> {
  if (problems.length === 0) return;
  const { formatProblems } = await import('../../flow-files/service-problems.ts');
  throw new CliError(formatProblems(problems));
}

const pastOf: Record<FlowPlan['action'], string> = {
  create: 'created',
  update: 'updated',
  restore: 'restored',
  archive: 'archived',
};

async function show(
  { steps, kept, unmanaged }: FolderPlan,
  { prune, json }: ApplyOptions,
): Promise<void> {
  const { formatPlan } = await import('../../flow-files/format-plan.ts');
  const plans = steps.map(({ plan }) => plan);
  // The body has the values of secrets.
  if (json === true) write(JSON.stringify(plans.map(({ body: _body, ...plan }) => plan)));
  else write(plans.length === 0 ? 'No changes.' : formatPlan(plans));
  if (kept.length > 0)
    note(`Not in the environment, so the stored values stay: ${[...new Set(kept)].join(', ')}`);
  const others = unmanaged.map(({ name }) => JSON.stringify(name)).join(', ');
  if (unmanaged.length > 0 && prune !== true)
    note(`Not in the folder, and archived with --prune: ${others}`);
}

async function confirm(): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError('Pass --yes to apply the changes.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Apply these changes? [y/N] ');
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was changed.');
}
