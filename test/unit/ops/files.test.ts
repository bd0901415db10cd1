// Checks the files in ops/ without Prometheus and Grafana. test/system/metrics.test.ts checks that
// every metric exists, and test/integration/ops/alerts.test.ts runs the cases of the alerts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

const read = (file: string): string => readFileSync(join(repository, file), 'utf8');

interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { type: string; uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string; datasource?: { uid: string } }[];
}
interface Board {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string }[] };
}

describe('the alert rules', () => {
  const alerts = [...read('ops/prometheus/alerts.yml').matchAll(/- alert: Flowrun(\w+)/g)].map(
    ([, name]) => name,
  );

  it('each have cases that fire, that are too early, and that are not beyond the threshold', () => {
    const [, none = '', ...each] = read('ops/prometheus/alerts.test.yml').split('\n  - name: ');
    const silent = /- \{ alertname: Flowrun(\w+), eval_time: \w+, exp_alerts: \[\] \}/g;
    const firing = /- alertname: Flowrun(\w+)\n +eval_time: .+\n +exp_alerts:\n +- exp_labels/g;
    const beyond = each.join('\n');
    for (const [cases, pattern] of [
      [none, silent],
      [beyond, silent],
      [beyond, firing],
    ] as const) {
      expect([...cases.matchAll(pattern)].map(([, name]) => name)).toEqual(alerts);
    }
  });

  it('each have a row in docs/monitoring.md', () => {
    const [, table = ''] = read('docs/monitoring.md').split('## When an alert fires');
    const rows = table.split('\n## ')[0]?.matchAll(/^\| ([A-Z]\w+(?:, \w+)*) \|/gm) ?? [];
    const named = [...rows].flatMap(([, names = '']) => names.split(', '));
    expect(named.toSorted()).toEqual(alerts.toSorted());
  });
});

describe('the dashboard', () => {
  const { panels, templating } = JSON.parse(read('ops/grafana/flowrun.json')) as Board;
  const drawn = panels.filter(({ type }) => type !== 'row');

  it('uses one data source variable in every panel', () => {
    const [source] = templating.list;
    expect(source).toMatchObject({ name: 'source', type: 'datasource', query: 'prometheus' });
    const uids = drawn.flatMap(({ datasource, targets = [] }) => [
      datasource?.uid,
      ...targets.map((target) => target.datasource?.uid),
    ]);
    expect(new Set(uids)).toEqual(new Set(['${source}']));
  });

  it('has unique panel IDs, each with queries', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, targets = [] } of drawn) {
      expect(targets.length, title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    }
  });

  it('has no overlapping panels and none beyond 24 columns', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});
