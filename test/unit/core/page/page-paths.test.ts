import { expect, test } from 'vitest';
import { findPage, pagePath } from '../../../../core/page/page-paths.ts';

test('a path has the page and the parameters that it was made of', () => {
  const params = { projectId: 'a b/ä', runId: '1' };
  const path = pagePath('run', params);
  expect(path).toBe('/p/a%20b%2F%C3%A4/runs/1');
  expect(findPage(path)).toEqual({ name: 'run', params });
  expect(findPage('/')).toEqual({ name: 'start', params: {} });
});

test.each(['/p', '/p//runs', '/p/%E0%A4%A/runs', '/p/acme/runs/1/2', '/other'])(
  'no page is at %s',
  (path) => {
    expect(findPage(path)).toBeNull();
  },
);
