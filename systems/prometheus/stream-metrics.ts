import { Counter, Gauge, type Registry } from 'prom-client';

/** What readers hold open; nothing is counted at a frame. */
export function createStreamMetrics(registry: Registry) {
  const registers = [registry];
  const open = new Gauge({
    name: 'flowrun_streams_open',
    help: 'Streams that this process serves now.',
    registers,
  });
  const opened = new Counter({
    name: 'flowrun_streams_opened_total',
    help: 'Streams that were opened.',
    registers,
  });
  return {
    streamOpened(): void {
      open.inc();
      opened.inc();
    },
    streamClosed: (): void => open.dec(),
  };
}
