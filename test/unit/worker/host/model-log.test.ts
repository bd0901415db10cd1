import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { HostModel } from '../../../../core/hosts/host-model.ts';
import { createModelLog } from '../../../../worker/host/model-log.ts';
import { linesOf } from '../../../support/log-lines.ts';

/** The log lines of a host whose heartbeats have these answers. */
function linesAfter(model: HostModel, answers: boolean[]) {
  let log = '';
  const logger = pino({}, { write: (line: string) => void (log += line) });
  const logModel = createModelLog(model, logger);
  for (const offersModel of answers) logModel(offersModel);
  return linesOf(log);
}

test('logs once that the offline model answers, and once that no model does', () => {
  expect(linesAfter('offline_by_default', [true, true, false, false, true])).toMatchObject([
    { msg: 'offline_model', hint: expect.stringContaining('made-up text') },
    { msg: 'host_without_model', hint: expect.stringContaining('only runs of projects that have') },
    { msg: 'offline_model' },
  ]);
  expect(linesAfter('offline', [false])).toMatchObject([{ msg: 'host_without_model' }]);
});

test('logs nothing on a host with a key', () => {
  expect(linesAfter('key', [true, true])).toEqual([]);
});
