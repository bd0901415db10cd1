// Webhooks on a laptop, which the service cannot reach.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { verifyWebhook } from '../../../client/index.ts';
import { isSignedWith, isStandardSignedWith } from '../../support/received-webhook.ts';
import type { RemoteCli } from '../../support/remote-cli.ts';
import { webhookError } from '../../support/webhook-error.ts';
import type { ReceivedPost } from '../../support/webhook-receiver.ts';
import { useTenant } from '../api/use-api.ts';
import { newToken, userWith } from './operator-user.ts';

const { fixture, api } = useTenant();

/** A receiver on plain http that answers with the next of these statuses. */
async function startLocalReceiver(...statuses: number[]) {
  const posts: ReceivedPost[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      posts.push({ path: request.url ?? '', headers: request.headers, body, at: 0 });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { posts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

async function newOperator(): Promise<{ flowrun: RemoteCli; projectId: string }> {
  const { projectId } = await fixture.tenant();
  const token = await newToken(fixture, [projectId]);
  return { flowrun: userWith({ FLOWRUN_URL: api.url, FLOWRUN_TOKEN: token }), projectId };
}

async function finishRun(flowrun: RemoteCli): Promise<string> {
  const runId = (await flowrun('run', 'A flow', 'Go', '--detach')).out.trim();
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  return runId;
}

const endpointsOf = (projectId: string) => fixture.stores.endpoints.list(projectId);
const secretIn = (output: string): string => /secret (\S+)/.exec(output)?.[1] ?? '';

test('forwards signed webhooks, prints their statuses, and ends without a trace', async () => {
  const { flowrun, projectId } = await newOperator();
  const receiver = await startLocalReceiver(500, 204);
  const listening = flowrun.start('listen', '--forward-to', receiver.url);
  await listening.untilErr('secret whs_');
  const secret = secretIn(listening.err());
  const first = await finishRun(flowrun);
  await listening.untilOut(`run.finished       run ${first.slice(0, 8)}  500`);
  const second = await finishRun(flowrun);
  await listening.untilOut(`run.finished       run ${second.slice(0, 8)}  204`);
  listening.signal('SIGINT');
  expect(await listening.ended).toMatchObject({ code: 0 });
  expect(await endpointsOf(projectId)).toEqual([]);

  expect(receiver.posts.map(({ path }) => path)).toEqual(['/hook', '/hook']);
  for (const post of receiver.posts) {
    const { headers, body } = post;
    expect(webhookError(post)).toBeNull();
    expect(isSignedWith(secret, post)).toBe(true);
    expect(isStandardSignedWith(secret, post)).toBe(true);
    const event = await verifyWebhook({ headers, rawBody: body }, secret);
    expect(event).toMatchObject({ type: 'run.finished', data: { projectId, status: 'sleep' } });
    expect(headers).toMatchObject({ 'x-service-attempt': '1' });
  }
});

test('forwards only the chosen events, and reports a receiver that is not there', async () => {
  const { flowrun, projectId } = await newOperator();
  const args = ['--forward-to', 'http://127.0.0.1:9/', '--event', 'run.finished', '--json'];
  const listening = flowrun.start('listen', ...args);
  await listening.untilErr('secret whs_');
  expect(await endpointsOf(projectId)).toMatchObject([{ url: null, eventTypes: ['run.finished'] }]);
  const runId = await finishRun(flowrun);
  await listening.untilOut('\n');
  listening.signal('SIGTERM');
  const { code, out } = await listening.ended;
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ event: 'run.finished', runId, status: null });
  expect(JSON.parse(out)).toMatchObject({ error: expect.stringMatching(/^E?[A-Za-z ]+$/) });
});

test('a killed command is cleaned up by the next one, which has the same secret', async () => {
  const { flowrun, projectId } = await newOperator();
  const { url } = await startLocalReceiver();
  const killed = flowrun.start('listen', '--forward-to', url);
  await killed.untilErr('secret whs_');
  killed.signal('SIGKILL');
  await killed.ended;
  const [left] = await endpointsOf(projectId);
  const next = flowrun.start('listen', '--forward-to', url);
  const beside = flowrun.start('listen', '--forward-to', url);
  for (const each of [next, beside]) await each.untilErr('secret whs_');
  expect(secretIn(next.err())).toBe(secretIn(killed.err()));
  const ids = (await endpointsOf(projectId)).map(({ endpointId }) => endpointId);
  expect(ids).toHaveLength(2);
  expect(ids).not.toContain(left?.endpointId);
  for (const each of [next, beside]) each.signal('SIGINT');
  for (const each of [next, beside]) expect(await each.ended).toMatchObject({ code: 0 });
  expect(await endpointsOf(projectId)).toEqual([]);
});

test('a killed command of another project is left to a token for it', async () => {
  const { flowrun, projectId } = await newOperator();
  const { url } = await startLocalReceiver();
  const killed = flowrun.start('listen', '--forward-to', url);
  await killed.untilErr('secret whs_');
  killed.signal('SIGKILL');
  await killed.ended;
  const { projectId: other } = await fixture.tenant();
  const ofOther = flowrun.with({ FLOWRUN_TOKEN: await newToken(fixture, [other]) });
  for (const [user, leftovers] of [
    [ofOther, 1],
    [flowrun, 0],
  ] as const) {
    const listening = user.start('listen', '--forward-to', url);
    await listening.untilErr('secret whs_');
    listening.signal('SIGINT');
    expect(await listening.ended).toMatchObject({ code: 0 });
    expect(await endpointsOf(projectId)).toHaveLength(leftovers);
  }
});

test('needs an operator token, an address and known events', async () => {
  const flowrun = userWith({ FLOWRUN_URL: api.url, FLOWRUN_KEY: 'frs_x' });
  const to = ['--forward-to', 'http://127.0.0.1:9/'];
  const cases = [
    [to, 1, 'login <url> --token'],
    [['--forward-to', 'localhost'], 2, 'such as http'],
    [[...to, '--event', 'run.lost'], 2, 'run.finished'],
  ] as const;
  for (const [args, code, message] of cases)
    expect(await flowrun('listen', ...args)).toMatchObject({
      ...{ code, err: expect.stringContaining(message) },
    });
});
