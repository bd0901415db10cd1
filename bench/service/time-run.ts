import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import { agentWords } from './agent-words.ts';
import type { BenchService } from './bench-service.ts';
import { isEvent, isFrame, openStream } from './stream.ts';

/** Starts a run of the real agent and reads its stream to the end. Milliseconds since the POST. */
export async function timeRun(
  service: BenchService,
): Promise<{ answeredMs: number; firstFrameMs: number; firstTextMs: number }> {
  const words = agentWords();
  const postedAt = machineMs();
  const { runId } = await service.trigger({ prompt: words.prompt });
  const answeredAt = machineMs();
  const stream = await openStream(service, runId);
  const text = await stream.until(words.isTextEvent);
  const frame = await stream.until(isFrame);
  await stream.until((event) => isEvent(event, 'finished'));
  stream.close();
  return {
    answeredMs: answeredAt - postedAt,
    firstFrameMs: frame.at - postedAt,
    firstTextMs: text.at - postedAt,
  };
}
