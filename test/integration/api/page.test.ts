// How the API serves the web page.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();
const html = { headers: { accept: 'text/html' } };
const index = async (url: string) => (await fetch(url, html)).text();
const filesIn = (text: string): string[] =>
  [...text.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, file = '']) => file);

describe('the page', () => {
  test('is at the path of each screen, and at no other', async () => {
    const first = await index(`${api.url}/`);
    expect(first).toContain('<div id="page">');
    for (const path of ['/sign-in', '/p/acme', '/p/acme/runs/1', '/p/acme/runs?label=a:b']) {
      expect(await index(api.url + path)).toBe(first);
    }
    for (const path of ['/p', '/p/acme/other', '/p/acme/runs/1/2', '/assets', '/index.html']) {
      expect((await fetch(api.url + path, html)).status).toBe(404);
    }
    expect((await fetch(`${api.url}/p/acme/runs`, { method: 'POST' })).status).toBe(405);
  });

  test('can load nothing from elsewhere, and its first document is not kept', async () => {
    const { headers } = await fetch(`${api.url}/`, html);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toMatch(/https?:|unsafe|\*/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('vary')).toContain('Accept');
  });

  test('has files that browsers keep, in the smallest form that the browser takes', async () => {
    const files = filesIn(await index(`${api.url}/`));
    expect(files).toHaveLength(3);
    for (const file of files) {
      const get = (accepted: string) =>
        request(`${api.url}/${file}`, { headers: { 'accept-encoding': accepted } });
      const bytesOf = async (accepted: string) =>
        Buffer.from(await (await get(accepted)).body.arrayBuffer());
      const plain = await bytesOf('identity');
      expect(brotliDecompressSync(await bytesOf('gzip, br'))).toEqual(plain);
      expect(gunzipSync(await bytesOf('gzip, br;q=0'))).toEqual(plain);
      const { headers, body } = await get('br');
      await body.dump();
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-encoding': 'br',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      });
    }
    for (const file of ['index.html', 'main.js', '..%2fpackage.json', 'main.js.br'])
      expect((await fetch(`${api.url}/assets/${file}`)).status).toBe(404);
  });

  test('has the path of the public URL, and its settings as text', async () => {
    const { url } = await fixture.start({
      publicUrl: 'https://example.test/flows',
      temporalUiUrl: 'http://127.0.0.1:8233/"><script>',
      offlineModel: true,
    });
    const text = await index(`${url}/p/acme/runs`);
    expect(text).toContain('<base href="/flows/">');
    expect(text).toContain('&quot;offlineModel&quot;:true');
    expect(text).not.toContain('"><script>');
  });
});

describe('the size of the page, compressed by gzip', () => {
  const folder = join(repository, 'dist/page');
  const sizeOf = (names: string[]): number =>
    names.reduce((sum, name) => sum + statSync(join(folder, `${name}.gz`)).size, 0);

  test('is at most 25 kB for the runs, and 150 kB for all screens', async () => {
    const first = await index(`${api.url}/`);
    const loaded = filesIn(first).map((file) => file.replace('assets/', ''));
    const main = loaded.find((name) => name.endsWith('.js')) ?? '';
    const code = await (await fetch(`${api.url}/assets/${main}`)).text();
    const shared = [...code.matchAll(/from"\.\/([^"]+)"|import"\.\/([^"]+)"/g)];
    const shell = [...loaded, ...shared.map(([, from, bare]) => from ?? bare ?? '')];
    expect(shell.length).toBeGreaterThan(loaded.length);
    expect(sizeOf(shell)).toBeLessThan(25_000);
    const all = readdirSync(folder).filter((name) => /\.(?:js|css|svg)$/.test(name));
    expect(sizeOf(all)).toBeLessThan(150_000);
  });
});
