// The order of test files. System tests mostly wait, integration tests mostly compute: side by side
// they keep the processors busy. Unit tests come last, because their files are short.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

export class InterleavedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const units = sorted.filter(({ project }) => project.name === 'unit');
    const others = sorted.filter(({ project }) => project.name !== 'unit');
    const system = others.filter(isSystemTest);
    const parts = others.filter((file) => !isSystemTest(file));
    const step = Math.max(1, Math.floor(parts.length / Math.max(1, system.length)));
    return [...interleave(system, parts, step), ...units];
  }
}

const isSystemTest = ({ moduleId }: TestSpecification): boolean =>
  moduleId.includes('/test/system/');

/**
 * After each element of `sparse` come `step` elements of `dense`; the rest of `dense` comes last.
 */
function interleave<T>(sparse: T[], dense: T[], step: number): T[] {
  const mixed = sparse.flatMap((one, n) => [one, ...dense.slice(n * step, (n + 1) * step)]);
  return [...mixed, ...dense.slice(sparse.length * step)];
}
