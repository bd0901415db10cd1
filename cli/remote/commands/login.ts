import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { isFlowrunError } from '../../../client/http/errors.ts';
import { readSignedInConfig } from '../../../config/cli/signed-in-config.ts';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { CliError, UsageError } from '../../format-error.ts';
import { note, printTable } from '../../print.ts';
import { openClient, serviceUrl } from '../connection.ts';
import { addContext, type Context, readContexts, removeContext, useContext } from '../contexts.ts';
import { openOperatorHttp, projectIds } from '../operators/operator-http.ts';
import { readSecret } from '../read-secret.ts';

interface LoginOptions {
  key?: string;
  token?: true;
  project?: string;
  name?: string;
}

export function loginCommand(): Command {
  return new Command('login')
    .description('store the address of a service and the credentials for it')
    .argument('<url>', 'address of the service, such as https://flowrun.example.com')
    .addOption(
      new Option('--key <key>', 'an API key; - reads it from standard input').conflicts('token'),
    )
    .option('--token', 'read an operator token from standard input or from the terminal')
    .option('--project <project>', 'with --token: the default project of later commands')
    .option('--name <name>', 'name of the context (default: the host of the address)')
    .action(async (address: string, options: LoginOptions) => {
      const url = serviceUrl(address);
      const context =
        options.token === true
          ? await operatorContext(url, options.project)
          : await keyContext(url, options.key);
      const name = options.name ?? new URL(url).host;
      addContext(name, context);
      note(`Signed in to ${url}. The context ${name} is in use.`);
    });
}

async function keyContext(url: string, option: string | undefined): Promise<Context> {
  const given = option === '-' ? await text(process.stdin) : (option ?? readSignedInConfig().key);
  const key = given?.trim();
  if (key === undefined || key === '')
    throw new UsageError(
      'Pass an API key with --key <key>, or with --key - from standard input, or pass --token to sign in with an operator token.',
    );
  await checkKey({ url, key });
  return { url, key };
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

async function operatorContext(url: string, project: string | undefined): Promise<Context> {
  const token = await readSecret('Operator token: ');
  if (token === '') throw new UsageError('The operator token is missing.');
  const projects = await projectIds(await openOperatorHttp({ url, token }));
  const known = projects.join(', ') || 'none';
  if (project !== undefined && !projects.includes(project))
    throw new CliError(`No such project: ${project}. Projects: ${known}.`);
  if (project === undefined && projects.length > 1)
    note(`Choose one with --project or FLOWRUN_PROJECT. Projects: ${known}.`);
  return { url, token, ...omitUndefined({ project }) };
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
        .description('remove a context and its credentials')
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
      const rows = Object.entries(contexts).map(([name, { url, key, token, project }]) => ({
        name,
        url,
        key: shownPart(key),
        token: shownPart(token),
        project,
        current: name === current,
      }));
      printTable(rows, ['name', 'url', 'key', 'token', 'project', 'current'], options);
    });
}

const shownPart = (secret: string | undefined): string | undefined =>
  secret && `${secret.slice(0, 8)}…`;
