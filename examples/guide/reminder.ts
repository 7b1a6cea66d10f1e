import { defineTask } from '@sluice/sdk';

export const remind = defineTask({
  type: 'remind',
  run: (input: { user: string }) => `sent to ${input.user}`,
});
