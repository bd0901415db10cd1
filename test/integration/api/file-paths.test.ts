import { expect, test } from 'vitest';
import { useRunFiles } from './run-files.ts';

const { download, downloadAsWritten } = useRunFiles();

/** Encodes only the characters that a request line cannot contain. */
const encodeWide = (path: string) => path.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent);

test('an invalid path is 400 or 404', async () => {
  const hostile = [
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e/%2e%2e/etc/passwd',
    '%2fetc%2fpasswd',
    'dir/%2e/z',
    'dir//z',
    'dir/',
    'a.txt%00',
    'dir%5cz',
    'x'.repeat(513),
    '%ed%a0%80',
    '',
  ];
  for (const path of hostile) {
    const { status, body } = await downloadAsWritten(path);
    expect([400, 404], `${path}: ${status}`).toContain(status);
    expect(JSON.parse(body)).toMatchObject({ error: { code: expect.any(String) } });
  }
  expect((await download('missing.txt')).status).toBe(404);
});

test('rejects five hundred spellings of paths outside the working directory', async () => {
  const ups = [
    '..',
    '%2e%2e',
    '.%2e',
    '%2E.',
    '%2e%2e%2f..',
    '..%5c..',
    '%c0%ae%c0%ae',
    '\uff0e\uff0e',
  ];
  const slashes = ['/', '%2f', '%5c', '//', '%2f%2f', '/./', '%252f'];
  const targets = [
    'etc/passwd',
    'a.txt',
    'proc/self/environ',
    'dir/z%00',
    '',
    '.',
    '%2e',
    'x/'.repeat(4_096),
  ];
  const paths = ups.flatMap((up) =>
    slashes.flatMap((slash) => targets.map((target) => `${up}${slash}${up}${slash}${target}`)),
  );
  const inside = slashes.flatMap((slash) =>
    targets.map((target) => `dir${slash}..${slash}${target}`),
  );
  expect(paths.length + inside.length).toBeGreaterThanOrEqual(500);
  const left = [...paths, ...inside].values();
  async function tryOn(): Promise<void> {
    for (const path of left) {
      const { status, body } = await downloadAsWritten(encodeWide(path));
      expect([400, 404, 414], `${path}: ${status}`).toContain(status);
      expect(JSON.parse(body)).toMatchObject({ error: { code: expect.any(String) } });
    }
  }
  await Promise.all(Array.from({ length: 8 }, tryOn));
});
