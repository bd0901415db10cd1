// An agent that attacks the service by the contents of its working directory. The service reads it
// from the host, as root, where links made inside the sandbox must not be followed.

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { createFlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';

let service: Service;
/**
 * A folder on the host, outside every sandbox. A host that followed the agent's links would read
 * it.
 */
let outside: string;
beforeAll(async () => {
  outside = mkdtempSync(join(tmpdir(), 'outside-'));
  writeFileSync(join(outside, 'f'), 'secret of the host');
  service = await startService();
}, 240_000);
afterAll(async () => {
  await service?.stop();
  rmSync(outside, { recursive: true, force: true });
});

const patiently = { timeout: 240_000 };

/** A run whose agent has executed these commands and waits for the file `go-on`. */
async function runThatDid(...commands: string[]): Promise<string> {
  const steps = [...commands.map((shell) => ({ shell })), { say: 'all set' }];
  const { runId } = await service.trigger({
    prompt: script([...steps, { waitForFile: 'go-on' }, { say: 'bye' }]),
    files: [{ path: '.flowignore', content: '*\n!.flowignore\n', encoding: 'utf8' }],
  });
  await expect
    .poll(async () => (await service.call('GET', `/runs/${runId}/logs`)).body, { timeout: 90_000 })
    .toMatchObject({ data: { content: expect.stringContaining('all set') } });
  return runId;
}

const inject = (runId: string, path: string, content = 'given') =>
  service.call('POST', `/runs/${runId}/files`, {
    body: { files: [{ path, content, encoding: 'utf8' }] },
  });

async function endWell(runId: string): Promise<void> {
  expect((await inject(runId, 'go-on')).status).toBe(200);
  expect(await service.untilEnded(runId, 120_000)).toMatchObject({ exitCode: 0, result: 'bye' });
}

async function download(runId: string, path: string) {
  const response = await fetch(`${service.url}/api/v1/runs/${runId}/files/${path}`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

const statusOf = async (runId: string, path: string): Promise<number> =>
  (await download(runId, path)).response.status;

const expectOutsideUntouched = (): void => {
  expect(readdirSync(outside)).toEqual(['f']);
  expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('secret of the host');
};

describe('a hostile working directory', patiently, () => {
  it('exposes nothing by links, hard links, pipes and devices, and blocks no request', async () => {
    const runId = await runThatDid(
      `ln -s ${outside}/f link; ln -s ${outside} folder; ln -s /etc/passwd passwd; ln -s . loop`,
      'ln -s /dev/zero zero; ln -s /proc/self/environ environ; ln -s /proc/1/root proc-root',
      'echo own > one; ln one two; echo fine > plain; mkdir sub',
      'for i in $(seq 16); do mkfifo pipe$i; done; truncate -s 600M sparse',
    );
    const pipes = Array.from({ length: 16 }, (_, n) => `pipe${n + 1}`);
    const tricks = ['link', 'folder/f', 'folder', 'passwd', 'zero', 'environ', 'sub'];
    const deeper = ['loop/plain', 'proc-root/etc/passwd', 'plain/x', 'none'];
    const began = performance.now();
    const [statuses, health] = await Promise.all([
      Promise.all([...pipes, ...tricks, ...deeper].map((path) => statusOf(runId, path))),
      fetch(`${service.url}/healthz`).then(({ status }) => status),
    ]);
    expect([...new Set(statuses)]).toEqual([404]);
    expect(health).toBe(200);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect((await download(runId, 'plain')).bytes.toString()).toBe('fine\n');
    for (const name of ['one', 'two'])
      expect((await download(runId, name)).bytes.toString()).toBe('own\n');

    const giant = await service.call('GET', `/runs/${runId}/files/sparse`);
    expect(giant).toMatchObject({
      status: 400,
      body: { error: { limit: limits.snapshot.maxBytes, current: 600 * 1024 ** 2 } },
    });

    expect((await inject(runId, 'folder/f')).status).toBe(400);
    expect((await inject(runId, 'folder/new')).status).toBe(400);
    expect((await inject(runId, 'proc-root/tmp/new')).status).toBe(400);
    expect((await inject(runId, 'plain/new')).status).toBe(400);
    expect((await inject(runId, 'sub')).status).toBe(400);
    for (const path of ['link', 'pipe1', 'passwd', '.claude/settings.json']) {
      expect((await inject(runId, path)).status, path).toBe(200);
      expect((await download(runId, path)).bytes.toString(), path).toBe('given');
    }
    for (const path of ['.git/hooks/pre-commit', '.git', '../x', '/etc/x']) {
      expect((await inject(runId, path)).status, path).toBe(400);
    }
    await endWell(runId);
    const { data } = await service.call<{ path: string }[]>('GET', `/runs/${runId}/files`);
    const paths = data.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['plain', 'one', 'two']));
    expect(paths.filter((path) => path.includes('/') && !path.startsWith('.claude'))).toEqual([]);
    for (const path of ['folder', 'zero', 'sparse', 'pipe2']) {
      expect(paths).not.toContain(path);
    }
    expectOutsideUntouched();
  });

  it('neither exposes nor changes an outside file while its names are swapped constantly', async () => {
    // Occasional pauses, so that some requests fall between two swaps.
    const swap = `mkdir d; echo inside > d/f; sleep 0.0$((i % 3)); rm -r d; ln -s ${outside} d; rm d; i=$((i + 1))`;
    const runId = await runThatDid(`(while :; do ${swap}; done) >/dev/null 2>&1 &`);
    const seen = { read: 0, missing: 0, written: 0, refused: 0 };
    const startedAtMs = performance.now();
    const isOver = (): boolean => {
      const lasted = performance.now() - startedAtMs;
      return lasted > 60_000 || (lasted > 8_000 && Math.min(...Object.values(seen)) > 0);
    };
    async function keepReading(): Promise<void> {
      while (!isOver()) {
        const { response, bytes } = await download(runId, 'd/f');
        expect(bytes.toString()).not.toContain('secret of the host');
        expect(response.status).toBeOneOf([200, 404]);
        // A file overwritten during a read may be truncated, never mixed with outside data.
        const isOwn = ['inside\n', 'given'].some((own) => own.startsWith(bytes.toString()));
        if (response.status === 200) expect(isOwn, bytes.toString()).toBe(true);
        seen[response.status === 200 ? 'read' : 'missing'] += 1;
      }
    }
    async function keepWriting(): Promise<void> {
      while (!isOver()) {
        const { status } = await inject(runId, 'd/f');
        expect(status).toBeOneOf([200, 400]);
        seen[status === 200 ? 'written' : 'refused'] += 1;
      }
    }
    await Promise.all([keepReading(), keepReading(), keepReading(), keepWriting(), keepWriting()]);
    for (const count of Object.values(seen)) expect(count, JSON.stringify(seen)).toBeGreaterThan(0);
    expectOutsideUntouched();
    await endWell(runId);
  });

  it('is shown as a tree of limited size and depth, without links and large folders', async () => {
    const [nodesMax, levelsMax] = [5_000, 20];
    const deep = `p=.; for n in $(seq ${levelsMax + 2}); do p=$p/d; mkdir $p; touch $p/f; done`;
    const heavy =
      'mkdir .git node_modules d/node_modules; touch .git/x node_modules/x d/node_modules/x';
    const links = `ln -s ${outside} folder; ln -s . loop; ln -s d/f link`;
    const broad = `mkdir broad; cd broad; seq ${nodesMax} | xargs touch`;
    const [one, other] = await Promise.all([runThatDid(deep, heavy, links), runThatDid(broad)]);
    await Promise.all([endWell(one), endWell(other)]);
    const levels = Array.from({ length: levelsMax - 1 }, (_, n) => 'd/'.repeat(n + 1));
    const shown = levels.flatMap((level) => [level.slice(0, -1), `${level}f`]);
    expect(await treeOf(one)).toEqual(['.flowignore', 'go-on', ...shown].sort());
    const most = await treeOf(other);
    expect(most).toHaveLength(nodesMax);
    expect(most).toContain('go-on');
  });

  it('never sends a file that is mixed from two', async () => {
    const grow = 'head -c 300000 /dev/zero > f; head -c 900000 /dev/urandom >> f; truncate -s 5 f';
    const runId = await runThatDid(`(while :; do ${grow}; done) >/dev/null 2>&1 &`, 'sleep 1');
    const sizes = new Set<number>();
    for (let n = 0; n < 30; n += 1) {
      const { response, bytes } = await download(runId, 'f');
      expect(response.status).toBeOneOf([200, 503]);
      if (response.status !== 200) continue;
      expect(response.headers.get('content-length')).toBe(String(bytes.length));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(response.headers.get('etag')).toBe(`"${sha256}"`);
      sizes.add(bytes.length);
    }
    expect(sizes.size).toBeGreaterThan(1);
    await endWell(runId);
  });
});

interface TreeNode {
  path: string;
  children?: TreeNode[];
}

/** The paths in the tree that the stream of a run shows. */
async function treeOf(runId: string): Promise<string[]> {
  const shown = (await collect(service.stream(runId))).filter(({ event }) => event === 'filetree');
  const nodes = JSON.parse(shown.at(-1)?.data ?? '[]') as TreeNode[]; // as the interface has it
  const pathsOf = ({ path, children = [] }: TreeNode): string[] => [
    path,
    ...children.flatMap(pathsOf),
  ];
  return nodes.flatMap(pathsOf).sort();
}

describe('runs that share the files of a flow', patiently, () => {
  it('each get one complete version of them while others change them', async () => {
    const pair = (n: number) => {
      const content = Buffer.alloc(200_000, `${n};`).toString();
      return ['x', 'y'].map((path) => ({ path, content, encoding: 'utf8' }));
    };
    const { pool } = service.database;
    const flows = createFlowStore(pool, createSealer(service.encryptionKey));
    const { flowId } = await flows.create({ projectId: service.projectId, name: 'Shared' });
    const look = script([{ shell: 'cmp x y && wc -c < x && head -c 1 x' }, { say: 'looked' }]);
    const start = (files: object[]) =>
      service.call<{ runId: string }>('POST', `/flows/${flowId}/runs`, {
        body: { prompt: look, files },
      });
    const first = await start(pair(0));
    expect(first.status).toBe(201);
    const triggered = await Promise.all([1, 2, 3, 4].flatMap((n) => [start(pair(n)), start([])]));
    expect(triggered.flatMap(({ status, body }) => (status === 201 ? [] : [body]))).toEqual([]);
    for (const { data } of triggered) {
      await service.untilEnded(data.runId, 120_000);
      const logs = await service.call<{ content: string }>('GET', `/runs/${data.runId}/logs`);
      expect(logs.data.content).toContain('200000');
      expect(logs.data.content).not.toContain('differ');
    }
  });
});
