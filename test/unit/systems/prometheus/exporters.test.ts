import { describe, expect, test } from 'vitest';
import { freePort } from '../../../../dev/stack/ports.ts';
import { createRequestMetrics } from '../../../../systems/prometheus/api-metrics.ts';
import { exportFleet, type FleetNumbers } from '../../../../systems/prometheus/fleet-metrics.ts';
import {
  type DiskSpace,
  exportPostgresDisk,
} from '../../../../systems/prometheus/postgres-metrics.ts';
import {
  createLogMetrics,
  createRegistry,
  exportDependencies,
} from '../../../../systems/prometheus/process-metrics.ts';
import { exportRedisMemory } from '../../../../systems/prometheus/redis-metrics.ts';
import { serveMetrics } from '../../../../systems/prometheus/server.ts';

const numbers: FleetNumbers = {
  runs: { waiting: 1, starting: 2, running: 3, awake: 4, asleep: 5 },
  oldestRunSeconds: 6.5,
  messages: 7,
  oldestMessageSeconds: 8,
  webhooks: 9,
  oldestWebhookSeconds: 10,
  events: 23,
  oldestEventSeconds: 24,
  hosts: { live: 11, draining: 12, disk_short: 18, stale: 13 },
  slots: { free: 14, occupied: 15 },
  projectsAtCap: 16,
  storedBytes: { files: 18, transcripts: 19, logs: 20, messages: 22 },
  projectsAtStorageQuota: 21,
  spentBudgets: { 80: 25, 100: 26 },
  missingWorkflows: 17,
};

async function exported(registry: { metrics: () => Promise<string> }): Promise<string[]> {
  const text = await registry.metrics();
  const lines = text.split('\n').filter((line) => line.startsWith('flowrun_'));
  return lines.sort();
}

describe('the fleet metrics', () => {
  test('are read once per scrape', async () => {
    const registry = createRegistry();
    let reads = 0;
    exportFleet(registry, async () => {
      reads += 1;
      return { ...numbers, projectsAtCap: reads };
    });
    expect(await exported(registry)).toContain('flowrun_projects_at_cap 1');
    const lines = await exported(registry);
    expect(reads).toBe(2);
    expect(lines).toContain('flowrun_projects_at_cap 2');
    expect(lines).toContain('flowrun_runs{state="starting"} 2');
    expect(lines).toContain('flowrun_monthly_budgets_spent{percent="100"} 26');
    expect(lines).toContain('flowrun_run_oldest_wait_seconds 6.5');
  });

  test('are absent while they cannot be read', async () => {
    const registry = createRegistry();
    let isKnown = true;
    exportFleet(registry, () => (isKnown ? Promise.resolve(numbers) : Promise.reject(new Error())));
    expect(await exported(registry)).not.toEqual([]);
    isKnown = false;
    expect(await exported(registry)).toEqual([]);
  });
});

test('the memory of Redis is absent while unknown, and its limit if it has none', async () => {
  const registry = createRegistry();
  const policy = 'noeviction';
  const answers = [
    async () => ({ usedBytes: 5, limitBytes: 9, policy }),
    async () => ({ usedBytes: 6, limitBytes: null, policy }),
    () => Promise.reject(new Error('unavailable')),
    async () => null,
  ];
  exportRedisMemory(registry, () => (answers.shift() ?? (async () => null))());
  expect(await exported(registry)).toEqual([
    'flowrun_redis_memory_bytes{state="limit"} 9',
    'flowrun_redis_memory_bytes{state="used"} 5',
  ]);
  expect(await exported(registry)).toEqual(['flowrun_redis_memory_bytes{state="used"} 6']);
  expect(await exported(registry)).toEqual([]);
  expect(await exported(registry)).toEqual([]);
});

test('the disk of Postgres is absent while it is unknown', async () => {
  const registry = createRegistry();
  let space: DiskSpace | null = { freeBytes: 5, reserveBytes: 2 };
  exportPostgresDisk(registry, () => space);
  expect(await exported(registry)).toEqual([
    'flowrun_postgres_disk_bytes{state="free"} 5',
    'flowrun_postgres_disk_bytes{state="reserve"} 2',
  ]);
  space = null;
  expect(await exported(registry)).toEqual([]);
});

test('a dependency that fails or hangs is down and does not delay the scrape', async () => {
  const registry = createRegistry();
  const checks = {
    good: async () => 1,
    bad: () => Promise.reject(new Error('unavailable')),
    silent: () => new Promise(() => undefined),
  };
  exportDependencies(registry, checks, 20);
  expect(await exported(registry)).toEqual([
    'flowrun_dependency_up{dependency="bad"} 0',
    'flowrun_dependency_up{dependency="good"} 1',
    'flowrun_dependency_up{dependency="silent"} 0',
  ]);
});

test('a log line that is not an event counts as other', async () => {
  const registry = createRegistry();
  const { lineWritten } = createLogMetrics(registry);
  lineWritten('info', 'run_admitted');
  lineWritten('warn', 'Poll failed on s-12ab34');
  lineWritten('warn', 'run_3f2504e0');
  const lines = await exported(registry);
  expect(lines).toContain('flowrun_log_lines_total{level="info",event="run_admitted"} 1');
  expect(lines).toContain('flowrun_log_lines_total{level="warn",event="other"} 2');
});

test('an unknown path counts as route none, and a stream has no duration', async () => {
  const registry = createRegistry();
  const { answered } = createRequestMetrics(registry, ['NOT_FOUND']);
  const stream = { method: 'GET', status: 200, code: null, seconds: null };
  answered({ ...stream, route: null, status: 404, code: 'NOT_FOUND' });
  answered({ ...stream, route: '/runs/:runId/stream' });
  const lines = await exported(registry);
  expect(lines).toContain('flowrun_http_requests_total{method="GET",route="none",status="4xx"} 1');
  expect(lines).toContain('flowrun_http_errors_total{code="NOT_FOUND"} 1');
  expect(lines.filter((line) => line.includes('duration_seconds'))).toEqual([]);
});

describe('the metrics server', () => {
  test('serves only /metrics, and nothing after its close', async () => {
    const port = await freePort();
    const served = await serveMetrics(createRegistry(), { host: '127.0.0.1', port });
    const url = `http://127.0.0.1:${port}`;
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toContain('process_cpu_seconds_total');
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(404);
    await served.close();
    await expect(fetch(`${url}/metrics`)).rejects.toThrow('fetch failed');
  });

  test('fails to start on a port in use', async () => {
    const at = { host: '127.0.0.1', port: await freePort() };
    const served = await serveMetrics(createRegistry(), at);
    await expect(serveMetrics(createRegistry(), at)).rejects.toThrow('EADDRINUSE');
    await served.close();
  });
});
