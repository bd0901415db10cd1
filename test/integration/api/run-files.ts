import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { Readable } from 'node:stream';
import { beforeAll, expect } from 'vitest';
import { snapshotOf } from '../../support/snapshot-of.ts';
import { useTenant } from './use-api.ts';

export const contents: Record<string, Buffer> = {
  'a.txt': Buffer.from('0123456789'),
  empty: Buffer.alloc(0),
  'big.bin': Buffer.alloc(2_500_000, 'abcdefg'),
  'dir/ünï "x"; y.html': Buffer.from('<script>alert(1)</script>'),
  'dir/z': Buffer.from('z'),
};

export const modifiedAt = new Date('2026-11-02T03:04:05.678Z');

export const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** A run with these files, and functions that request them. */
export function useRunFiles() {
  const { fixture, api, tenant, call } = useTenant();
  let files = '';

  beforeAll(async () => {
    const made = await call(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go' } });
    const { runId } = made.json.data;
    files = `/api/v1/runs/${runId}/files`;
    expect((await call(files)).json).toEqual({ data: [] });
    await fixture.stores.files.replaceSnapshot(
      { runId, generation: 1 },
      snapshotOf(await Promise.all(Object.keys(contents).map(store))),
    );
  });

  async function store(path: string) {
    const content = contents[path] ?? Buffer.alloc(0);
    const blob = { sha256: digestOf(content), size: content.length };
    await fixture.stores.blobs.put(Readable.from([content]), blob);
    return {
      ...blob,
      path,
      mode: 0o644,
      scope: path === 'a.txt' ? ('flow' as const) : ('run' as const),
      modifiedAt,
    };
  }

  const download = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${api.url}${files}/${path}`, {
      method,
      headers: { authorization: `Bearer ${tenant.key}`, ...headers },
    });

  /** A download without the path normalization of other clients. */
  function downloadAsWritten(path: string): Promise<{ status: number; body: string }> {
    const { hostname, port } = new URL(api.url);
    const headers = { authorization: `Bearer ${tenant.key}` };
    return new Promise((resolve, reject) => {
      get({ hostname, port, path: `${files}/${path}`, headers, agent: false }, (response) => {
        const status = response.statusCode ?? 0;
        response.toArray().then((parts) => resolve({ status, body: parts.join('') }), reject);
      }).on('error', reject);
    });
  }

  return { fixture, api, tenant, call, files: () => files, download, downloadAsWritten };
}
