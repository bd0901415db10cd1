import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { projectId } from '../parse-options.ts';
import { printRecord } from '../print.ts';

const descriptions = {
  archive: 'stop a project from starting runs; active ones continue and all stay readable',
  restore: 'restore an archived project, with its schedules',
};

/** `flowrun project archive` and `flowrun project restore`. */
export function setProjectArchived(
  { withStores }: CliDeps,
  { verb, isArchived }: { verb: keyof typeof descriptions; isArchived: boolean },
): Command {
  return new Command(verb)
    .description(descriptions[verb])
    .argument('<project>', 'its ID', projectId)
    .option('--json', 'print JSON')
    .action((id: string, options: { json?: true }) =>
      withStores(async ({ projects, change }) => {
        const project = await projects.find(id);
        if (project === null) throw new CliError(`No such project: ${id}.`);
        await change((on) => on.setProjectArchived(id, isArchived));
        printRecord((await projects.find(id)) ?? project, options);
      }),
    );
}
