import { Counter, Histogram, type Registry } from 'prom-client';
import { callSeconds } from './buckets.ts';

/** Told of a batch at a time, never of a frame. */
export function createFrameMetrics(registry: Registry) {
  const registers = [registry];
  const frames = new Counter({
    name: 'flowrun_frames_total',
    help: 'Frames that were stored.',
    registers,
  });
  const bytes = new Counter({
    name: 'flowrun_output_bytes_total',
    help: 'Output of agents that was read to be stored.',
    registers,
  });
  const commits = new Histogram({
    name: 'flowrun_frame_commit_seconds',
    help: 'How long a batch of frames took to be stored.',
    buckets: callSeconds,
    registers,
  });
  return {
    batchStored(batch: { frames: number; bytes: number; tookMs: number }): void {
      frames.inc(batch.frames);
      bytes.inc(batch.bytes);
      commits.observe(batch.tookMs / 1_000);
    },
  };
}
