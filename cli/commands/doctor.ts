import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { formatOutcome } from '../doctor/format.ts';
import { checks } from '../doctor/registry.ts';
import { runChecks } from '../doctor/run-checks.ts';
import { CliError } from '../format-error.ts';
import { write } from '../print.ts';

export function doctorCommand({ withDoctor }: CliDeps): Command {
  return new Command('doctor')
    .description('looks at all that the service stands on, and says what is wrong and what to do')
    .option('--fix', 'mends what is safe to mend')
    .option('--json', 'print JSON')
    .action(async ({ fix = false, json = false }: { fix?: boolean; json?: boolean }) => {
      const outcomes = await withDoctor((parts) =>
        runChecks(checks, parts, {
          fix,
          told: (outcome) => (json ? undefined : write(formatOutcome(outcome))),
        }),
      );
      if (json) write(JSON.stringify(outcomes));
      const wrong = outcomes.filter(({ state }) => state === 'wrong').map(({ name }) => name);
      if (wrong.length > 0) throw new CliError(`Something is wrong with ${wrong.join(', ')}.`);
    });
}
