import { ApplicationFailure } from '@temporalio/activity';
import { failureTypes } from '../workflows/shared/activities.ts';

/** No fault of anybody's: it is asked again until there is a place, or the waiting is over. */
export const noCapacity = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'every host is full',
    type: failureTypes.noCapacity,
    category: 'BENIGN',
  });
