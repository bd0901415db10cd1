// The order of test files. System tests mostly wait, unit tests mostly compute: side by side they
// keep the processors busy, and no long file is left for the end.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

export class InterleavedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const system = sorted.filter(({ project }) => project.name === 'system');
    const others = sorted.filter(({ project }) => project.name !== 'system');
    const step = Math.max(1, Math.floor(others.length / (2 * Math.max(1, system.length))));
    return interleave(system, others, step);
  }
}

/**
 * After each element of `sparse` come `step` elements of `dense`; the rest of `dense` comes last.
 */
function interleave<T>(sparse: T[], dense: T[], step: number): T[] {
  const mixed = sparse.flatMap((one, n) => [one, ...dense.slice(n * step, (n + 1) * step)]);
  return [...mixed, ...dense.slice(sparse.length * step)];
}
