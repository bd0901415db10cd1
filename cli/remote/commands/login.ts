import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { isFlowrunError } from '../../../client/http/errors.ts';
import { readSignedInConfig } from '../../../config/cli/signed-in-config.ts';
import { UsageError } from '../../format-error.ts';
import { note, printTable } from '../../print.ts';
import { openClient, serviceUrl } from '../connection.ts';
import { addContext, type Context, readContexts, removeContext, useContext } from '../contexts.ts';

export function loginCommand(): Command {
  return new Command('login')
    .description('store the address of a service and a key for it')
    .argument('<url>', 'address of the service, such as https://flowrun.example.com')
    .option('--key <key>', 'an API key; - reads it from standard input')
    .option('--name <name>', 'name of the context (default: the host of the address)')
    .action(async (address: string, options: { key?: string; name?: string }) => {
      const url = serviceUrl(address);
      const context = { url, key: await keyOf(options.key) };
      await checkKey(context);
      const name = options.name ?? new URL(url).host;
      addContext(name, context);
      note(`Signed in to ${url}. The context ${name} is in use.`);
    });
}

async function keyOf(option: string | undefined): Promise<string> {
  const key = option === '-' ? await text(process.stdin) : (option ?? readSignedInConfig().key);
  if (key === undefined || key.trim() === '')
    throw new UsageError('Pass an API key: --key <key>, or --key - for standard input.');
  return key.trim();
}

/** A key whose scopes exclude reading is valid too. */
async function checkKey(context: Context): Promise<void> {
  const flowrun = await openClient(context);
  try {
    await flowrun.flows().next();
  } catch (error) {
    if (!isFlowrunError(error) || error.status !== 403) throw error;
  }
}

export function contextCommand(): Command {
  return new Command('context')
    .description('manage the services that you are signed in to')
    .addCommand(listContexts())
    .addCommand(
      new Command('use')
        .description('select the service of the following commands')
        .argument('<name>')
        .action((name: string) => useContext(name)),
    )
    .addCommand(
      new Command('rm')
        .description('remove a context and its key')
        .argument('<name>')
        .action((name: string) => removeContext(name)),
    );
}

function listContexts(): Command {
  return new Command('list')
    .description('list them')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) => {
      const { current, contexts } = readContexts();
      const rows = Object.entries(contexts).map(([name, { url, key }]) => ({
        name,
        url,
        key: `${key.slice(0, 8)}…`,
        current: name === current,
      }));
      printTable(rows, ['name', 'url', 'key', 'current'], options);
    });
}
