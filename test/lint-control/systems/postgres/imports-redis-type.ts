// breaks: eslint(no-restricted-imports)
import type { FrameStream } from '../redis/frame-stream.ts';

export type Stream = FrameStream;
