// breaks: nothing
import { limits } from './limits.ts';

export const pings = limits.streamPingMs;
