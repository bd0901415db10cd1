import { expect, test } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import type { ProjectModel } from '../../../../../systems/postgres/admission/project-model.ts';
import { projectModelSource } from '../../../../../worker/sandbox/start/project-model.ts';

function world() {
  let at = 0;
  let asked = 0;
  let answer: () => Promise<ProjectModel | null> = async () => null;
  const ask = projectModelSource(
    {
      projects: {
        readModel: () => {
          asked += 1;
          return answer();
        },
      },
      now: () => new Date(at),
    },
    'project-1',
  );
  return {
    ask,
    asked: () => asked,
    later: () => void (at += limits.projectModelTtlMs),
    answers: (given: typeof answer) => void (answer = given),
  };
}

const model = { apiKey: 'k', baseUrl: 'https://models.example.test' };

test('a project’s model is asked for anew when the last answer is old, not before', async () => {
  const { ask, asked, later, answers } = world();
  expect(await ask()).toBeNull();
  answers(async () => model);
  expect([await ask(), asked()]).toEqual([null, 1]);
  later();
  expect([await ask(), asked()]).toEqual([model, 2]);
});

test('while nobody can be asked the last answer stands; without one there is none', async () => {
  const { ask, asked, later, answers } = world();
  const away = () => Promise.reject(new Error('away'));
  answers(away);
  await expect(ask()).rejects.toThrow('away');
  answers(async () => model);
  expect(await ask()).toEqual(model);
  answers(away);
  later();
  expect([await ask(), await ask(), asked()]).toEqual([model, model, 3]);
});
