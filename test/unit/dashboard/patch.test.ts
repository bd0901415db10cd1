import { expect, test } from 'vitest';
import { hunksByFile } from '../../../dashboard/run/patch.ts';

const patch = `diff --git a/a b.txt b/a b.txt
index 1..2 100644
--- a/a b.txt\t
+++ b/a b.txt\t
@@ -1,2 +1,3 @@
 one
+--- two
 three
@@ -9 +10 @@
-old
+new
\\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/image.png b/image.png
Binary files a/image.png and b/image.png differ
`;

test('a patch is split into the changed parts of each file', () => {
  const files = hunksByFile(patch);
  expect([...files.keys()]).toEqual(['a b.txt', 'gone']);
  expect(files.get('a b.txt')).toEqual([
    { oldStart: 1, newStart: 1, lines: [' one', '+--- two', ' three'] },
    { oldStart: 9, newStart: 10, lines: ['-old', '+new', '\\ No newline at end of file'] },
  ]);
  expect(files.get('gone')).toEqual([{ oldStart: 1, newStart: 0, lines: ['-gone'] }]);
  expect(hunksByFile('').size).toBe(0);
});
