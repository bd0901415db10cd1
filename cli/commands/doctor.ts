import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { formatOutcome } from '../doctor/format.ts';
import { checks } from '../doctor/registry.ts';
import { runChecks } from '../doctor/run-checks.ts';
import { CliError } from '../format-error.ts';
import { write } from '../print.ts';

export function doctorCommand({ withDoctor }: CliDeps): Command {
  return new Command('doctor')
    .description('check every dependency of the service and report what to do about problems')
    .option('--fix', 'fix what is safe to fix automatically')
    .option('--json', 'print JSON')
    .action(async ({ fix = false, json = false }: { fix?: boolean; json?: boolean }) => {
      const outcomes = await withDoctor((context) =>
        runChecks(checks, context, {
          fix,
          onOutcome: (outcome) => (json ? undefined : write(formatOutcome(outcome))),
        }),
      );
      if (json) write(JSON.stringify(outcomes));
      const failed = outcomes.filter(({ state }) => state === 'failed').map(({ name }) => name);
      if (failed.length > 0) throw new CliError(`Checks failed: ${failed.join(', ')}.`);
    });
}
