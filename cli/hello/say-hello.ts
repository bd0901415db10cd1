import type { CliDeps } from '../deps.ts';
import { note, printRecord, write } from '../print.ts';
import { startFirstRun } from './first-run.ts';
import { nextSteps } from './next-steps.ts';
import { prepareHello } from './prepare-hello.ts';

/** Prepares the first run in the database, and starts it over HTTP. */
export async function sayHello(
  { withStores, loadValidators }: CliDeps,
  options: { json?: true },
): Promise<void> {
  const validators = await loadValidators();
  const { created, apiUrl, ...hello } = await withStores((stores) =>
    prepareHello(stores, validators),
  );
  for (const sentence of created) note(sentence);
  const run = await startFirstRun({ ...hello, url: apiUrl });
  if (run.offlineModel) note(offlineHint);
  if (options.json) return printRecord({ ...hello, ...run }, options);
  write(nextSteps(hello));
}

const offlineHint =
  'The offline model has answered, because the service has no model key. For a real model, put ' +
  'ANTHROPIC_API_KEY=… into the file .env of the service, and start the service again.';
