import { ApplicationFailure } from '@temporalio/activity';
import { failureTypes } from '../workflows/shared/activities.ts';

/** Benign: the activity is retried until a slot is free or the timeout ends the wait. */
export const noCapacity = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'every host is full',
    type: failureTypes.noCapacity,
    category: 'BENIGN',
  });
