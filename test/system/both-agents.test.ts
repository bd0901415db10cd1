import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/service.ts';
import { collect, expectStreamStory, story, storyPrompt } from '../support/stream-story.ts';

const patiently = { timeout: 180_000 };

describe.each(['scripted', 'real'] as const)(
  'the main job, by the %s agent',
  patiently,
  (agent) => {
    let service: Service;
    beforeAll(async () => {
      service = await startService({ agent });
    }, 240_000);
    afterAll(() => service?.stop());

    it('appears on the stream as it happens, from the first word to the end', async () => {
      const run = await service.trigger({ prompt: storyPrompt() });
      expect(run).toMatchObject({ status: 'running', startedAt: null, finishedAt: null });
      await expectStreamStory(service, run.runId);
    });

    it('leaves a record with its result, usage and cost', async () => {
      const { runId } = await service.trigger({ prompt: storyPrompt(), labels: { kind: 'story' } });
      const ended = await service.untilEnded(runId);
      expect(ended).toMatchObject({
        status: 'sleep',
        agentStatus: 'idle',
        exitCode: 0,
        result: story.farewell,
        labels: { kind: 'story' },
      });
      expect(ended).not.toHaveProperty('error');
      expect(ended.usage['outputTokens']).toBeGreaterThan(0);
      expect(ended.costUsd).toBeGreaterThan(0);
      expect(ended.numTurns).toBeGreaterThan(0);
    });

    it('leaves the file that the agent wrote, byte for byte', async () => {
      const { runId } = await service.trigger({ prompt: storyPrompt() });
      await service.untilEnded(runId);
      const list = await service.call<{ path: string }[]>('GET', `/runs/${runId}/files`);
      expect(list.data).toMatchObject([
        { path: story.file, size: Buffer.byteLength(story.content), scope: 'run' },
      ]);
      const file = await service.call('GET', `/runs/${runId}/files/${story.file}`);
      expect(file.body).toBe(story.content);
    });

    it('streams token by token only if requested', async () => {
      const { runId } = await service.trigger({ prompt: storyPrompt(), partialMessages: true });
      const events = await collect(service.stream(runId));
      const deltas = events.filter(({ event }) => event === 'stream_event');
      expect(deltas.length).toBeGreaterThan(2);
      expect(deltas.every(({ id }) => id === undefined)).toBe(true);
      const text = deltas
        .map(({ data }) => /"text_delta","text":"([^"]*)"/.exec(data)?.[1])
        .join('');
      expect(text).toContain(story.greeting);
      const plain = await service.trigger({ prompt: storyPrompt() });
      const others = await collect(service.stream(plain.runId));
      expect(others.filter(({ event }) => event === 'stream_event')).toEqual([]);
    });

    it('sends the end to a reader who connects after it', async () => {
      const { runId } = await service.trigger({ prompt: storyPrompt() });
      await service.untilEnded(runId);
      const events = await collect(service.stream(runId));
      expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ reason: 'already_ended' });
      expect(events.map(({ event }) => event)).toContain('result');
    });
  },
);
