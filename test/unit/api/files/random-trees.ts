// Pairs of working directories.

import fc from 'fast-check';
import { isAcceptedByGit } from '../../../../api/files/patch/quoted-path.ts';
import { checkFilePath } from '../../../../core/files/file-path.ts';
import { limits } from '../../../../core/limits.ts';

export interface File {
  content: Buffer;
  mode: number;
}
export type Tree = Map<string, File>;

const line = fc.constantFrom(
  'a',
  'b',
  'c',
  '',
  '\r',
  'a\r',
  ' ',
  '\t-',
  '+x',
  '@@ -1 +1 @@',
  'é',
  '\\ No',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', ''))
  .map(([lines, end]) => Buffer.from(lines.join('\n') + end));
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
  fc.constantFrom(0, 51, 52, 53, 104).map((size) => Buffer.alloc(size, 0xff)),
  fc.integer({ min: 1, max: 9 }).map((each) => Buffer.alloc(limits.blob.chunkBytes + each, each)),
);
const file: fc.Arbitrary<File> = fc.record({
  content: fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: bytes }),
  mode: fc.constantFrom(0o644, 0o755, 0o600, 0o700),
});
const segment = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('a', 'b', 'c', 'd e', 'f"', 'ü', 'x\n', '-'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }) },
);
const path = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .map((segments) => segments.join('/'))
  .filter((each) => checkFilePath(each).ok && isAcceptedByGit(each));

/** A tree in which no file is a folder of another. */
const treeOf = (files: [string, File][]): Tree => {
  const all = new Map(files);
  return new Map(
    [...all].filter(([one]) => ![...all.keys()].some((each) => each.startsWith(`${one}/`))),
  );
};
const someFiles = fc.array(fc.tuple(path, file), { maxLength: 6 });

/** The second tree has some files of the first, unchanged, edited or with another mode. */
export const trees = fc
  .tuple(
    someFiles,
    someFiles,
    fc.array(fc.tuple(fc.nat(5), fc.nat(400), line, fc.nat(3)), { maxLength: 5 }),
  )
  .map(([first, second, edits]): [Tree, Tree] => {
    const from = treeOf(first);
    const kept = [...from].map(([each, { content, mode }], nth): [string, File][] => {
      const edit = edits.find(([index]) => index === nth);
      if (edit === undefined) return [[each, { content, mode }]];
      const [, position, inserted, kind] = edit;
      if (kind === 0) return [];
      if (kind === 1) return [[each, { content, mode: mode ^ 0o111 }]];
      const at = position % (content.length + 1);
      const changed = [
        content.subarray(0, at),
        Buffer.from(`${inserted}\n`),
        content.subarray(at + 3),
      ];
      return [[each, { content: Buffer.concat(changed), mode }]];
    });
    return [from, treeOf([...kept.flat(), ...second])];
  });
