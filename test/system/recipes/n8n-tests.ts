import { expect, it } from 'vitest';
import { createDeferred } from '../../../lib/async/deferred.ts';
import { codeBlockOf, fillIn } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { saying } from '../../support/prompts.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';
import { executeWorkflow } from './n8n.ts';

const page = 'docs/recipes/n8n.md';

export function n8nTests(acme: () => Acme): void {
  it('starts one run, continues with its webhook, and reads the answer', async ({
    onTestFinished,
  }) => {
    const { service, flowId, operate, api } = acme();
    const bearer = (await operate(codeBlockOf(page, 'sh'))).trim();
    const resumed = createDeferred<object>();
    let early = true;
    // n8n rejects the call while the execution has not reached its wait node.
    const n8n = await startReceiver((response, { path, body }) => {
      response.writeHead(early || path !== '/webhook-waiting/231' ? 404 : 200).end();
      if (!early) resumed.resolve(JSON.parse(body) as object);
      early = false;
    });
    onTestFinished(n8n.close);
    const file = fillIn(codeBlockOf(page, 'json'), {
      'https://flowrun.example': service.url,
      '<flow-id>': flowId,
    });
    const [, ticket = ''] = /-d '(.*)'/.exec(codeBlockOf(page, 'sh', 1)) ?? [];
    const { text, ...rest } = JSON.parse(ticket) as { text: string };
    const outputs = await executeWorkflow(file, {
      request: { ...rest, text: `${text}\n${saying('It is about paint.')}` },
      bearer,
      executionId: '231',
      resumeUrl: `${n8n.url}/webhook-waiting/231`,
      untilResumed: () => resumed.promise,
    });
    const { data } = outputs['Read the run'] as { data: Record<string, unknown> };
    expect(data).toMatchObject({ result: 'It is about paint.', finishedAt: expect.any(String) });
    expect(data).not.toHaveProperty('error');
    const runs = await api.call<{ runId: string }[]>('GET', '/runs?label=ticket:4711');
    expect(runs.data.map(({ runId }) => runId)).toEqual([data['runId']]);
    expect(n8n.posts).toHaveLength(2);
  });
}
