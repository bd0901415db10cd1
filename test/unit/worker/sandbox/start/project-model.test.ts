import { expect, test } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import type { ProjectModel } from '../../../../../systems/postgres/admission/project-model.ts';
import { projectModelSource } from '../../../../../worker/sandbox/start/project-model.ts';

function setUp() {
  let at = 0;
  let reads = 0;
  let answer: () => Promise<ProjectModel | null> = async () => null;
  const readModel = projectModelSource(
    {
      projects: {
        usedUpQuota: async () => null,
        readModel: () => {
          reads += 1;
          return answer();
        },
      },
      now: () => new Date(at),
    },
    'project-1',
  );
  return {
    readModel,
    reads: () => reads,
    expire: () => void (at += limits.project.modelTtlMs),
    setAnswer: (next: typeof answer) => void (answer = next),
  };
}

const model = { apiKey: 'k', baseUrl: 'https://models.example.test' };

test('a project’s model is read again once its cached value has expired, not before', async () => {
  const { readModel, reads, expire, setAnswer } = setUp();
  expect(await readModel()).toBeNull();
  setAnswer(async () => model);
  expect([await readModel(), reads()]).toEqual([null, 1]);
  expire();
  expect([await readModel(), reads()]).toEqual([model, 2]);
});

test('while the database is unavailable, the last value is used; without one the call fails', async () => {
  const { readModel, reads, expire, setAnswer } = setUp();
  const unavailable = () => Promise.reject(new Error('unavailable'));
  setAnswer(unavailable);
  await expect(readModel()).rejects.toThrow('unavailable');
  setAnswer(async () => model);
  expect(await readModel()).toEqual(model);
  setAnswer(unavailable);
  expire();
  expect([await readModel(), await readModel(), reads()]).toEqual([model, model, 3]);
});
