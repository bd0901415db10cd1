import { expect, test } from 'vitest';
import { findPage, pagePath } from '../../../../core/page/page-paths.ts';

const runId = 'b1f7f3e2-3f5e-4a39-8e5f-5b1f7f3e2a10';

test('a path has the page and the parameters that it was made of', () => {
  const params = { projectId: 'a b/ä', runId };
  const path = pagePath('run', params);
  expect(path).toBe(`/p/a%20b%2F%C3%A4/runs/${runId}`);
  expect(findPage(path)).toEqual({ name: 'run', params });
  expect(findPage('/')).toEqual({ name: 'start', params: {} });
});

test.each([
  ...['/p', '/p//runs', '/p/%E0%A4%A/runs', `/p/acme/runs/${runId}/2`, '/other'],
  '/p/acme/runs/..%2F..%2F..%2Fme',
  `/p/acme/chat/..%2Fflows%2F${runId}`,
  `/p/acme/runs/${runId}%23`,
])('no page is at %s', (path) => {
  expect(findPage(path)).toBeNull();
});
