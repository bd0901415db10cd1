import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Flow } from '../../../core/flows/flow.ts';
import { makeFlow } from '../../../dev/demo/make-flow.ts';
import type { Project } from '../../../systems/postgres/accounts/project-store.ts';
import { useCliFixture } from '../cli/cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();
let output = '';
beforeEach(() => {
  output = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const projects = async () =>
  (await flowrun.json<Project[]>('project', 'list')).map(({ projectId }) => projectId);

test('a second demo reuses the project and the flow of the first', async () => {
  const first = await makeFlow(fixture.env);
  expect(output).toContain('npx flowrun project create demo');
  expect(output).not.toContain('of an earlier demo');
  output = '';
  const second = await makeFlow(fixture.env);
  expect(output).toContain('(the project and flow of an earlier demo are reused)');
  expect(second.flowId).toBe(first.flowId);
  expect(second.key).not.toBe(first.key);
  expect(await projects()).toEqual(['shop', 'demo']);
}, 60_000);

test('a flow that was changed meanwhile is not overwritten', async () => {
  const { flowId } = await makeFlow(fixture.env);
  await flowrun.json('flow', 'update', flowId, '--network', 'none');
  const next = await makeFlow(fixture.env);
  expect(next.flowId).not.toBe(flowId);
  const listed = await flowrun.json<Flow[]>('flow', 'list', '--project', 'demo');
  expect(listed).toHaveLength(2);
  expect(await projects()).toEqual(['shop', 'demo']);
}, 60_000);
