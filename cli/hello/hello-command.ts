import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';

export function helloCommand(deps: CliDeps): Command {
  return new Command('hello')
    .description('start and follow a first run, and show how to start the next; safe to repeat')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      const { makeFirstRun } = await import('./make-first-run.ts');
      await makeFirstRun(deps, options);
    });
}
