import type { CliDeps } from '../deps.ts';
import { note, printRecord, write } from '../print.ts';
import { startFirstRun } from './first-run.ts';
import { nextSteps } from './next-steps.ts';
import { prepareFirstRun } from './prepare-first-run.ts';

/** Prepares the first run in the database, and starts it over HTTP. */
export async function makeFirstRun(
  { withStores, loadValidators }: CliDeps,
  options: { json?: true },
): Promise<void> {
  const validators = await loadValidators();
  const { created, apiUrl, ...setup } = await withStores((stores) =>
    prepareFirstRun(stores, validators),
  );
  for (const sentence of created) note(sentence);
  const run = await startFirstRun({ ...setup, url: apiUrl });
  if (run.offlineModel) note(offlineHint);
  if (options.json) return printRecord({ ...setup, ...run }, options);
  write(nextSteps(setup));
}

const offlineHint =
  'The offline model has answered, because the service has no model key. For a real model, put ' +
  'ANTHROPIC_API_KEY=… into the file .env of the service, and start the service again.';
