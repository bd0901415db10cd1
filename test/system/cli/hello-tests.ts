// The first run, which a command starts on the machine of the service.

import { expect, it } from 'vitest';
import { commandEnv } from '../../support/command-env.ts';
import { signInBy } from '../../support/operator-client.ts';
import { pageOf } from '../../support/pages.ts';
import { remoteCli } from '../../support/remote-cli.ts';
import { cliWith } from '../../support/run-cli.ts';
import type { Service } from '../../support/service.ts';

interface Hello {
  flowId: string;
  key: string;
}

/** The arguments of the commands that a text shows. */
const commandsIn = (text: string): string[][] =>
  [...text.matchAll(/cli\.tgz (.+)/g)].map(([, line = '']) =>
    [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? ''),
  );

/** The text that the page shows for the end of the output. */
const documentedSteps = (): string =>
  /^Start the next run[^`]*/m.exec(pageOf('docs/start.md'))?.[0].trim() ?? '';

/** A text without what differs in each installation. */
const withoutValues = (text: string): string =>
  text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replaceAll(/frs_[\w…]+/g, 'KEY')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/#[\w…]+/g, '#CODE');

export function helloTests(service: () => Service): void {
  it('creates once what is missing, shows the run, and prints commands that work', async () => {
    const hello = cliWith(commandEnv(service()));
    const both = await Promise.all([hello('hello'), hello('hello')]);
    for (const { code, err } of both) {
      expect(code, err).toBe(0);
      expect(err).toMatch(/^Started the run [0-9a-f-]{36}\.$/m);
      expect(err).toContain('a short greeting');
    }
    const created = both.flatMap(({ err }) => err.match(/^Created the \w+/gm) ?? []);
    expect(created.toSorted()).toEqual([
      'Created the flow',
      'Created the key',
      'Created the project',
    ]);
    expect(withoutValues(both[0].out.trim())).toBe(withoutValues(documentedSteps()));
    const [commands = [], others] = both.map(({ out }) => commandsIn(out));
    expect(others).toEqual(commands);
    expect(commands.map(([command]) => command)).toEqual(['login', 'run']);
    const user = remoteCli();
    for (const command of commands) expect(await user(...command)).toMatchObject({ code: 0 });
    user.remove();
    const operator = await signInBy(service(), /http.*\/sign-in#\S+/.exec(both[0].out)?.[0] ?? '');
    expect((await operator('GET', '/api/projects')).data).toContainEqual(
      expect.objectContaining({ projectId: 'hello' }),
    );
  });

  it('uses another key if its key was revoked, and does not call the public URL', async () => {
    const env = { ...commandEnv(service()), API_HOST: '0.0.0.0', PUBLIC_URL: 'http://127.0.0.1:9' };
    const { port: API_PORT } = new URL(service().url);
    const local = cliWith({ ...env, API_PORT });
    const first = await local.json<Hello>('hello');
    const keys = await local.json<{ keyId: string }[]>('key', 'list', '--project', 'hello');
    for (const { keyId } of keys) await local('key', 'revoke', keyId);
    const second = await local.json<Hello>('hello');
    expect(second).toMatchObject({
      projectId: 'hello',
      flowId: first.flowId,
      result: expect.stringContaining('a short greeting'),
      files: [],
      offlineModel: false,
      operator: 'operator',
      signInLink: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9\/sign-in#/),
    });
    expect(second.key).not.toBe(first.key);
  });

  it('ends with the exit code of the run', async () => {
    const env = commandEnv(service());
    const { flowId } = await cliWith(env).json<Hello>('hello');
    const config = JSON.stringify({ image: 'nowhere/none:1' });
    await cliWith(env, config).json('flow', 'update', flowId, '--config', '-');
    expect(await cliWith(env)('hello')).toMatchObject({
      code: 14,
      out: '',
      err: expect.stringContaining('container_start_failed: no such image'),
    });
  });
}
